// Whether a network lacks operators that take much of the time of a step.
#pragma once

#include "analysis/program/graph.hpp"

#include <string>

namespace eyeroof::analysis {

// A sentence where a network of several products has no activation, sum or normalisation of its
// own, or in training nothing that updates weights; "" where it has.
std::string missing_operators(const step::Graph& program);

} // namespace eyeroof::analysis
