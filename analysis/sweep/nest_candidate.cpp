#include "analysis/sweep/nest_candidate.hpp"

#include "analysis/exam/nest_figures.hpp"
#include "model/cost/leakage.hpp"

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

NestCandidate candidate_of(const Problem& problem, const Accelerator& accelerator,
                           const Mapping& mapping, const CountedMapping& counts) {
    return {latency_terms(problem, accelerator, mapping, counts.cost),
            counts.transfers,
            counts.cost.compute_steps,
            counts.cost.energy_pj,
            leak_pj_per_cycle(accelerator, mapping),
            outer_bytes_of(problem, accelerator, counts.cost)};
}

LatencyCycles cycles_at(const NestCandidate& candidate, const Accelerator& accelerator) {
    return latency_at(candidate.terms, accelerator,
                      overlapped_cycles(candidate.transfers, candidate.compute_steps, accelerator));
}

NestFigures figures_at(const NestCandidate& candidate, const Accelerator& accelerator,
                       double cycles, double leaking) {
    const double leak = accelerator.gates_idle ? candidate.leak_pj_per_cycle : leaking;
    return {cycles, candidate.energy_pj + leak * cycles, candidate.outer_bytes};
}

} // namespace eyeroof::analysis
