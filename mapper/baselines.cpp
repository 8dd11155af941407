#include "mapper/baselines.hpp"
namespace eyeroof::mapper {
ExactOutcome search_baseline(const Task&, const std::vector<Space>&, const SearchOptions&,
                             std::stop_token, const model::ProgressCallback&) {
    return {};
}
model::Diagnostics explain_infeasible(const Task&) {
    return {};
}
} // namespace eyeroof::mapper
