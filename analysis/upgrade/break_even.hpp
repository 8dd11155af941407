// The batch and the host at which the verdict of one network changes.
#pragma once

#include "analysis/upgrade/purchase.hpp"

#include <vector>

namespace eyeroof::analysis {

// The nearest batch, the network's own times a power of two and the same on both GPUs, at which the
// speed-up gives another verdict; where none does, the range of what all that fit give. Nothing for fleets, divided networks, and measured throughputs.
std::vector<Flip> batch_flips(const PurchaseQuestion& question, const PurchaseCandidate& candidate,
                              const PurchaseAnswer& answer);

// How much faster or slower the new GPU's host would have to launch, within a factor of 8. Nothing
// where no such host turns the verdict, as with captured graphs.
std::vector<Flip> host_flips(const PurchaseQuestion& question, const PurchaseCandidate& candidate,
                             const PurchaseAnswer& answer);

} // namespace eyeroof::analysis
