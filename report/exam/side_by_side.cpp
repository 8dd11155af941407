#include "report/exam/side_by_side.hpp"

#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/exam/answer.hpp"
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

// The CPU launches of some sides, which a GPU's step has and an accelerator's has not. Empty where
// all sides are alike.
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

} // namespace eyeroof::report
