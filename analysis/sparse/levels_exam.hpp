// Examines a network on a machine of levels that skips zeros, in the same way as a dense network:
// the same mapping search, and the same seven steps. The entry point of `eyeroof exam --density`
// for such machines.
#pragma once

#include "analysis/exam/run.hpp"
#include "analysis/sparse/levels_reader.hpp"
#include "model/sparse/step.hpp"

#include <vector>

namespace eyeroof::analysis {

// The report of study::run with what zeros change:
//   macs, steps, utilization   MACs that take a cycle: with skipping the effectual ones. Steps 4
//   and
//                              5 fall with partial lanes, step 7 with PEs that wait
//   time, traffic, energy      as they are; traffic in the formats' bytes, metadata among them
//   certificates               of expected counts: lanes and waiting, which only add, are not in
//                              the search. Bounds stay bounds.
//   notes                      densities, MACs done of all, both losses
// The question's machine is the levels'. `densities`: one for each layer of
// lowered_network(question). Where all densities are 1 the report is that of study::run. Errors:
// those of study::run.
Result<Report> run_sparse(const Question& question, const SparseLevels& machine,
                          const std::vector<model::sparse::Densities>& densities,
                          std::stop_token stop = {}, const ProgressCallback& progress = {});

} // namespace eyeroof::analysis
