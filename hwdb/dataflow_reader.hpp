// Reads one dataflow of an accelerator's file: which dimensions may lie on which axis, and what
// rests.
#pragma once

#include "hwdb/sourced.hpp"
#include "model/accelerator/accelerator.hpp"

namespace eyeroof::hwdb {

model::Dataflow read_dataflow(const Sourced& entry);

} // namespace eyeroof::hwdb
