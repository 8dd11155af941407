// The bytes that a layer passes to the next one, for both ways of distributing layers over cores.
#pragma once

#include "model/workload/layer.hpp"

namespace eyeroof::analysis {

double bytes_out_of(const model::Layer& layer); // of all tensors that one execution writes

} // namespace eyeroof::analysis
