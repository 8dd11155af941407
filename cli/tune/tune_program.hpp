// The program `eyeroof-tune`: the command `tune`, which `eyeroof` starts. Its arguments are those
// behind the command's name.
// Run by cli/tune/main.cpp, by the Python package, and by tests.
#pragma once

#include "cli/program.hpp"

namespace eyeroof::cli {

const Program& tune_program();

// An Environment's `start` that starts no process, for programs that have the search themselves.
Result<int> tune_in_this_process(const std::string& program,
                                 const std::vector<std::string>& arguments,
                                 const Environment& environment);

} // namespace eyeroof::cli
