// What is wrong with a command line, in our own words where they are clearer than the parser's.
// Asked by run_program, before a command runs.
#pragma once

#include "base/diagnostic.hpp"
#include "cli/command.hpp"

#include <string>
#include <vector>

namespace eyeroof::cli {

// The command that was named last: "hw list" of "eyeroof hw list".
const CLI::App& deepest(const CLI::App& app);

// What the parser stumbled over.
Diagnostics usage_error(const CLI::App& root, const CLI::ParseError& error);

// What the parser took and no one means: numbers that are none, empty words, lists with holes,
// folders that are not there, options that mean nothing without another.
Diagnostics values_found_wrong(const Frame& frame, const GlobalOptions& global,
                               const std::vector<std::string>& arguments);

} // namespace eyeroof::cli
