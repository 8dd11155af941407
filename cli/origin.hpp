// What a command's HTML or Markdown says of its own making.
#pragma once

#include "cli/command.hpp"
#include "model/machine/machine.hpp"

#include <string>
#include <vector>

namespace eyeroof::cli {

// The line that asks the same again, made from what was parsed. Left out is what the answer does
// not depend on: where it goes, colours, threads.
std::string command_line(const CLI::App& app);

// The text with its origin where `format` is "html" or "md"; otherwise as it is.
std::string with_origin(std::string text, const std::string& format, const std::string& command,
                        std::vector<model::Machine> machines);

} // namespace eyeroof::cli
