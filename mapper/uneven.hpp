// Uneven mappings: the tile of each operand that a store keeps may begin at loops of its own. An
// uneven mapping is an even one of a machine in which the store lies in parts, a level for each
// operand, that share its capacity and its rates (Store::part_of).
#pragma once

#include "base/result.hpp"
#include "mapper/problem_space.hpp"

#include <string>
#include <vector>

namespace eyeroof::mapper {

struct Unfolded {
    // Together with the task's own mappings theirs are all uneven ones: every choice of two or more
    // kept operands of each store, in every order.
    std::vector<Task> tasks;
    std::string stores; // that are in parts: "GLB"
    std::string even;   // why others are not: "spad lies inside the array"; empty: there are none
};

// Errors: "unsupported", where no store can be taken apart, with the reasons.
Result<Unfolded> unfolded(const Task& task);

} // namespace eyeroof::mapper
