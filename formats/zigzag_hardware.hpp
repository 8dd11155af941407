// ZigZag's and Stream's hardware: one core's memories and array (`memories`, `operational_array`),
// or a system of cores in files of their own (`cores`). A system with several cores that compute is
// refused: `cores` takes packages.
//
// A memory is shared along its served dimensions and repeated along all others. Memories whose
// served dimensions contain one another form the levels; one that fits no such chain is taken as
// one store of all its instances at the next level outwards, and a warning says so. I1 is taken for
// inputs, I2 for weights. A read or write of `bandwidth_max` bits costs r_cost or w_cost pJ; sizes
// are bits. Latencies and areas are passed over.
#pragma once

#include "model/machine/machine.hpp"

#include <string>
#include <string_view>

namespace eyeroof::formats {

bool is_zigzag_hardware(std::string_view text);

// `file` also says where the cores of a system lie. Errors: "unsupported", "missing-key",
// "not-a-machine"; each with its line.
Result<model::Machine> parse_zigzag_hardware(std::string text, const std::string& file);

} // namespace eyeroof::formats
