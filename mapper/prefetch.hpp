// Cases of step 7: the tiles of an operand in a store that has one buffer arrive early when the
// stores further in hold the whole of them, and late otherwise. Neither bounds nor trees tell the
// two apart before all trips are known, and a bound for both is as low as the lower one; so that a
// space is searched in cases, one for each operand and store.
#pragma once

#include "mapper/problem_space.hpp"

#include <cstddef>
#include <vector>

namespace eyeroof::mapper {

inline constexpr std::size_t kPrefetchLevels = 10; // kMaxLevels of space.hpp

// By level: operands whose tiles there are taken to arrive early, and those taken to be late.
struct PrefetchCase {
    std::array<model::OperandSet, kPrefetchLevels> early{};
    std::array<model::OperandSet, kPrefetchLevels> late{};
};

struct Split;

// The first level from this one on that keeps the operand; the number of levels when none does.
std::size_t keeping_from(const std::vector<model::OperandSet>& keeps, std::size_t from,
                         model::Operand o);

// Every mapping that keeps these operands belongs to at least one of the cases; one that leaves all
// open where the time of step 7 does not count or there would be more than `most` cases.
std::vector<PrefetchCase>
prefetch_cases(const Task& task, const std::vector<model::OperandSet>& keeps, std::size_t most);

// May this split of a dimension be part of a mapping of the case? (Early tiles are not cut further
// on their way to the next store.)
bool suits(const Task& task, const std::vector<model::OperandSet>& keeps,
           const PrefetchCase& prefetch, model::Dim dim, const Split& split);

} // namespace eyeroof::mapper
