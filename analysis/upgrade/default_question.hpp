// The defaults of `upgrade`: training in mixed precision, and additionally inference at one sample
// and at many.
#pragma once

#include "analysis/upgrade/purchase.hpp"

namespace eyeroof::analysis {

// 16-bit types on both GPUs: the network's own where the GPU has units for it, else fp16, else its
// own. The member has scenarios of its own already.
void compute_mixed(FleetMember& member, const model::Machine& from, const model::Machine& to);
// The same, training: by momentum where convolutions do most of the work, else by Adam.
void train_mixed(FleetMember& member, const model::Machine& from, const model::Machine& to);

// Inference of the fleet's networks at batch 1 and at the largest batch that fits both.
std::vector<PurchaseQuestion::Beside> inference_beside(const PurchaseQuestion& question);

} // namespace eyeroof::analysis
