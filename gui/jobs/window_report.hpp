// One HTML file with everything that stands in the window: a section a pane, pictures inside.
#pragma once

#include <QString>
#include <string>
#include <vector>

namespace eyeroof::gui {

struct ReportSection {
    QString title;
    QString html; // empty: it is left out
};

// Complete, without anything from elsewhere; follows the reader's light or dark.
std::string window_report(const QString& title, const std::vector<ReportSection>& sections);

} // namespace eyeroof::gui
