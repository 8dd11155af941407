#include "analysis/trials/search_task.hpp"

#include <algorithm>

namespace eyeroof::analysis::tune {

std::string features_name(unsigned set) {
    if (set == kAllFeatures) {
        return "all";
    }
    std::string name;
    const auto add = [&](unsigned one, const char* text) {
        if ((set & one) != 0) {
            name += (name.empty() ? "" : "+") + std::string(text);
        }
    };
    add(kKnobs, "knobs");
    add(kLoops, "loops");
    add(kSteps, "steps");
    return name;
}

std::optional<unsigned> features_from_name(std::string_view name) {
    for (unsigned set = 1; set <= kAllFeatures; ++set) {
        if (features_name(set) == name) {
            return set;
        }
    }
    return std::nullopt;
}

double best_cost(const std::vector<Trial>& trials) {
    double best = kNoCost;
    for (const Trial& trial : trials) {
        best = trial.outcome.ok() ? std::min(best, trial.outcome.cost) : best;
    }
    return best;
}

} // namespace eyeroof::analysis::tune
