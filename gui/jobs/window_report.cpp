#include "gui/jobs/window_report.hpp"

#include "report/page/page.hpp"

namespace eyeroof::gui {

std::string window_report(const QString& title, const std::vector<ReportSection>& sections) {
    constexpr std::string_view kStyle = "table{display:block;overflow-x:auto}td.s{white-space:"
                                        "nowrap}h2{margin-top:2em}nav a{margin-right:1em}";
    const QString heading = title.toHtmlEscaped();
    QString names;
    QString body;
    for (std::size_t i = 0; i < sections.size(); ++i) {
        if (!sections[i].html.isEmpty()) {
            const QString name = sections[i].title.toHtmlEscaped();
            names += QString("<a href=\"#s%1\">%2</a>").arg(i).arg(name);
            body += QString("<h2 id=\"s%1\">").arg(i) + name + "</h2>\n" + sections[i].html + "\n";
        }
    }
    return report::page_head(heading.toStdString(), kStyle, {}) +
           QString("<h1>%1</h1>\n<nav>%2</nav>\n%3").arg(heading, names, body).toStdString() +
           report::page_foot({});
}

} // namespace eyeroof::gui
