#include "report/exam/markdown.hpp"

#include "analysis/exam/report_figures.hpp"
#include "analysis/exam/report_warnings.hpp"
#include "base/markup.hpp"
#include "base/units.hpp"
#include "report/exam/answer.hpp"
#include "report/exam/chip_words.hpp"
#include "report/exam/words.hpp"
#include "report/measured/measured_text.hpp"
#include "report/search/proofs.hpp"

#include <fmt/format.h>

namespace eyeroof::report {

namespace {

std::string interval(const std::optional<double>& low, const std::optional<double>& high) {
    return low && high ? fmt::format(" ({} … {})", format_si(*low, "s"), format_si(*high, "s"))
                       : std::string{};
}

std::string layer_row(const analysis::Report& report, const analysis::LayerReport& layer) {
    const analysis::WorkFigure work = analysis::work_of(layer);
    std::string row = fmt::format(
        "| {} | {} | {} | {} | {}{} | {} | {}: {} |", markdown_cell(layer.layer.name),
        model::op_name(layer.layer.op), layer.layer.count, format_si(work.amount, work.unit, 4),
        format_si(layer.time_s, "s"), interval(layer.low_s, layer.high_s),
        percent(layer.utilization), layer.limiter_step, markdown_cell(layer.limiter));
    for (std::size_t step = 1; step <= model::kSteps; ++step) {
        const double share =
            analysis::share_after(layer.steps, analysis::units_of(report.machine, layer), step);
        row += fmt::format(" {} |", percent(share));
    }
    return row + "\n";
}

std::string measured_table(const analysis::Report& report) {
    if (!report.measured) {
        return {};
    }
    std::string text = "\n## Measured, below step seven\n\n"
                       "| layer | predicted | measured | unexplained | | executions | which step's "
                       "counters disagree |\n|---|--:|--:|--:|--:|--:|---|\n";
    for (const analysis::LayerReport& layer : report.layers) {
        if (!layer.measured) {
            text +=
                fmt::format("| {} | | not measured | | | | |\n", markdown_cell(layer.layer.name));
            continue;
        }
        const analysis::LayerMeasurement& m = *layer.measured;
        std::string why;
        for (const analysis::Disagreement& d : m.disagreements) {
            why += (why.empty() ? "" : "; ") + markdown_cell(disagreement_text(d));
        }
        text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n",
                            markdown_cell(layer.layer.name), format_si(m.predicted_s, "s"),
                            format_si(m.time_s, "s"), signed_time(m.unexplained_s),
                            signed_share(m.unexplained_s, m.predicted_s), m.executions, why);
    }
    const analysis::Measurement& all = *report.measured;
    text +=
        fmt::format("| total | {} | {} | {} | {} | | {} that no counter accounts for |\n\n",
                    format_si(all.predicted_s, "s"), format_si(all.measured_s, "s"),
                    signed_time(all.unexplained_s),
                    signed_share(all.unexplained_s, all.predicted_s), signed_time(all.remaining_s));
    for (const std::string& line : measurement_lines(all)) {
        text += "- " + markdown_cell(line) + "\n";
    }
    return text;
}

std::string ceilings_of(const analysis::Report& report) {
    if (report.ceilings.empty()) {
        return {};
    }
    std::string text = "\n## Measured ceilings\n\n| ceiling | measured | spread | how |\n"
                       "|---|---|--:|---|\n";
    for (const analysis::CeilingRow& row : report.ceilings) {
        text += fmt::format("| {} | {} | {} | {} |\n", markdown_cell(row.name), ceiling_text(row),
                            percent(row.spread), markdown_cell(row.how));
    }
    return text;
}

} // namespace

std::string to_markdown(const analysis::Report& report) {
    const analysis::Total& total = report.total;
    std::string text = fmt::format("# {} on {}\n\n", markdown_cell(report.network_name),
                                   markdown_cell(report.machine.name));
    text += markdown_cell(report.words) + ".\n\n";
    text += fmt::format(
        "{} MAC/cycle, {}, {}; {}{} in total, {} utilization.\n\n",
        format_si(report.machine.units, "", 4), format_si(report.machine.clock_hz, "Hz"),
        format_si(report.machine.peak_macs_per_s, "MAC/s"), format_si(total.time_s, "s"),
        interval(total.low_s, total.high_s), percent(total.utilization));
    std::vector<std::string> lines = answer_lines(report);
    lines.push_back(analysis::step_sum_text(report));
    for (const std::string& line : lines) {
        text += line.empty() ? std::string() : markdown_cell(sentence(line)) + "\n\n";
    }
    if (report.fit) {
        text += fmt::format("Of the whole network: {}.\n\n", memory_fit_text(*report.fit));
    }
    if (report.chip) {
        text += fmt::format("The {}.\n\n", chip_text(*report.chip));
    }
    text += "The last seven columns are the share of the machine's units that is left after each "
            "Eyexam step.\n\n"
            "| layer | op | count | work | time | utilization | bound by (step: limit) "
            "| 1 | 2 | 3 | 4 | 5 | 6 | 7 |\n"
            "|---|---|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|\n";
    for (const analysis::LayerReport& layer : report.layers) {
        text += layer_row(report, layer);
    }
    if (const std::string proofs = proofs_text(report); !proofs.empty()) {
        text += "\nSearched: " + markdown_cell(proofs) + ".\n";
    }
    if (!report.worst.empty()) {
        text += "\nPotential savings from removing one bottleneck:\n\n";
    }
    for (const analysis::Loss& loss : report.worst) {
        const analysis::LayerReport& layer = report.layers[loss.layer];
        const model::StepBound& bound = layer.steps[loss.step - 1];
        text += fmt::format("- {}, step {} ({}): {} less without {}. {}\n",
                            markdown_cell(layer.layer.name), loss.step,
                            model::kStepNames[loss.step - 1], format_si(loss.lost_s, "s"),
                            markdown_cell(bound.limit), markdown_cell(bound.reason));
    }
    return text + measured_table(report) + ceilings_of(report);
}

} // namespace eyeroof::report
