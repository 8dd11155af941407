// One legal mapping of a nest, without bandwidths: what it costs at those of a machine is a matter
// of a few products.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/cost/latency_terms.hpp"

#include <vector>

namespace eyeroof::analysis {

struct NestFigures {
    double cycles = 0.0;
    double energy_pj = 0.0;
    double outer_bytes = 0.0;
};

struct NestCandidate {
    model::LatencyTerms terms;
    std::vector<model::PortTraffic> transfers;
    Count compute_steps = 0;
    double energy_pj = 0.0;         // without what leaks
    double leak_pj_per_cycle = 0.0; // of a machine that gates idle units
    double outer_bytes = 0.0;

    bool operator==(const NestCandidate&) const = default;
};

NestCandidate candidate_of(const model::Problem& problem, const model::Accelerator& accelerator,
                           const model::Mapping& mapping, const model::CountedMapping& counts);

model::LatencyCycles cycles_at(const NestCandidate& candidate,
                               const model::Accelerator& accelerator);

// `leaking`: pJ per cycle of a machine whose idle units leak.
NestFigures figures_at(const NestCandidate& candidate, const model::Accelerator& accelerator,
                       double cycles, double leaking);

} // namespace eyeroof::analysis
