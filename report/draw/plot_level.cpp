#include "report/draw/plot_level.hpp"

#include "base/ascii.hpp"
#include "base/suggest.hpp"
#include "report/draw/roofline_scene.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::report {

namespace {

std::vector<std::string> levels_of(const PlotInput& input) {
    std::vector<std::string> known;
    const auto add = [&known](const std::string& level) {
        if (!level.empty() && std::find(known.begin(), known.end(), level) == known.end()) {
            known.push_back(level);
        }
    };
    for (const analysis::PlotMachine& machine : input.machines) {
        for (const analysis::Roof& roof : machine.roofs) {
            if (roof.kind == analysis::RoofKind::memory) {
                add(roof.key);
            }
        }
    }
    for (const PlotPoint& point : input.points) {
        for (const LevelBytes& entry : point.bytes) {
            add(entry.level);
        }
    }
    return known;
}

} // namespace

Result<std::string> level_named(const PlotInput& input, const std::string& asked) {
    std::vector<std::string> known = levels_of(input);
    if (asked.empty() || asked == kAllLevels ||
        std::find(known.begin(), known.end(), asked) != known.end()) {
        return asked;
    }
    for (const std::string& level : known) {
        if (same_in_any_case(level, asked)) {
            return level;
        }
    }
    known.emplace_back(kAllLevels);
    return Result<std::string>::failure(
        "unknown-level", fmt::format("nothing in this plot has a memory level '{}'", asked),
        suggestion(asked, known));
}

} // namespace eyeroof::report
