// A layer's mapping as editable text, and the report with the edited mapping.
#pragma once

#include "analysis/exam/report.hpp"
#include "analysis/exam/run.hpp"
#include "base/progress.hpp"
#include "base/result.hpp"
#include "mapper/search.hpp"

#include <optional>
#include <stop_token>
#include <string>

namespace eyeroof::analysis {

// The mapping of a layer's nest in the form of `eyeroof map`; empty where there is none.
std::string mapping_text(const model::Machine& machine, const LayerReport& layer,
                         std::size_t nest = 0);

// Errors: those of the mapping reader; "unsupported" for machines without mappings.
Result<model::Mapping> parse_mapping(const model::Machine& machine, std::string text,
                                     const std::string& file = "mapping");

// The report with this one layer examined under the mapping of one of its nests, totals and losses
// again. Errors: every rule that the mapping violates; "unsupported" for a layer without mappings.
Result<Report> with_mapping(const Report& report, std::size_t layer, const Question& question,
                            const model::Mapping& mapping, std::stop_token stop = {},
                            std::size_t nest = 0);

// A mapping that was edited, as a session keeps it.
struct MappingEdit {
    std::string layer;
    std::size_t nest = 0;
    std::string text;    // in the form of `eyeroof map`
    std::size_t nth = 0; // among the layers of this name

    bool operator==(const MappingEdit&) const = default;
};

// The row of the report that an edit is of, by name and order; nullopt where there is none. And the
// order of a row among those of its name.
std::optional<std::size_t> row_of(const Report& report, const MappingEdit& edit);
std::size_t nth_of(const Report& report, std::size_t row);

// Applies all edits to their layers. Edits that cannot be parsed, are illegal, or belong to layers
// that the report does not have are skipped, each with a diagnostic.
Diagnostics apply_edits(Report& report, const Question& question,
                        const std::vector<MappingEdit>& edits);

// What the nests of a layer are called: "attention scores"; one name a nest.
std::vector<std::string> nest_names(const LayerReport& layer);

// The mapping of a layer that minimises an objective under the dataflow's rules, looked for in the
// whole space, with progress, the best so far and the gap. Stopped early it gives the best so far,
// with its gap. Errors: those of mapper::search; "unsupported".
Result<mapper::SearchResult> search_mapping(const Question& question, const LayerReport& layer,
                                            const mapper::Objective& objective,
                                            std::stop_token stop = {},
                                            const ProgressCallback& progress = {},
                                            std::size_t nest = 0);

// "2.31 ms instead of 2.76 ms (1.19 times faster), 12 % more energy".
std::string difference_text(const LayerReport& before, const LayerReport& after);

} // namespace eyeroof::analysis
