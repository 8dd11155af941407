#include "gui/panes/totals_text.hpp"

#include "analysis/exam/report_figures.hpp"
#include "base/units.hpp"
#include "report/measured/measured_text.hpp"

#include <fmt/format.h>

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

namespace eyeroof::gui {

namespace {

std::string line_of(const analysis::Report& report, bool alone) {
    const analysis::Total& total = report.total;
    std::string line =
        fmt::format("<b>{}</b>: {}", report.machine.name, format_si(total.time_s, "s", 4));
    if (total.low_s && total.high_s) {
        line +=
            fmt::format(" ({} to {})", format_si(*total.low_s, "s"), format_si(*total.high_s, "s"));
    }
    line += fmt::format(", {:.1f} % of the peak", 100.0 * total.utilization);
    if (!report.worst.empty() && alone) {
        const analysis::Loss& worst = report.worst.front();
        line += fmt::format("; most is lost in {} at step {} ({:.0f} % less time without it)",
                            report.layers[worst.layer].layer.name, worst.step,
                            100.0 * worst.lost_s / total.time_s);
    }
    return line;
}

// The measurement's sum, over the layers that it has, beside their prediction.
std::string measured_line(const analysis::Report& report, const std::string& run) {
    const analysis::Measurement& m = *report.measured;
    std::string line = fmt::format(
        "measured{}: {} in {} of {} layers, for which {} is predicted: {} ({}) unexplained",
        run.empty() ? "" : " in " + run, format_si(m.measured_s, "s", 4), m.layers,
        report.layers.size(), format_si(m.predicted_s, "s", 4),
        report::signed_time(m.unexplained_s), report::signed_share(m.unexplained_s, m.predicted_s));
    if (m.unmatched_s > 0.0) {
        line += fmt::format("; {} more of a step in kernels of no layer",
                            format_si(m.unmatched_s / analysis::measured_steps(report), "s", 4));
    }
    return line;
}

QString comparison(const std::vector<analysis::Report>& reports) {
    const double ratio = reports[0].total.time_s / reports[1].total.time_s;
    const auto& faster = reports[ratio > 1.0 ? 1 : 0].machine.name;
    return QString("%1 is %2x as fast")
        .arg(QString::fromStdString(faster))
        .arg(ratio > 1.0 ? ratio : 1.0 / ratio, 0, 'f', 2);
}

} // namespace

QString totals_html(const std::vector<analysis::Report>& reports,
                    const std::map<std::string, std::string>& runs) {
    QStringList lines;
    for (const analysis::Report& report : reports) {
        lines << QString::fromStdString(line_of(report, reports.size() == 1));
        if (report.measured && report.measured->layers > 0) {
            lines << QString::fromStdString(measured_line(report, runs.contains(report.machine.id)
                                                                      ? runs.at(report.machine.id)
                                                                      : std::string()));
        }
    }
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
