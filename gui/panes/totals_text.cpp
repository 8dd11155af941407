#include "gui/panes/totals_text.hpp"

#include "analysis/exam/report_figures.hpp"
#include "analysis/exam/report_warnings.hpp"
#include "base/units.hpp"
#include "gui/views/qt_text.hpp"
#include "report/exam/answer.hpp"

#include <fmt/format.h>

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

namespace eyeroof::gui {

namespace {

QString line_of(const analysis::Report& report, bool first) {
    const analysis::Total& total = report.total;
    std::string line = fmt::format(": {}", format_si(total.time_s, "s", 4));
    if (total.low_s && total.high_s) {
        line +=
            fmt::format(" ({} to {})", format_si(*total.low_s, "s"), format_si(*total.high_s, "s"));
    }
    line += fmt::format(", {:.1f} % of the peak. ", 100.0 * total.utilization);
    return "<b>" + html(report.machine.name) + "</b>" + html(line) + bound_html(report, first);
}

// As every view compares them; what no layer stands for, beside it.
QString measured_html(const analysis::Report& report, const std::string& run) {
    const std::string words = report::measured_line(report);
    if (words.empty()) {
        return {};
    }
    std::string line = words + (run.empty() ? "" : " (" + run + ")");
    const analysis::Measurement& m = *report.measured;
    if (!report.traced && m.unmatched_s > 0.0) {
        line += fmt::format("; {} more of a step in kernels of no layer",
                            format_si(m.unmatched_s / analysis::measured_steps(report), "s", 4));
    }
    return html(line);
}

QString comparison(const std::vector<analysis::Report>& reports) {
    const double ratio = reports[0].total.time_s / reports[1].total.time_s;
    const auto& faster = reports[ratio > 1.0 ? 1 : 0].machine.name;
    return QString("%1 is %2x as fast")
        .arg(QString::fromStdString(faster))
        .arg(ratio > 1.0 ? ratio : 1.0 / ratio, 0, 'f', 2);
}

} // namespace

std::string parameter_of(const analysis::Headline& headline) {
    const std::string& option = headline.option; // "--set KEY=x2", "--host-speed 2"; or two
    const std::size_t from = option.find(' ') + 1;
    return option.starts_with("--set ") ? option.substr(from, option.find('=') - from)
           : option.starts_with("--")   ? option.substr(2, from - 3)
                                        : std::string();
}

QString bound_html(const analysis::Report& report, bool linked) {
    if (!report.headline) { // not known yet: no other sentence in its place
        return {};
    }
    QString words = html(report::bottleneck_text(report));
    QString saving = html(report::largest_saving_text(report));
    const std::string parameter = linked ? parameter_of(*report.headline) : std::string();
    if (!parameter.empty()) {
        const QString option = html(report.headline->option);
        saving.replace(option,
                       QString("<a href=\"parameter:%1\">%2</a>").arg(html(parameter), option));
    }
    if (const std::string open = analysis::uncosted_share_text(report); !open.empty()) {
        saving += (saving.isEmpty() ? "" : ". ") + html(open);
    }
    return words + (words.isEmpty() || saving.isEmpty() ? "" : ". ") + saving;
}

QString totals_html(const std::vector<analysis::Report>& reports,
                    const std::map<std::string, std::string>& runs) {
    QStringList lines;
    for (const analysis::Report& report : reports) {
        lines << line_of(report, &report == &reports.front());
        const auto run = runs.find(report.machine.id);
        lines << measured_html(report, run == runs.end() ? std::string() : run->second);
    }
    lines.removeAll(QString());
    const bool gpus =
        std::all_of(reports.begin(), reports.end(),
                    [](const analysis::Report& report) { return report.machine.kind == "gpu"; });
    if (reports.size() == 2) {
        lines << comparison(reports);
    }
    if (!lines.isEmpty() && gpus && !reports.front().network_id.empty()) {
        lines.back() += QCoreApplication::translate(
            "Totals", reports.size() > 1 ? "; <a href=\"upgrade\">does it pay off?</a>"
                                         : "; <a href=\"upgrade\">would another GPU pay off?</a>");
    }
    return lines.join("<br>");
}

} // namespace eyeroof::gui
