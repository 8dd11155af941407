// The subcommand `hw calibrate`.
// Added by cli/hw.cpp.
#pragma once

#include "cli/command.hpp"

namespace eyeroof::cli {

void add_hw_calibrate(Frame& frame, CLI::App& hw);

} // namespace eyeroof::cli
