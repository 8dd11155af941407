// From the report of a layer on the dense twin of a machine (model/sparse/twin.hpp) to the one of
// the machine that leaves zeros out. Called by levels_exam.cpp only. Knows no network.
#pragma once

#include "analysis/exam/report.hpp"
#include "analysis/sparse/levels_reader.hpp"
#include "model/sparse/step.hpp"
#include "model/sparse/twin.hpp"

namespace eyeroof::analysis {

// `report` comes from study::run on `twin.machine` and is changed in place. Errors: those of the
// nests' costs; the report is then of no use.
Diagnostics lay_zeros_over(LayerReport& report, const SparseLevels& machine,
                           const model::sparse::Twin& twin,
                           const model::sparse::Densities& densities);

} // namespace eyeroof::analysis
