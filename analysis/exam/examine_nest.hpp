// Examines one nest of a layer on an accelerator: selects its mapping by the policy, counts its
// cost, and checks the result against the physical bounds.
#pragma once

#include "analysis/exam/examine.hpp"
#include "base/result.hpp"
#include "mapper/search.hpp"
#include "model/cost/cost.hpp"
#include "model/cost/latency.hpp"
#include "model/eyexam/examine.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// One nest of a layer with everything that was found out about it.
struct NestExam {
    model::Problem problem;
    model::Mapping mapping;
    std::string parameters; // of the dataflow's own rules: "m=96 n=1 e=7 …"
    model::MappingCost cost;
    model::Latency latency;
    model::Chain machine; // bounds of the machine alone
    model::Chain chain;   // bounds that this mapping reaches
    std::vector<std::string> notes;
    std::optional<mapper::Certificate> certificate; // of searched mappings
};

// `given`: the mapping of MappingPolicy::given. Errors: those of the mapping's rules and of the
// search; "internal-bound" when a physical bound is violated (a defect, never an output).
Result<NestExam> examine_nest(const model::Problem& problem, const AcceleratorContext& context,
                              const Question& question, const model::Mapping* given);

} // namespace eyeroof::analysis
