// The active PEs of a mapping, and their share of its compute steps: the figures behind the picture
// of the array.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/accelerator/mapping.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

// The array laid out flat: axes alternate between columns and rows, inner levels within outer ones.
struct ArrayWork {
    Count columns = 1, rows = 1;
    std::string column_axes, row_axes; // "cluster.x, x"
    // Row by row: the share of the nest's compute steps in which the unit has a MAC to do. 0 is
    // idle, 1 always active, between them fragmented: partial tiles leave it without work at times.
    std::vector<double> active;
    Count steps = 1; // compute steps of the whole nest

    double at(Count column, Count row) const {
        return active[static_cast<std::size_t>(row * columns + column)];
    }
};

inline constexpr Count kMostUnitsDrawn = 1 << 18;

// The sum of `active` times `steps` is the nest's MACs. Arrays above kMostUnitsDrawn units give an
// empty `active`.
ArrayWork array_work(const model::Problem& problem, const model::Accelerator& machine,
                     const model::Mapping& mapping);

} // namespace eyeroof::report
