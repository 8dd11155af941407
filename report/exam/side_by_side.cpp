#include "report/exam/side_by_side.hpp"

#include "analysis/exam/report_figures.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/exam/answer.hpp"
#include "report/exam/memory_fit.hpp"
#include "report/exam/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace eyeroof::report {

std::optional<std::size_t> SideRow::quickest() const {
    std::optional<std::size_t> best;
    std::size_t have = 0;
    for (std::size_t i = 0; i < on.size(); ++i) {
        if (on[i] != nullptr) {
            ++have;
            best = !best || on[i]->time_s < on[*best]->time_s ? i : *best;
        }
    }
    return have > 1 ? best : std::nullopt;
}

std::vector<SideRow> side_rows(const std::vector<analysis::Report>& sides) {
    std::vector<SideRow> rows;
    std::map<std::pair<std::string, std::size_t>, std::size_t> known;
    for (std::size_t i = 0; i < sides.size(); ++i) {
        std::map<std::string, std::size_t> seen;
        for (const analysis::LayerReport& layer : sides[i].layers) {
            const std::pair key(layer.layer.name, seen[layer.layer.name]++);
            const auto [at, is_new] = known.emplace(key, rows.size());
            if (is_new) {
                rows.push_back(
                    {&layer, std::vector<const analysis::LayerReport*>(sides.size(), nullptr)});
            }
            rows[at->second].on[i] = &layer;
        }
    }
    return rows;
}

namespace {

constexpr std::size_t kAtOnce = 3; // machines beside each other
constexpr std::size_t kName = 20;
constexpr std::size_t kColumn = 25;

std::string cell(const analysis::LayerReport* layer, bool quickest) {
    if (layer == nullptr) {
        return right("-", kColumn);
    }
    return right(format_si(layer->time_s, "s") + (quickest ? "*" : " "), 12) +
           right(percent(layer->utilization), 8) +
           right(layer->limiter_step > 0 ? fmt::to_string(layer->limiter_step) : "-", 5);
}

template <class Figure>
std::string total_line(const char* name, const std::vector<analysis::Report>& sides,
                       std::size_t begin, std::size_t end, const Figure& figure) {
    std::string line = left(name, kName);
    for (std::size_t i = begin; i < end; ++i) {
        line += right(figure(sides[i]) + " ", kColumn);
    }
    return line + "\n";
}

std::string interval(const analysis::Total& total) {
    return total.low_s && total.high_s
               ? fmt::format("{} … {}", format_si(*total.low_s, "s"), format_si(*total.high_s, "s"))
               : std::string("-");
}

std::string totals(const std::vector<analysis::Report>& sides, std::size_t begin, std::size_t end,
                   bool colour) {
    const double first_s = sides.front().total.time_s;
    std::string text = inked("total", Ink::bold, colour) + "\n";
    text += total_line("time", sides, begin, end,
                       [](const analysis::Report& s) { return format_si(s.total.time_s, "s"); });
    text += total_line("interval", sides, begin, end,
                       [](const analysis::Report& s) { return interval(s.total); });
    text += total_line("speedup", sides, begin, end, [&](const analysis::Report& s) {
        return fmt::format("{:.3g}x", first_s / s.total.time_s);
    });
    text += total_line("utilization", sides, begin, end,
                       [](const analysis::Report& s) { return percent(s.total.utilization); });
    text += total_line("energy", sides, begin, end, [](const analysis::Report& s) {
        const double joules = s.total.energy_j;
        const char* most = analysis::energy_is_upper_bound(s.machine) ? "at most " : "";
        return joules > 0.0 ? most + format_si(joules, "J") : std::string("-");
    });
    text += total_line("moved", sides, begin, end, [](const analysis::Report& s) {
        return format_si(s.total.outer_bytes, "B");
    });
    return text;
}

std::string block(const std::vector<analysis::Report>& sides, const std::vector<SideRow>& rows,
                  std::size_t begin, bool colour) {
    const std::size_t end = std::min(begin + kAtOnce, sides.size());
    std::string machines = left("", kName), heads = left("layer", kName);
    for (std::size_t i = begin; i < end; ++i) {
        machines += right(left(masked_controls(sides[i].machine.id), kColumn - 2), kColumn);
        heads += right("time ", 12) + right("util.", 8) + right("step", 5);
    }
    std::string text =
        "\n" + inked(machines, Ink::bold, colour) + "\n" + inked(heads, Ink::faint, colour) + "\n";
    for (const SideRow& row : rows) {
        const auto quickest = row.quickest();
        const Count count = row.any->layer.count;
        const std::string times = count > 1 ? fmt::format(" ×{}", count) : "";
        const std::size_t columns = kName - display_width(times);
        const std::string name = masked_controls(row.any->layer.name);
        text += left(left(name, std::min(display_width(name), columns)) + times, kName);
        for (std::size_t i = begin; i < end; ++i) {
            text += cell(row.on[i], quickest == i);
        }
        text += "\n";
    }
    return text + "\n" + totals(sides, begin, end, colour);
}

// What of the sides' times is not the same question: CPU launches, which a GPU's step has and an
// accelerator's has not. Empty where all sides are alike.
std::string launches_apart(const std::vector<analysis::Report>& sides) {
    std::string with, without;
    for (const analysis::Report& side : sides) {
        const bool launched =
            side.machine.kind == "gpu" && side.scenario.launch != model::Launch::none;
        const std::string id = masked_controls(side.machine.id);
        std::string& names = launched ? with : without;
        names += (names.empty() ? "" : ", ") + id;
        if (launched) {
            names += fmt::format(" waits {} of {} for CPU launches",
                                 format_si(side.total.time_s - side.timeline.busy_s, "s"),
                                 format_si(side.total.time_s, "s"));
        }
    }
    return with.empty() || without.empty()
               ? std::string()
               : fmt::format("; not under one launch assumption: {}, {} without any (--launch none "
                             "compares kernels alone)",
                             with, without);
}

} // namespace

const analysis::Report& fastest(const std::vector<analysis::Report>& sides) {
    return *std::ranges::min_element(
        sides, {}, [](const analysis::Report& side) { return side.total.time_s; });
}

std::vector<std::string> side_by_side_sentences(const std::vector<analysis::Report>& sides) {
    const analysis::Report& best = fastest(sides);
    std::string ratios;
    for (const analysis::Report& side : sides) {
        if (&side != &best) {
            ratios += fmt::format("{}{:.3g}x {}", ratios.empty() ? "" : ", ",
                                  side.total.time_s / best.total.time_s,
                                  masked_controls(side.machine.id));
        }
    }
    std::vector<std::string> sentences = {
        fmt::format("Fastest: {}, {}; {}{}", masked_controls(best.machine.id),
                    time_text(best.total.time_s, best.total.low_s, best.total.high_s), ratios,
                    launches_apart(sides)),
        bottleneck_text(best), largest_saving_text(best)};
    std::erase(sentences, std::string());
    return sentences;
}

std::string side_by_side_text(const std::vector<analysis::Report>& sides, bool colour) {
    std::string text = wrapped(masked_controls(fastest(sides).words), 0, kTextColumns);
    bool first = true;
    for (const std::string& line : side_by_side_sentences(sides)) {
        text += inked(wrapped(line, 0, kTextColumns), first ? Ink::bold : Ink::plain, colour);
        first = false;
    }
    text += fmt::format("\n{} machines; * fastest; step: the step that binds\n", sides.size());
    for (const analysis::Report& side : sides) {
        const analysis::MachineSummary& m = side.machine;
        std::vector<std::string> facts = {masked_controls(m.id) + ": " + masked_controls(m.name),
                                          format_si(m.peak_macs_per_s, "MAC/s")};
        if (!m.dataflow.empty()) {
            facts.push_back("dataflow " + masked_controls(m.dataflow));
        }
        if (side.fit) {
            facts.push_back(memory_fit_text(*side.fit));
        }
        text += wrapped_parts(facts, 2, kTextColumns);
    }
    const auto rows = side_rows(sides);
    for (std::size_t begin = 0; begin < sides.size(); begin += kAtOnce) {
        text += block(sides, rows, begin, colour);
    }
    return text;
}

} // namespace eyeroof::report
