#include "analysis/bound/bound.hpp"

#include "analysis/bound/changes.hpp"
#include "analysis/bound/gap.hpp"
#include "analysis/bound/program_bounds.hpp"
#include "analysis/exam/report_warnings.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/what_if/headline.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace eyeroof::analysis::bound {

std::string_view wall_text(Wall wall) {
    constexpr std::array<std::string_view, 4> texts = {"arithmetic", "memory", "on-chip", "start"};
    return texts[static_cast<std::size_t>(wall)];
}

namespace {

// Largest gain first.
std::vector<OperatorBound> operators_of(const ProgramBounds& bounds, const Report& report) {
    const step::Graph& graph = report.program;
    std::vector<OperatorBound> rows;
    for (std::uint32_t i = 0; i < graph.layers.size(); ++i) {
        const double time_s = report.layers[i].time_s;
        rows.push_back({graph.layers[i].name, graph.layers[i].count, bounds.of_layer[i], time_s});
        Bound& bound = rows.back().bound;
        const bool equal = std::abs(time_s - bound.time_s) < 1e-9 * time_s; // but for rounding
        bound.time_s = equal ? time_s : bound.time_s;
    }
    const auto gain = [](const OperatorBound& o) {
        return static_cast<double>(o.runs) * (o.predicted_s - o.bound.time_s);
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const auto& a, const auto& b) { return gain(a) > gain(b); });
    return rows;
}

} // namespace

Result<BoundReport> bound(const Question& question, std::optional<double> measured_s,
                          const std::stop_token& stop) {
    auto report = run(question, stop);
    if (!report) {
        return report.diagnostics();
    }
    find_headline(*report, question, stop);
    const Peaks peaks = peaks_of(question, report->machine);
    const ProgramBounds bounds = bounds_of(question, *report, peaks);
    BoundReport made;
    made.unfused = bounds.unfused;
    made.cached = bounds.cached;
    made.fused = bounds.fused;
    made.roofline = bounds.roofline;
    made.operators = operators_of(bounds, *report);
    made.words = report->words;
    made.network = report->network_name;
    made.machine = report->machine.name;
    made.assumptions = assumptions_of(peaks);
    made.predicted_s = report->total.time_s;
    made.low_s = report->total.low_s;
    made.high_s = report->total.high_s;
    made.measured_s = measured_s;
    made.headline = report->headline;
    made.gap = gap_of(made, bounds.of_layer, *report);
    made.changes = changes_of(question, stop);
    Diagnostics said = report.diagnostics();
    if (measured_s && *measured_s < made.fused.time_s) {
        said.warning("below-bound",
                     fmt::format("the measured {} are below the fused bound of {}",
                                 format_si(*measured_s, "s"), format_si(made.fused.time_s, "s")),
                     "check the measurement, the data type, and the machine: " + made.assumptions);
    }
    said.append(fit_warning(*report));
    return {std::move(made), std::move(said)};
}

} // namespace eyeroof::analysis::bound
