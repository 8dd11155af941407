// The searches that the exact one is judged against: they see the same spaces and costs, and prove
// nothing.
#pragma once

#include "mapper/exact.hpp"

namespace eyeroof::mapper {

ExactOutcome search_baseline(const Task& task, const std::vector<Space>& spaces,
                             const SearchOptions& options, std::stop_token stop,
                             const ProgressCallback& progress);

} // namespace eyeroof::mapper
