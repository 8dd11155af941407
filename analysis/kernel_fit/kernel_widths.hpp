// Widths of intervals of kernels' times, from rows that fits without them predicted.
#pragma once

#include "model/gpu/library_cells.hpp"

#include <utility>
#include <vector>

namespace eyeroof::analysis {

// Rows of one cell that a fit without their machine, version, library, or sizes predicted.
struct LeftOut {
    enum class Why { machine, version, library, size };
    struct Row {
        double off = 0.0;   // ln(measured / predicted)
        double times = 1.0; // axes, where sizes are far; else 1
        double plus = 0.0;  // ln, what widens the interval already
    };

    model::LibraryKind kind = model::LibraryKind::product;
    Why why = Why::machine;
    double low = 1.0, high = 1.0; // of measured / predicted, of other shapes of the fit's own rows
    std::vector<Row> rows;
};

// Where eight of ten of the values lie (split conformal: at 0.1 (n + 1) and 0.9 (n + 1)), exp.
std::pair<double, double> kernel_band(std::vector<double> logs);

// What must widen intervals (ln, root of the squares) so that they hold eight rows of ten in the
// mean over the cells; 0 where they do without.
double width_for(const std::vector<const LeftOut*>& cells);

// By kind: of all cells of a kind, or of all kinds where a kind has fewer than three; of machines
// half of each, in squares.
using Distances = decltype(model::LibraryCells::distances);
Distances distances_of(const std::vector<LeftOut>& cells);
// `own` with the width of a machine whose whole family the fit has not seen: from cells that are
// left out by family.
Distances distances_of_families(const std::vector<LeftOut>& cells, Distances own);

} // namespace eyeroof::analysis
