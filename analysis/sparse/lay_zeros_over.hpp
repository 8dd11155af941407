// Converts the report of a layer on the dense equivalent of a machine
// (model/sparse/dense_equivalent.hpp) to that of the machine that skips zeros.
#pragma once

#include "analysis/exam/report.hpp"
#include "analysis/sparse/levels_reader.hpp"
#include "model/sparse/dense_equivalent.hpp"
#include "model/sparse/step.hpp"

namespace eyeroof::analysis {

// `report` comes from study::run on `dense equivalent.machine` and is changed in place. Errors:
// those of the nests' costs; the report is then of no use.
Diagnostics lay_zeros_over(LayerReport& report, const SparseLevels& machine,
                           const model::sparse::DenseEquivalent& dense,
                           const model::sparse::Densities& densities);

} // namespace eyeroof::analysis
