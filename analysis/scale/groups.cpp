// Names of algorithms, members of a group on the levels of a fabric, and bandwidths in
// words.
#include "analysis/scale/collectives.hpp"
#include "base/checked.hpp"

#include <algorithm>
#include <array>

namespace eyeroof::analysis {

using model::Fabric;
using model::FabricLevel;

namespace {

constexpr std::array<std::string_view, 11> kAlgorithmNames = {
    "ring",   "tree",           "double-tree", "halving-doubling", "hierarchical", "in-switch",
    "server", "sharded-server", "one-shot",    "two-shot",         "direct"};

} // namespace

std::string_view algorithm_name(Algorithm algorithm) {
    return kAlgorithmNames[static_cast<std::size_t>(algorithm)];
}

std::optional<Algorithm> algorithm_from_name(std::string_view name) {
    const auto found = std::find(kAlgorithmNames.begin(), kAlgorithmNames.end(), name);
    return found == kAlgorithmNames.end()
               ? std::nullopt
               : std::optional(static_cast<Algorithm>(found - kAlgorithmNames.begin()));
}

std::vector<std::string> algorithm_names() {
    return {kAlgorithmNames.begin(), kAlgorithmNames.end() - 1};
}

Group place_group(const Fabric& fabric, Count size, Count stride, Count devices) {
    Group group;
    group.size = std::max<Count>(size, 1);
    Count unit = 1;   // devices in a unit of this level
    Count inside = 1; // members of the group in it
    for (const FabricLevel& level : fabric.levels) {
        const Count active = std::max<Count>(std::min(unit, devices), 1);
        group.members.push_back(inside);
        group.sharing.push_back(std::max<Count>(active / inside, 1));
        const Count above = level.size == 0
                                ? model::kMaxDevices
                                : checked_mul(unit, level.size).value_or(model::kMaxDevices);
        const Count most =
            std::clamp<Count>(above / std::max<Count>(stride, 1), inside, group.size);
        const Count units = ceil_div(group.size, most); // as many in each, where that divides
        const Count reach = group.size % (units * inside) == 0 ? group.size / units : most;
        const bool last = &level == &fabric.levels.back();
        const Count wanted = last ? group.size : reach;
        group.counts.push_back((wanted + inside - 1) / inside);
        inside = std::max(inside, std::min(wanted, group.size));
        unit = above;
    }
    return group;
}

double algorithm_bytes_per_s(double bytes, double time_s) {
    return time_s > 0.0 ? bytes / time_s : 0.0;
}

double bus_bytes_per_s(Collective collective, Count n, double bytes, double time_s) {
    const double part = static_cast<double>(n - 1) / static_cast<double>(std::max<Count>(n, 1));
    const double factor = collective == Collective::all_reduce  ? 2.0 * part
                          : collective == Collective::broadcast ? 1.0
                                                                : part;
    return algorithm_bytes_per_s(bytes, time_s) * factor;
}

} // namespace eyeroof::analysis
