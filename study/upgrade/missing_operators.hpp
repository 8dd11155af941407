// Whether a network leaves out what a step spends much of its time on.
// Called by upgrade.
// Knows no machine.
#pragma once

#include "study/program/graph.hpp"

#include <string>

namespace eyeroof::study {

// A sentence where a network of several products has no activation, sum or normalisation of its
// own, or in training nothing that updates weights; "" where it has.
std::string missing_operators(const step::Graph& program);

} // namespace eyeroof::study
