// How help and manual write an option: its value's kind, what it may be, what it is without.
#pragma once

#include "cli/command.hpp"

#include <string>

namespace eyeroof::cli {

// "-o, --output FILE"; a positional argument has its name alone. Checks that the parser writes
// behind a kind ("N:INT in [1 - 8]") are left out: limits_of() has them.
std::string name_of(const CLI::Option& option);

// What stands behind the description: " (1 to 8)" and, of an option that has a value without being
// given and does not tell it in words, " [4]".
std::string limits_of(const CLI::Option& option);

} // namespace eyeroof::cli
