#include "analysis/trials/tuned.hpp"

#include <algorithm>

namespace eyeroof::analysis::tune {

double EndToEnd::steps_s(double Step::*way) const {
    double all = 0.0;
    for (const Step& step : steps) {
        all += step.*way;
    }
    return std::max(all, 1e-15);
}

double EndToEnd::kernel_share() const {
    double kernels = 0.0;
    for (const Step& step : steps) {
        kernels += step.kind == NetKind::product ? step.tuned_s : 0.0;
    }
    return kernels / steps_s(&Step::tuned_s);
}

std::optional<std::size_t> trials_to(const std::vector<Trial>& trials, double best, double share) {
    for (std::size_t n = 0; n < trials.size(); ++n) {
        if (trials[n].outcome.ok() && trials[n].outcome.cost * share <= best) {
            return n + 1;
        }
    }
    return std::nullopt;
}

} // namespace eyeroof::analysis::tune
