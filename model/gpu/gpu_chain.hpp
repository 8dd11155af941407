// The seven steps of a layer on a GPU, of the library's kernel and of the best one.
#pragma once

#include "model/gpu/predict.hpp"

namespace eyeroof::model {

// Fills steps, machine_steps, step6_s, macs, units, clock_hz and the limiter of a prediction whose
// time_s and launch_s are known, and raises time_s to the step-6 time where the constants would
// undercut it; with Detail::time only what that contains. Cycles of the pipe's clock that step k
// leaves at least:
//   1: 1      2: ceil(k / splits)      3: MACs / units
//   4: ceil(ctas / SMs) tm tn ceil(k / splits) / (units / SMs) / alignment share
//   5: as 4, over the share of cycles that the CTAs an SM holds can fill (occupancy.hpp), where
//      that is less than the alignment's
//   6: max(5, bytes ((1 - r)/B + r/L2), ctas (tm + tn) k/splits bytes / L2)
//   7: time; the machine's: its step 6 and the launch
// MACs are those of the algorithm; B the data sheet's bandwidth; L2 what the ports of the SMs can
// take (l2_port_bandwidth), no fitted share; r what stays in L2.
void set_chains(const Gpu& gpu, const Layer& layer, const Work& work, const KernelChoice& kernel,
                Detail detail, GpuPrediction& prediction);

} // namespace eyeroof::model
