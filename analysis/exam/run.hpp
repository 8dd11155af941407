// The entry point of the engines: examines a question and returns the report.
#pragma once

#include "analysis/exam/best_mappings.hpp"
#include "analysis/exam/report.hpp"
#include "analysis/scenario/question.hpp"
#include "base/progress.hpp"
#include "base/result.hpp"

#include <stop_token>

namespace eyeroof::analysis {

// Errors: those of lower(); a layer's or machine's own; "unsupported" for a dataflow that the
// machine does not have; "uncosted" where the network has operators that cannot be costed and the
// scenario does not allow it; "cancelled".
Result<Report> run(const Question& question, std::stop_token stop = {},
                   const ProgressCallback& progress = {});

// The mappings of a report, for run_near(); none where nothing was searched.
KnownMappings known_mappings(const Report& report);

// As run(), of a question that is close to one whose mappings are known: searches start from them
// and are short. Other policies map as run() does.
Result<Report> run_near(const Question& question, const KnownMappings& known,
                        std::stop_token stop = {});

// Of a network and a machine in memory.
Result<Report> run(const model::Network& network, const model::Machine& machine,
                   const Scenario& scenario = {}, std::stop_token stop = {},
                   const ProgressCallback& progress = {});

// What a report says of its question: scenario, words, batch, host. For reports put together
// otherwise.
void describe(const Question& question, Report& report);

// The most samples of a step that fit the device: a multiple of the network's own batch, at most
// 2^20 times it; 0 where not one batch fits. Nothing where it was not searched for: more than
// 20,000 operators, a device without memory of its own, or a stop. Errors: none.
std::optional<Count> largest_batch(const Question& question, const std::stop_token& stop = {});
// The same within so many bytes.
std::optional<Count> largest_batch(const Question& question, Count limit,
                                   const std::stop_token& stop = {});

// Completes the report's memory with the largest batch that fits, which takes some thirty
// lowerings.
void find_largest_batch(Report& report, const Question& question, const std::stop_token& stop = {});

} // namespace eyeroof::analysis
