// The program as a function: arguments in, exit code out.
// Called by main, by the Python package and by the tests.
#pragma once

#include "cli/context.hpp"

#include <string>
#include <vector>

namespace eyeroof::cli {

// Parses, runs the command that was asked for, and returns the exit code.
int run_program(const std::vector<std::string>& arguments, const Environment& environment);

} // namespace eyeroof::cli
