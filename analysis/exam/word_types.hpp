// The data types of a network on an accelerator: words have the widths of the machine's
// description, whatever the types of the layers.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/machine/machine.hpp"
#include "model/workload/network.hpp"

#include <optional>

namespace eyeroof::analysis {

// Whether the machine has a rate of its own for products of the type.
bool computes_with(const model::Machine& machine, model::DataType type);

// An error "unsupported-type" when the options ask for a type whose words are not the machine's; a
// warning "other-words" when the layers bring such types themselves. A warning "max-filter" of
// filters that are larger than the machine's control supports.
Diagnostics check_types(const model::Network& network, const model::Machine& machine,
                        const model::Accelerator& accelerator,
                        std::optional<model::DataType> asked);

} // namespace eyeroof::analysis
