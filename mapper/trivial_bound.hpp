// What no mapping of a task falls below, whatever it keeps where: cycles by the first six steps.
#pragma once

#include "mapper/problem_space.hpp"

namespace eyeroof::mapper {

// All units busy all the time (as least_steps()), and each word of each operand crossing every
// network inside its innermost home once, all instances sharing the words.
double trivial_cycles(const Task& task);

} // namespace eyeroof::mapper
