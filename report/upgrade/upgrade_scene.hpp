// Upgrades side by side: the heaviest layers on the old GPU and on each new one; and the speedup
// over batch sizes and precisions.
// Made from upgrades; painted by the upgrade view.
#pragma once

#include "analysis/upgrade/upgrade.hpp"
#include "report/draw/drawing.hpp"

#include <vector>

namespace eyeroof::report {

// Time of the network's heaviest layers, all executions together, as many as there is room for. All
// upgrades are of the same network or fleet on the same old GPU; a fleet shows its networks.
Drawing make_upgrade_bars(const std::vector<analysis::Upgrade>& upgrades, const Canvas& canvas);

// Speed-up of each point of one upgrade's sweep with its interval, a line a pair of precisions, and
// the speed-up that is needed. Hollow where the network does not fit the new GPU's memory.
Drawing make_sweep(const analysis::Upgrade& upgrade, const Canvas& canvas);

} // namespace eyeroof::report
