#include "report/exam/text.hpp"

#include "analysis/exam/report_figures.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/exam/chip_words.hpp"
#include "report/exam/words.hpp"
#include "report/measured/measured_text.hpp"
#include "report/search/proofs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {

using model::kStepNames;
using model::kSteps;

constexpr std::size_t kWidth = 98;
constexpr std::size_t kLadderBar = 20;
constexpr std::size_t kOverviewBar = 36;
constexpr std::size_t kTitle = 46; // of a machine; a network takes what is left

// Four digits; thousands as they are ("1024"), more with a prefix ("58.08 k").
std::string amount(double value) {
    constexpr double plain_below = 1e4;
    std::string text = value < plain_below && value >= 1e3 ? fmt::format("{:.0f}", value)
                                                           : format_si(value, "", 4);
    if (text.ends_with(' ')) {
        text.pop_back();
    }
    return text;
}

std::string clipped(std::string_view text, std::size_t width) {
    return left(text, std::min(display_width(masked_controls(text)), width));
}

std::string units_text(const analysis::MachineSummary& machine) {
    return amount(machine.units) + " MAC/cycle";
}

std::string header(const analysis::Report& report, bool colour) {
    const analysis::MachineSummary& m = report.machine;
    std::vector<std::string> facts = {units_text(m), format_si(m.clock_hz, "Hz"),
                                      format_si(m.peak_macs_per_s, "MAC/s")};
    if (std::isfinite(m.outer_bytes_per_s) && m.outer_bytes_per_s > 0.0) {
        facts.push_back(format_si(m.outer_bytes_per_s, "B/s") + " outermost");
    }
    if (!m.dataflow.empty()) {
        facts.push_back("dataflow " + masked_controls(m.dataflow));
    }
    std::string words = wrapped(masked_controls(report.words), 0, kWidth);
    words.erase(words.find_last_not_of('\n') + 1);
    return inked(words, Ink::bold, colour) + "\n" + wrapped_parts(facts, 2, kWidth);
}

std::string energy_text(const analysis::Report& report, double joules, double leakage) {
    const std::string all = (analysis::energy_is_upper_bound(report.machine) ? "at most " : "") +
                            format_si(joules, "J");
    return leakage > 0.0 ? fmt::format("{} ({} of it leaks)", all, percent(leakage / joules)) : all;
}

// "1.89 MB moved (2.13 MB before zeros are coded)".
std::string moved_text(double bytes, double uncoded) {
    constexpr double kVisible = 1.005;
    return format_si(bytes, "B") + " moved" +
           (uncoded > kVisible * bytes
                ? fmt::format(" ({} before zeros are coded)", format_si(uncoded, "B"))
                : "");
}

std::string layer_facts(const analysis::Report& report, const analysis::LayerReport& layer) {
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
    parts.push_back(
        moved_text(layer.outer_bytes, analysis::uncoded_outer_bytes(report.machine, layer)));
    if (layer.energy_j > 0.0) {
        parts.push_back(energy_text(report, layer.energy_j, layer.leakage_j));
    }
    if (layer.active.allocated > 0.0) {
        parts.push_back(fmt::format("{} units allocated, {} on average",
                                    amount(layer.active.allocated), amount(layer.active.averaged)));
    }
    return wrapped_parts(parts, 2, kWidth);
}

std::string layer_heading(const analysis::LayerReport& layer, bool colour) {
    const analysis::WorkFigure work = analysis::work_of(layer);
    std::string name = masked_controls(layer.layer.name);
    if (layer.layer.count > 1) {
        name += fmt::format(" ×{}", layer.layer.count);
    }
    const std::vector<std::string> parts = {std::string(model::op_name(layer.layer.op)),
                                            format_si(work.amount, work.unit, 4),
                                            time_text(layer.time_s, layer.low_s, layer.high_s),
                                            percent(layer.utilization) + " of peak"};
    const std::string rest = fmt::format("{}", fmt::join(parts, " · "));
    const std::size_t room = kWidth - display_width(rest) - 2;
    const std::size_t width = std::min(std::max<std::size_t>(display_width(name), 10), room);
    return inked(left(name, width), Ink::bold, colour) + "  " + rest + "\n";
}

std::string ladder_row(const analysis::Report& report, const analysis::LayerReport& layer,
                       std::size_t step, bool colour) {
    const double units = analysis::units_of(report.machine, layer);
    const model::StepBound& bound = layer.steps[step - 1];
    const double kept = analysis::kept_at(layer.steps, units, step);
    const bool loses = kept < 1.0 - 5e-4;
    const Ink ink = !loses ? Ink::faint : step == layer.limiter_step ? Ink::bad : Ink::warn;
    const std::string loss = loses ? fmt::format("−{:.1f} %", 100.0 * (1.0 - kept)) : "";
    std::string row = fmt::format("  {} {}{}{}  ", step, left(kStepNames[step - 1], 24),
                                  right(amount(bound.macs_per_cycle), 9),
                                  right(amount(layer.machine_steps[step - 1].macs_per_cycle), 9));
    row += inked(bar(analysis::share_after(layer.steps, units, step),
                     analysis::share_after(layer.machine_steps, units, step), kLadderBar),
                 loses ? ink : Ink::good, colour);
    if (loses) {
        row += inked(right(loss, 9), ink, colour) + "  " + clipped(bound.limit, 21);
    }
    return row + "\n";
}

std::string reasons(const analysis::LayerReport& layer, bool details) {
    std::string text;
    for (std::size_t step = 1; step <= kSteps; ++step) {
        const std::string& reason = layer.steps[step - 1].reason;
        if ((details || step == layer.limiter_step) && !reason.empty()) {
            text += wrapped(fmt::format("step {}: {}", step, reason), 4, kWidth);
        }
    }
    return text;
}

// What binds, and where the time goes whatever the order of the steps.
std::string limits_rows(const analysis::LayerReport& layer) {
    const std::string binding = limits_text(layer);
    return binding.empty() ? std::string{}
                           : wrapped("limited by " + binding, 2, kWidth) +
                                 wrapped("time: " + analysis::shares_text(layer), 2, kWidth);
}

std::string traffic_table(const analysis::LayerReport& layer) {
    std::string text;
    for (const analysis::TrafficRow& row : layer.traffic) {
        text += fmt::format("    {}{}{} read{} written{}{} held\n", left(row.level, 14),
                            left(row.tensor, 8),
                            right(format_si(static_cast<double>(row.read_bytes), "B", 4), 11),
                            right(format_si(static_cast<double>(row.write_bytes), "B", 4), 11),
                            right(format_si(row.energy_j, "J"), 12),
                            right(format_si(static_cast<double>(row.tile_bytes), "B", 4), 11));
    }
    return text;
}

std::string mapping_lines(const analysis::LayerReport& layer) {
    std::string text;
    std::size_t begin = 0;
    while (begin < layer.mapping_text.size()) {
        const std::size_t end =
            std::min(layer.mapping_text.find('\n', begin), layer.mapping_text.size());
        text += "    " + clipped(layer.mapping_text.substr(begin, end - begin), kWidth - 4) + "\n";
        begin = end + 1;
    }
    return text;
}

// How the search knows that its mapping is the best one, or how far off it may be.
std::string certificate_lines(const analysis::LayerReport& layer) {
    std::string text;
    for (const mapper::Certificate& c : layer.certificates) {
        const std::string line =
            fmt::format("searched: {} {:.4e}, {} {:.4e}", c.objective, c.value,
                        c.proved ? "proved, bound" : "bound so far", c.lower_bound);
        text += wrapped(line, 4, kWidth);
    }
    return text;
}

std::string ladder(const analysis::Report& report, const analysis::LayerReport& layer,
                   const TextStyle& style) {
    std::string text = "\n" + layer_heading(layer, style.colour) + layer_facts(report, layer);
    text += inked(fmt::format("  {}{}{}  of {} units", left("  step, MAC/cycle", 26),
                              right("mapping", 9), right("machine", 9),
                              amount(analysis::units_of(report.machine, layer))),
                  Ink::faint, style.colour) +
            "\n";
    for (std::size_t step = 1; step <= kSteps; ++step) {
        text += ladder_row(report, layer, step, style.colour);
    }
    text += limits_rows(layer);
    text += measured_ladder_rows(report, layer, style.colour);
    text += reasons(layer, style.details);
    for (const std::string& note : layer.notes) {
        text += wrapped("note: " + note, 4, kWidth);
    }
    if (style.details) {
        text += certificate_lines(layer) + mapping_lines(layer) + traffic_table(layer);
    }
    return text;
}

// What a cell of the overview's bar shows, from the left: done, or the step that took it.
char cell_of(const analysis::LayerReport& layer, double units, double place) {
    if (place < layer.utilization) {
        return '#';
    }
    for (std::size_t step = 1; step <= kSteps; ++step) {
        if (place >= analysis::share_after(layer.steps, units, step)) {
            return static_cast<char>('0' + step);
        }
    }
    return '.'; // below the chain: overhead, and stalls that no step counts
}

std::string overview_bar(const analysis::LayerReport& layer, double units, bool colour) {
    std::string cells;
    for (std::size_t i = 0; i < kOverviewBar; ++i) {
        const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(kOverviewBar);
        cells += cell_of(layer, units, place);
    }
    std::string out;
    for (std::size_t begin = 0; begin < cells.size();) {
        const std::size_t end =
            std::min(cells.find_first_not_of(cells[begin], begin), cells.size());
        std::string run;
        for (std::size_t i = begin; i < end; ++i) {
            run += cells[i] == '#' ? "█" : cells[i] == '.' ? "·" : std::string(1, cells[i]);
        }
        const bool worst = cells[begin] == static_cast<char>('0' + layer.limiter_step);
        const Ink ink = cells[begin] == '#' ? Ink::good : worst ? Ink::bad : Ink::warn;
        out += inked(run, ink, colour);
        begin = end;
    }
    return out;
}

std::string overview(const analysis::Report& report, bool colour) {
    std::string text =
        "\n" +
        inked(fmt::format("{}{}{}  {}  {}", left("layer", 18), right("time", 11),
                          right("of peak", 9), left("done, and what each step took", kOverviewBar),
                          "limited by"),
              Ink::faint, colour) +
        "\n";
    for (const analysis::LayerReport& layer : report.layers) {
        std::string name = masked_controls(layer.layer.name);
        std::string count = layer.layer.count > 1 ? fmt::format(" ×{}", layer.layer.count) : "";
        name = clipped(name, 18 - display_width(count)) + count;
        text +=
            fmt::format("{}{}{}  {}  {}\n", left(name, 18), right(format_si(layer.time_s, "s"), 11),
                        right(percent(layer.utilization), 9),
                        overview_bar(layer, analysis::units_of(report.machine, layer), colour),
                        clipped(fmt::format("{} {}", layer.limiter_step, layer.limiter), 22));
    }
    return text;
}

std::string totals(const analysis::Report& report, bool colour) {
    const analysis::Total& total = report.total;
    std::vector<std::string> parts = {total.macs > 0.0 ? format_si(total.macs, "MAC", 4)
                                                       : format_si(total.flops, "op", 4),
                                      time_text(total.time_s, total.low_s, total.high_s)};
    if (total.host_s > 0.0) {
        parts.push_back(fmt::format("host issues {}, kernels {}", format_si(total.host_s, "s"),
                                    format_si(total.device_s, "s")));
    }
    if (total.processing_time_s < total.time_s) {
        parts.push_back(format_si(total.processing_time_s, "s") + " without outer memory stalls");
    }
    if (total.macs > 0.0) {
        parts.push_back(percent(total.utilization) + " of peak");
    }
    if (total.averaged_units > 0.0) {
        parts.push_back(fmt::format("{} units active on average", amount(total.averaged_units)));
    }
    double uncoded = 0.0;
    for (const analysis::LayerReport& layer : report.layers) {
        uncoded += static_cast<double>(layer.layer.count) *
                   analysis::uncoded_outer_bytes(report.machine, layer);
    }
    parts.push_back(moved_text(total.outer_bytes, uncoded));
    if (total.energy_j > 0.0) {
        parts.push_back(energy_text(report, total.energy_j, total.leakage_j));
    }
    if (std::string proofs = proofs_text(report); !proofs.empty()) {
        parts.push_back(std::move(proofs));
    }
    if (report.fit) {
        parts.push_back(memory_fit_text(*report.fit));
    }
    return "\n" + inked("total", Ink::bold, colour) + "\n" + wrapped_parts(parts, 2, kWidth) +
           (report.chip ? wrapped(chip_text(*report.chip), 2, kWidth) : std::string());
}

std::string worst_losses(const analysis::Report& report, bool colour) {
    if (report.worst.empty()) {
        return {};
    }
    std::string text =
        "\n" + inked("worst losses: what mending that step alone would save", Ink::bold, colour) +
        "\n";
    std::size_t rank = 0;
    for (const analysis::Loss& loss : report.worst) {
        const analysis::LayerReport& layer = report.layers[loss.layer];
        const model::StepBound& bound = layer.steps[loss.step - 1];
        const double share = report.total.time_s > 0.0 ? loss.lost_s / report.total.time_s : 0.0;
        text +=
            wrapped(fmt::format("{}. {}, step {} {}: {} of {} ({}) less without {}", ++rank,
                                layer.layer.name, loss.step, kStepNames[loss.step - 1],
                                format_si(loss.lost_s, "s"), format_si(report.total.time_s, "s"),
                                percent(share), bound.limit),
                    2, kWidth);
        text += wrapped(bound.reason, 5, kWidth);
    }
    return text;
}

std::string weak_sources(const analysis::Report& report) {
    if (report.machine.weak_sources.empty()) {
        return {};
    }
    return "\n" + wrapped(fmt::format("Only recalled, not sourced, are this machine's: {}.",
                                      fmt::join(report.machine.weak_sources, ", ")),
                          0, kWidth);
}

bool is_worst(const analysis::Report& report, std::size_t layer) {
    return std::any_of(report.worst.begin(), report.worst.end(),
                       [layer](const analysis::Loss& loss) { return loss.layer == layer; });
}

} // namespace

std::string to_text(const analysis::Report& report, const TextStyle& style) {
    constexpr std::size_t dozen = 12;
    const bool all = style.ladders == Ladders::all ||
                     (style.ladders == Ladders::automatic && report.layers.size() <= dozen);
    std::string text = header(report, style.colour);
    for (std::size_t i = 0; i < report.layers.size(); ++i) {
        if (all || is_worst(report, i)) {
            text += ladder(report, report.layers[i], style);
        }
    }
    if (!all) {
        text += "\n(ladders of the worst layers only; --steps all shows every layer's)\n";
    }
    return text + overview(report, style.colour) + totals(report, style.colour) +
           worst_losses(report, style.colour) + measured_overview(report, style.colour) +
           ceilings_table(report, style.colour) + weak_sources(report);
}

} // namespace eyeroof::report
