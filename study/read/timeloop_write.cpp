#include "study/read/timeloop.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::study::read {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

constexpr std::array<Dim, 7> kOrder = {Dim::R, Dim::S, Dim::P, Dim::Q, Dim::C, Dim::K, Dim::N};

struct Entry {
    std::string factors;
    std::string permutation; // innermost first
};

// Loops innermost first; dimensions without a loop come after.
Entry entry_of(const std::vector<TemporalLoop>& loops) {
    Entry entry;
    Extents trips = kOnes;
    for (const TemporalLoop& loop : loops) {
        trips[index(loop.dim)] *= loop.bound;
        if (entry.permutation.find(letter(loop.dim)) == std::string::npos) {
            entry.permutation += letter(loop.dim);
        }
    }
    for (const Dim dim : kOrder) {
        entry.factors +=
            fmt::format("{}{}{}", entry.factors.empty() ? "" : " ", letter(dim), trips[index(dim)]);
        if (entry.permutation.find(letter(dim)) == std::string::npos) {
            entry.permutation += letter(dim);
        }
    }
    return entry;
}

std::string names(OperandSet set) {
    std::string text;
    for (const auto& [operand, name] :
         {std::pair{Operand::weight, "Weights"}, std::pair{Operand::input, "Inputs"},
          std::pair{Operand::output, "Outputs"}}) {
        if (set.contains(operand)) {
            text += (text.empty() ? "" : ", ") + std::string(name);
        }
    }
    return text;
}

} // namespace

std::string write_timeloop_mapping(const Mapping& mapping, const Accelerator& machine) {
    std::string text = "mapping:\n";
    for (std::size_t i = mapping.levels.size(); i-- > 0;) {
        const LevelMapping& level = mapping.levels[i];
        const std::string& name = machine.levels[i].name;
        OperandSet bypass = {Operand::input, Operand::weight, Operand::output};
        for (const Operand o : kAllOperands) {
            if (level.keeps.contains(o)) {
                bypass.erase(o);
            }
        }
        text += fmt::format("- {{target: {}, type: datatype, keep: [{}], bypass: [{}]}}\n", name,
                            names(level.keeps), names(bypass));
        std::vector<TemporalLoop> inner_first(level.temporal.rbegin(), level.temporal.rend());
        const Entry temporal = entry_of(inner_first);
        text +=
            fmt::format("- {{target: {}, type: temporal, factors: \"{}\", permutation: \"{}\"}}\n",
                        name, temporal.factors, temporal.permutation);
        if (machine.levels[i].fanout.empty()) {
            continue;
        }
        std::vector<TemporalLoop> spread; // along x first
        std::string along_x;
        for (const char* axis : {"x", "y"}) {
            for (auto loop = level.spatial.rbegin(); loop != level.spatial.rend(); ++loop) {
                if (machine.levels[i].fanout[loop->axis].name == axis) {
                    spread.push_back({loop->dim, loop->bound});
                    const bool known = along_x.find(letter(loop->dim)) != std::string::npos;
                    along_x += *axis == 'x' && !known ? std::string(1, letter(loop->dim)) : "";
                }
            }
        }
        const Entry spatial = entry_of(spread);
        text += fmt::format("- {{target: {}, type: spatial, factors: \"{}\", permutation: \"{}\", "
                            "split: {}}}\n",
                            name, spatial.factors, spatial.permutation, along_x.size());
    }
    return text;
}

} // namespace eyeroof::study::read
