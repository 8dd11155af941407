// The program `eyeroof-dev`: the fit of constants of serving libraries' kernels. It is built with
// eyeroof and not installed.
// Run by cli/dev/main.cpp and by the tests.
#pragma once

#include "cli/program.hpp"

namespace eyeroof::cli {

const Program& dev_program();

void add_fit_kernels(Frame& frame);

} // namespace eyeroof::cli
