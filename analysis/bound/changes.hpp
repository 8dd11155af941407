// Other ways to run the same program.
#pragma once

#include "analysis/bound/bound.hpp"

#include <stop_token>
#include <vector>

namespace eyeroof::analysis::bound {

// Compiled, captured, both, with channels last, and in 16 bits: those that differ from what is
// asked, the fastest first. None on accelerators and host processors.
std::vector<Change> changes_of(const Question& question, const std::stop_token& stop);

} // namespace eyeroof::analysis::bound
