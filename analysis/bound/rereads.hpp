// Readings that the chip's size forces however operators are fused: see bound.hpp.
#pragma once

#include "analysis/program/lower.hpp"

#include <algorithm>

namespace eyeroof::analysis::bound {

// What depends on the whole of a row before any of its results: bytes of a row, and their number.
struct Rows {
    double count = 0.0, bytes = 0.0;

    // A row is read again after its last element was read, but for what the chip may hold of it.
    double again(double chip_bytes) const { return count * std::max(bytes - chip_bytes, 0.0); }
};

Rows rows_of(const model::Layer& layer);

// Bytes of the program's inputs that are read again, whatever is computed twice.
double reread_bytes(const step::Graph& graph, double chip_bytes);

} // namespace eyeroof::analysis::bound
