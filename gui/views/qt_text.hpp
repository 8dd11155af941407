// Text of the engine as Qt strings and as HTML.
#pragma once

#include <QString>
#include <QStringList>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::gui {

// UTF-8 to Qt's strings.
inline QString text(std::string_view utf8) {
    return QString::fromUtf8(utf8.data(), static_cast<qsizetype>(utf8.size()));
}

// The same with <, >, & and quotes escaped, for rich text.
inline QString html(std::string_view utf8) {
    return text(utf8).toHtmlEscaped();
}

inline QStringList texts(const std::vector<std::string>& list) {
    QStringList all;
    for (const std::string& one : list) {
        all << text(one);
    }
    return all;
}

} // namespace eyeroof::gui
