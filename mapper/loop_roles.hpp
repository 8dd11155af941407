// Which dimensions may loop in time at which level, for one choice of kept operands.
// Called while a space is built. Depends on neither trips nor orders.
//
// Every mapping has an equal or better one whose loops keep to these roles. A loop that moves
// nothing kept at its level can become the innermost loop of the next level outwards: no tile
// changes its size. What the mapping moves stays the same, or falls, unless
//   - the loop leaves an operand at rest that is kept further in while another loop of its level
//     moves that operand (then the order of the two matters);
//   - it crosses trips in space of its own dimension, so that other windows lie side by side, or,
//     where sizes do not divide evenly, another number of trips has work;
//   - units hand windows on (Timeloop's counting): a loop in time between the one that moves the
//     window and the store that it fills ends that, outside the array or inside;
//   - fewer returning sums cost more, because each of many lanes saves a read when it starts from
//     zero;
//   - the time of step 7 counts, which may fall when a tile moves more often.
// In these cases the loop has a role at its own level. docs/mapper.md has the argument in full.
#pragma once

#include "mapper/problem_space.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace eyeroof::mapper {

inline constexpr std::size_t kRoleLevels = 10; // kMaxLevels of space.hpp

// The roles of a dimension at a level, as bits; 0: its loop is that of the next level outwards.
enum Role : std::uint8_t {
    kAnchor = 1,      // of use whatever else loops there
    kOwnSpace = 2,    // an anchor where the same dimension has trips in space right above
    kLeans = 4,       // of use only beside an anchor
    kLeansOnSums = 8, // … and only while returning fewer sums costs more
};

struct LoopRoles {
    std::array<std::array<std::uint8_t, model::kDims>, kRoleLevels> at{};
    // Blocks in which the loop may run that makes units hand input windows on: to those beside them
    // under Timeloop's counting, or over networks that forward.
    std::array<bool, kRoleLevels> hands_on{};

    // May so many lanes add to one sum that returning fewer of them costs more?
    bool many_lanes = false;

    std::uint8_t of(std::size_t level, model::Dim d) const { return at[level][model::index(d)]; }
};

LoopRoles loop_roles(const Task& task, const std::vector<model::OperandSet>& keeps);

// Trips in space that a dimension may have at a level, at most.
Count most_in_space(const Task& task, const std::vector<model::OperandSet>& keeps,
                    std::size_t level, model::Dim d);

// Has the dimension windows that overlap along it: more than one position, and more than one tap?
bool has_windows(const model::Problem& problem, model::Dim d);

} // namespace eyeroof::mapper
