// The seven steps for spatial accelerators, one file each; examine.cpp strings them into chains.
// Bounds are in MAC/cycle.
//
// Source of all steps: Eyexam (arXiv:1807.07928v1; IEEE SSC Magazine, Summer 2020, Table 2).
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/cost/cost.hpp"
#include "model/cost/latency.hpp"
#include "model/eyexam/chain.hpp"
#include "model/eyexam/spatial_fit.hpp"
#include "model/workload/problem.hpp"

namespace eyeroof::model::eyexam {

// Step 1, layer shape and size: P1 = N G K C P Q R S, everything in space, nothing in time.
StepBound workload(const Problem& problem);

// Step 2, dataflow: P2 = product of size(d) over the dimensions d that may be spread in space.
StepBound dataflow(const Problem& problem, DimSet spatial);

// Step 3, number of units: P3 = P2 / ceil(P2 / units), the average of active units over the passes.
StepBound units(const StepBound& before, Count units);

// Step 4, physical dimensions: the best tiling of dimensions over the axes; see best_spatial_fit.
StepBound dimensions(const std::vector<FitAxis>& axes, const SpatialFit& fit);

// Step 5, storage, best over mappings: step 4 again, over the tilings whose smallest possible tile
// fits every store that cannot be bypassed.
StepBound storage(const Problem& problem, const Accelerator& accelerator,
                  const std::vector<FitAxis>& axes, DimSet whole, const SpatialFit& unconstrained);

// Step 5, storage, of one mapping: the units that its tiles keep busy, MACs / compute steps.
StepBound storage_of(const MappingCost& cost, const StepBound& before);

// Step 6, average bandwidth, best over mappings: every word of an operand crosses every network
// between its home and the units at least once, P6 = min(P5, min_e BW_e * MACs / data_e). Under
// Timeloop's counting stores alone have a bandwidth.
StepBound average_bandwidth(const Problem& problem, const Accelerator& accelerator,
                            const StepBound& before, Counting counting = Counting::eyeroof);

// Step 6, average bandwidth, of one mapping: MACs / max over units, stores and networks of the
// cycles that each needs for what this mapping asks of it (perfect overlap).
StepBound average_bandwidth_of(const MappingCost& cost, const StepBound& before);

// Step 7, instantaneous bandwidth, best over mappings: the PE pipeline is filled once, which the
// transfers of step 6 may hide: P7 = MACs / max(MACs / P6, MACs / P5 + fill).
StepBound instantaneous_bandwidth(const Problem& problem, const Accelerator& accelerator,
                                  const StepBound& active, const StepBound& before);

// Step 7, instantaneous bandwidth, of one mapping: MACs / latency with ramp-up, drain and stalls.
StepBound instantaneous_bandwidth_of(const Latency& latency, const MappingCost& cost);

} // namespace eyeroof::model::eyexam
