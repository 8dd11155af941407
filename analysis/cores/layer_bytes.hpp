// What a layer hands on to the next one. Used by both ways of dealing layers out among cores.
#pragma once

#include "model/workload/layer.hpp"

namespace eyeroof::analysis {

double bytes_out_of(const model::Layer& layer); // of all tensors that one execution writes

} // namespace eyeroof::analysis
