// Searches many loop nests: each different one a single time, several in parallel, with one line of
// progress for all.
// Called by map_network and by the exam's search for best mappings.
#pragma once

#include "mapper/search.hpp"

#include <stop_token>
#include <vector>

namespace eyeroof::analysis {

using SearchOutcome = Result<mapper::SearchResult>;

// What makes two nests the same to a search: everything but their names.
bool same_nest(const model::Problem& a, const model::Problem& b);

// outcome[i] is of tasks[i], with the errors of mapper::search, and "cancelled" for those that were
// not begun before the stop; those that were end with the best so far. The threads of `options` (0:
// as many as the machine has) are shared by the tasks first, then inside a task. Its time limit is
// of one task; `total_s` (0: none) is of all together, and what one task leaves of its share goes
// to the others. Progress tells the tasks that are done, and value and gap of the search that spoke
// last.
std::vector<SearchOutcome> search_nests(const std::vector<mapper::Task>& tasks,
                                        const mapper::SearchOptions& options, double total_s,
                                        const std::stop_token& stop,
                                        const ProgressCallback& progress);

} // namespace eyeroof::analysis
