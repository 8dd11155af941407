// The program `eyeroof-dev`: what the makers of eyeroof use to fit its constants and to judge its
// models and searches. It is built with eyeroof and not installed.
// Run by cli/dev/main.cpp and by the tests.
#pragma once

#include "cli/program.hpp"

namespace eyeroof::cli {

const Program& dev_program();

// Its commands.
void add_cross_validate(Frame& frame);
void add_fit_kernels(Frame& frame);
void add_tune_compare(Frame& frame);

} // namespace eyeroof::cli
