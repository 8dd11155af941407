#include "report/exam/ladder_text.hpp"

#include "analysis/exam/report_figures.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/exam/words.hpp"
#include "report/measured/measured_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::report {

namespace {

using model::kStepNames;
using model::kSteps;

constexpr std::size_t kFigure = 8; // columns of a throughput
constexpr std::size_t kLimit = 16; // columns of what limits a step

std::string layer_facts(const analysis::Report& report, const analysis::LayerReport& layer,
                        std::size_t width) {
    const analysis::TimeSplit& split = layer.split;
    std::vector<std::string> parts;
    const auto add_time = [&](double seconds, const char* what) {
        if (seconds > 0.0) {
            parts.push_back(fmt::format("{} {}", what, format_si(seconds, "s")));
        }
    };
    add_time(split.compute_s, "compute");
    add_time(split.on_chip_stall_s, "on-chip stalls");
    add_time(split.dram_stall_s, "outer memory stalls");
    add_time(split.overhead_s, "overhead");
    parts.push_back(moved_text(layer.outer_bytes, layer.outer_bytes + layer.zeros_bytes));
    if (layer.energy_j > 0.0) {
        parts.push_back(energy_text(analysis::energy_is_upper_bound(report.machine, layer),
                                    layer.energy_j, layer.leakage_j));
    }
    if (layer.active.allocated > 0.0) {
        parts.push_back(fmt::format("{} {} allocated, {} active on average",
                                    amount(layer.active.allocated), unit_name(report),
                                    amount(layer.active.averaged)));
    }
    return wrapped_parts(parts, 2, width);
}

std::string layer_heading(const analysis::LayerReport& layer, const TextStyle& style) {
    const analysis::WorkFigure work = analysis::work_of(layer);
    std::string name = masked_controls(layer.layer.name);
    if (layer.layer.count > 1) {
        name += fmt::format(" ×{}", layer.layer.count);
    }
    const std::vector<std::string> parts = {std::string(model::op_name(layer.layer.op)),
                                            format_si(work.amount, work.unit, 4),
                                            time_text(layer.time_s, layer.low_s, layer.high_s),
                                            percent(layer.utilization) + " utilization"};
    return inked(clipped(name, style.width), Ink::bold, style.colour) + "\n" +
           wrapped_parts(parts, 2, style.width);
}

// Columns of the ladder's bar: what the other columns leave.
std::size_t bar_cells(const TextStyle& style) {
    constexpr std::size_t others = 72;
    constexpr std::size_t least = 8;
    constexpr std::size_t most = 20;
    return std::clamp(style.width, others + least, others + most) - others;
}

std::string ladder_row(const analysis::Report& report, const analysis::LayerReport& layer,
                       std::size_t step, const TextStyle& style) {
    const double units = analysis::units_of(report.machine, layer);
    const model::StepBound& bound = layer.steps[step - 1];
    const double kept = analysis::kept_at(layer.steps, units, step);
    const bool loses = kept < 1.0 - 5e-4;
    const Ink ink = !loses ? Ink::faint : step == layer.limiter_step ? Ink::bad : Ink::warn;
    const std::string loss = loses ? fmt::format("−{:.1f} %", 100.0 * (1.0 - kept)) : "";
    std::string row =
        fmt::format("  {} {}{}{}  ", step, left(kStepNames[step - 1], 24),
                    right(amount(bound.macs_per_cycle), kFigure),
                    right(amount(layer.machine_steps[step - 1].macs_per_cycle), kFigure));
    row += inked(bar(analysis::share_after(layer.steps, units, step),
                     analysis::share_after(layer.machine_steps, units, step), bar_cells(style)),
                 loses ? ink : Ink::good, style.colour);
    if (loses) {
        row += inked(right(loss, 8), ink, style.colour) + "  " + clipped(bound.limit, kLimit);
    }
    return row + "\n";
}

std::string reasons(const analysis::LayerReport& layer, const TextStyle& style) {
    std::string text;
    for (std::size_t step = 1; step <= kSteps; ++step) {
        const std::string& reason = layer.steps[step - 1].reason;
        if ((style.details || step == layer.limiter_step) && !reason.empty()) {
            text += wrapped(fmt::format("step {}: {}", step, reason), 4, style.width);
        }
    }
    return text;
}

// What binds, and where the time goes whatever the order of the steps.
std::string limits_rows(const analysis::LayerReport& layer, std::size_t width) {
    const std::string binding = limits_text(layer);
    return binding.empty() ? std::string{}
                           : wrapped("bound by " + binding, 2, width) +
                                 wrapped("time, averaged over all orders of the steps: " +
                                             analysis::shares_text(layer),
                                         2, width);
}

std::string traffic_table(const analysis::LayerReport& layer) {
    const auto cell = [](double value) { return right(format_si(value, "B", 4), 9); };
    std::string text;
    for (const analysis::TrafficRow& row : layer.traffic) {
        text += fmt::format(
            "    {}{}{} read{} written{}{} held\n", left(row.level, 14), left(row.tensor, 7),
            cell(static_cast<double>(row.read_bytes)), cell(static_cast<double>(row.write_bytes)),
            right(format_si(row.energy_j, "J"), 9), cell(static_cast<double>(row.tile_bytes)));
    }
    return text;
}

std::string mapping_lines(const analysis::LayerReport& layer, std::size_t width) {
    std::string text;
    std::size_t begin = 0;
    while (begin < layer.mapping_text.size()) {
        const std::size_t end =
            std::min(layer.mapping_text.find('\n', begin), layer.mapping_text.size());
        text += "    " + clipped(layer.mapping_text.substr(begin, end - begin), width - 4) + "\n";
        begin = end + 1;
    }
    return text;
}

// How the search knows that its mapping is the best one, or how far off it may be.
std::string certificate_lines(const analysis::LayerReport& layer, std::size_t width) {
    std::string text;
    for (const mapper::Certificate& c : layer.certificates) {
        const std::string line = fmt::format(
            "searched: {} {:.4e}, {}, lower bound {:.4e} ({})", c.objective, c.value,
            c.proved ? "proven optimal among even mappings" : "best found", c.lower_bound, c.space);
        text += wrapped(line, 4, width);
    }
    return text;
}

} // namespace

std::string ladder_text(const analysis::Report& report, const analysis::LayerReport& layer,
                        const TextStyle& style) {
    std::string text = "\n" + layer_heading(layer, style) + layer_facts(report, layer, style.width);
    text += inked(fmt::format("  {}{}{}  of {} units", left("  step, MAC/cycle", 26),
                              right("mapping", kFigure), right("machine", kFigure),
                              amount(analysis::units_of(report.machine, layer))),
                  Ink::faint, style.colour) +
            "\n";
    for (std::size_t step = 1; step <= kSteps; ++step) {
        text += ladder_row(report, layer, step, style);
    }
    text += limits_rows(layer, style.width);
    text += measured_ladder_rows(report, layer, style.colour);
    text += reasons(layer, style);
    for (const std::string& note : layer.notes) {
        text += wrapped("note: " + note, 4, style.width);
    }
    if (style.details) {
        text += certificate_lines(layer, style.width) + mapping_lines(layer, style.width) +
                traffic_table(layer);
    }
    return text;
}

} // namespace eyeroof::report
