// Searches many loop nests: each distinct one once, several in parallel, with a common progress
// line.
#pragma once

#include "mapper/search.hpp"

#include <stop_token>
#include <vector>

namespace eyeroof::analysis {

using SearchOutcome = Result<mapper::SearchResult>;

// What makes two nests the same to a search: everything but their names.
bool same_nest(const model::Problem& a, const model::Problem& b);

// outcome[i] belongs to tasks[i], with the errors of mapper::search. Tasks not started before the
// stop are "cancelled"; started ones end with the best so far. The threads of `options` (0: all of
// the machine) are divided over the tasks first, then inside a task. The time limit of `options` is
// per task; `total_s` (0: none) is for all together, and unused time of one task goes to the
// others. Progress reports the number of finished tasks, and value and gap of the search that
// reported last.
std::vector<SearchOutcome> search_nests(const std::vector<mapper::Task>& tasks,
                                        const mapper::SearchOptions& options, double total_s,
                                        const std::stop_token& stop,
                                        const ProgressCallback& progress);

} // namespace eyeroof::analysis
