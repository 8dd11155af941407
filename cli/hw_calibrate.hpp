// The subcommands `hw calibrate` and `hw cross-validate`.
// Added by cli/hw.cpp.
#pragma once

#include "cli/command.hpp"

namespace eyeroof::cli {

void add_hw_calibrate(Frame& frame, CLI::App& hw);
void add_hw_cross_validate(Frame& frame, CLI::App& hw);

} // namespace eyeroof::cli
