#include "analysis/scenario/scenario.hpp"

#include <array>

namespace eyeroof::analysis {

namespace {

template <class Enum, std::size_t N>
std::string_view name_in(const std::array<std::string_view, N>& names, Enum value) {
    return names[static_cast<std::size_t>(value)];
}

} // namespace

std::uint64_t usual_search_nodes(MappingPolicy policy) {
    constexpr std::uint64_t kNodes = 200'000;
    constexpr std::uint64_t kNodesOfBest = 1'500'000;
    return policy == MappingPolicy::best ? kNodesOfBest : kNodes;
}

std::uint64_t search_nodes_of(const Scenario& scenario) {
    const bool timed = scenario.search_limit_s > 0.0;
    return scenario.search_nodes.value_or(timed ? 0 : usual_search_nodes(scenario.policy));
}

std::string_view operators_name(Operators operators) {
    constexpr std::array<std::string_view, 3> names = {"all", "fused", "products"};
    return name_in(names, operators);
}

std::string_view regime_name(Regime regime) {
    constexpr std::array<std::string_view, 5> names = {"usual", "mixed", "fp32-gradients", "pure",
                                                       "8bit"};
    return name_in(names, regime);
}

std::string_view copies_name(Copies copies) {
    constexpr std::array<std::string_view, 5> names = {"none", "batch", "all", "staged",
                                                       "staged-all"};
    return name_in(names, copies);
}

std::string_view attention_name(AttentionForm form) {
    constexpr std::array<std::string_view, 2> names = {"written", "fused"};
    return name_in(names, form);
}

std::string_view policy_name(MappingPolicy policy) {
    constexpr std::array<std::string_view, 4> names = {"dataflow", "best", "auto", "given"};
    return name_in(names, policy);
}

} // namespace eyeroof::analysis
