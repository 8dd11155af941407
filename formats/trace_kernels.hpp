// The layer of one execution of an operator that no table knows, from its kernels' names and grids.
#pragma once

#include "formats/trace_network.hpp"
#include "profiles/measurement.hpp"
#include "profiles/operator_layer.hpp"

#include <span>

namespace eyeroof::formats {

struct FoundLayer {
    profiles::OperatorLayer work;
    Found found = Found::exact;
    std::string why;
};

// Of the launches of one execution; nullopt where nothing is known. `op` may be null.
std::optional<FoundLayer> layer_of_call(const profiles::Profile& profile,
                                        const profiles::Operator* op,
                                        std::span<const std::size_t> launches);

// Whether one of its kernels may multiply, by their names.
bool may_multiply(const profiles::Profile& profile, std::span<const std::size_t> launches);

} // namespace eyeroof::formats
