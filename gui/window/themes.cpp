#include "gui/window/themes.hpp"

#include "gui/views/paint_scene.hpp"

#include <QApplication>
#include <QPalette>
#include <QStyle>
#include <QWidget>

namespace eyeroof::gui {

namespace {

QPalette dark_palette() {
    // fields and pressed buttons have no outlines in the dark: they must differ by their fill
    QPalette palette(QColor(66, 71, 83), QColor(30, 33, 39));
    palette.setColor(QPalette::Base, QColor(42, 46, 55));
    palette.setColor(QPalette::AlternateBase, QColor(47, 51, 61));
    palette.setColor(QPalette::Highlight, QColor(0, 114, 178));
    palette.setColor(QPalette::Link, QColor(102, 178, 255));
    palette.setColor(QPalette::ToolTipBase, QColor(40, 44, 53));
    palette.setColor(QPalette::ToolTipText, QColor(232, 234, 238));
    return palette;
}

QPalette light_palette() {
    QPalette palette(QColor(239, 239, 239));
    palette.setColor(QPalette::Highlight, QColor(0, 114, 178));
    palette.setColor(QPalette::HighlightedText, Qt::white);
    return palette;
}

// What the desktop had before a choice was made.
struct Desktop {
    QString style = QApplication::style()->objectName();
    QPalette palette = QApplication::palette();
};

report::Rgb rgb_of(const QColor& colour) {
    return {static_cast<std::uint8_t>(colour.red()), static_cast<std::uint8_t>(colour.green()),
            static_cast<std::uint8_t>(colour.blue())};
}

} // namespace

void use_theme(const QString& name) {
    static const Desktop desktop;
    if (name == "dark" || name == "light") {
        QApplication::setStyle("Fusion");
        QApplication::setPalette(name == "dark" ? dark_palette() : light_palette());
    } else {
        QApplication::setStyle(desktop.style);
        QApplication::setPalette(desktop.palette);
    }
}

void make_readable(QWidget& window) {
    QPalette own; // nothing but these: all else follows the theme
    own.setColor(QPalette::PlaceholderText, colour_on(window, report::ColourRole::faint));
    if (report::contrast(rgb_of(own.color(QPalette::HighlightedText)),
                         rgb_of(own.color(QPalette::Highlight))) < report::kReadable) {
        own.setColor(QPalette::Highlight, QColor(0, 114, 178));
        own.setColor(QPalette::HighlightedText, Qt::white);
    }
    for (const auto role : {QPalette::PlaceholderText, QPalette::Highlight}) {
        if (window.palette().color(role) != own.color(role)) {
            return window.setPalette(own);
        }
    }
}

} // namespace eyeroof::gui
