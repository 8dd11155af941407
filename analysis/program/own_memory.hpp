// The memory of a machine of any kind.
#pragma once

#include "model/machine/machine.hpp"

namespace eyeroof::analysis::step {

// Bytes: of a GPU device_bytes(); of an accelerator its outermost level, where that has a capacity;
// 0: it has no memory of its own.
double own_bytes(const model::Machine& machine);
// What of it is there for tensors, as capacity_of() has it of a GPU.
Count own_capacity(const model::Machine& machine);

} // namespace eyeroof::analysis::step
