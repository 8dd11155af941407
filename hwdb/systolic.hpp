// The parametric systolic array: "systolic:32x32" (rows by columns), "systolic:32x32:os".
#pragma once

#include "base/result.hpp"
#include "model/machine/machine.hpp"

#include <string_view>

namespace eyeroof::hwdb {

bool is_systolic_name(std::string_view name); // begins with "systolic:"

// Rows and columns of one-MAC PEs behind an ideal memory, so that only the array limits: each cycle
// one word enters each row and each column, and one partial sum leaves each column. Rows and
// columns take what SCALE-Sim's closed form puts there (Samajdar et al., arXiv:1811.02883):
//   ws: rows C R S, columns K;   os: rows N P Q, columns K;   is: rows C R S, columns N P Q.
// Without a dataflow in the name it supports all three, ws first. 8-bit words, 32-bit sums, 1 GHz.
Result<model::Machine> systolic_array(std::string_view name);

} // namespace eyeroof::hwdb
