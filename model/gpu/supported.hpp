// Which data types a GPU has units for, and what to say of a network that needs others.
// Called before a network is predicted, so that a missing type is reported once and with the GPU's
// name.
#pragma once

#include "model/gpu/gpu.hpp"
#include "model/workload/network.hpp"

#include <string>

namespace eyeroof::model {

// "fp32, fp16", in the order of data_type_names(); empty for none.
std::string supported_types(const Gpu& gpu);

// Does the layer compute with its inputs' type? Copies and element-wise operators only move it.
bool needs_units(const Gpu& gpu, const Layer& layer);

// One error "unsupported-type" for each type without units, of the layers that need it: `name` is
// the GPU's.
Diagnostics check_supported(const Network& network, const std::string& name, const Gpu& gpu);

} // namespace eyeroof::model
