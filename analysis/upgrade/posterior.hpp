// Combines the prediction, published speedups, and the user's own measurements.
#pragma once

#include "analysis/upgrade/upgrade.hpp"

namespace eyeroof::analysis {

// Moves the speed-up, its spread and the times of an upgrade that holds the model's:
//   ln s = share ln(model) + shift,  sigma^2 = max(sigma_model^2 - explained, noise^2).
// Only between two GPUs (`of_gpus`): else share = 1, shift = 0, and nothing is explained. Neither
// share nor shift makes a GPU slower than one that has no more of anything (model::lacks_nothing).
// A rate that was measured on one side replaces that side's time. A step that runs below its
// prediction has something beside its kernels that a faster GPU does not shorten, so the speed-up
// follows: ln s += share x ln(measured / predicted rate), and the spread falls. Rates measured on
// both sides leave only how far two runs of one program differ.
void weigh_evidence(const UpgradeOptions& options, const model::Network& network,
                    const model::Machine& from, const model::Machine& to, bool of_gpus,
                    Upgrade& upgrade);

} // namespace eyeroof::analysis
