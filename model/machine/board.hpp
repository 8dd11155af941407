// What a machine draws and costs, of whatever kind.
#pragma once

#include "model/machine/machine.hpp"

namespace eyeroof::model {

// What the board draws at most, watts; 0: not known, as of all accelerators.
double tdp_of(const Machine& machine);
// None of accelerators: their users state their own.
const GpuPrice& price_of(const Machine& machine);

} // namespace eyeroof::model
