#include "study/draw/plot_level.hpp"

#include "model/base/ascii.hpp"
#include "model/base/suggest.hpp"
#include "study/draw/roofline_scene.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::study {

namespace {

std::vector<std::string> levels_of(const PlotInput& input) {
    std::vector<std::string> known;
    const auto add = [&known](const std::string& level) {
        if (!level.empty() && std::find(known.begin(), known.end(), level) == known.end()) {
            known.push_back(level);
        }
    };
    for (const PlotMachine& machine : input.machines) {
        for (const Roof& roof : machine.roofs) {
            if (roof.kind == RoofKind::memory) {
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

model::Result<std::string> level_named(const PlotInput& input, const std::string& asked) {
    std::vector<std::string> known = levels_of(input);
    if (asked.empty() || asked == kAllLevels ||
        std::find(known.begin(), known.end(), asked) != known.end()) {
        return asked;
    }
    for (const std::string& level : known) {
        if (model::same_in_any_case(level, asked)) {
            return level;
        }
    }
    known.emplace_back(kAllLevels);
    return model::Result<std::string>::failure(
        "unknown-level", fmt::format("nothing in this plot has a memory level '{}'", asked),
        model::suggestion(asked, known));
}

} // namespace eyeroof::study
