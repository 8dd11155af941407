#include "gui/jobs/window_report.hpp"

namespace eyeroof::gui {

namespace {

constexpr const char* kStyle =
    "body{font:14px sans-serif;margin:2em auto;max-width:1280px;color:#1a1c21;background:#fff}"
    "table{border-collapse:collapse;margin:.5em 0;display:block;overflow-x:auto}th,td{padding:2px "
    "10px;text-align:left;"
    "border-bottom:1px solid #dee1e6;vertical-align:top}td.n,td.s{white-space:nowrap}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}h2{margin-top:2em}svg{max-width:100%;"
    "height:auto}"
    "pre{overflow:auto}nav a{margin-right:1em}"
    "@media(prefers-color-scheme:dark){body{color:#e8eaee;background:#16181d}"
    "th,td{border-color:#343944}a{color:#66b2ff}}";

} // namespace

std::string window_report(const QString& title, const std::vector<ReportSection>& sections) {
    QString html = QString("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                           "'none'; style-src 'unsafe-inline'; img-src data:\">"
                           "<title>%1</title><style>%2</style></head><body><h1>%1</h1>\n<nav>")
                       .arg(title.toHtmlEscaped(), kStyle);
    QString body;
    for (std::size_t i = 0; i < sections.size(); ++i) {
        if (!sections[i].html.isEmpty()) {
            const QString name = sections[i].title.toHtmlEscaped();
            html += QString("<a href=\"#s%1\">%2</a>").arg(i).arg(name);
            body += QString("<h2 id=\"s%1\">").arg(i) + name + "</h2>\n" + sections[i].html + "\n";
        }
    }
    return (html + "</nav>\n" + body + "</body></html>\n").toStdString();
}

} // namespace eyeroof::gui
