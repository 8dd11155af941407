// All options of all commands as one Markdown table, made from the command tree.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace eyeroof::cli {

// One row for each option and meaning: an option that means the same in several commands names
// them.
std::string option_table(const CLI::App& root);

} // namespace eyeroof::cli
