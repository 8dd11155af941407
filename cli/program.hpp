// A program as a function: arguments in, exit code out.
#pragma once

#include "cli/context.hpp"

#include <functional>
#include <string>
#include <vector>

namespace eyeroof::cli {

class Frame;

// What a program is called, what its help says first, and its commands.
struct Program {
    std::string name, summary, examples;
    std::function<void(Frame&)> add_commands;
    std::string command = {}; // its only one, which the arguments do not name; empty: they do
};
// The commands of cli/commands.def.
const Program& eyeroof_program();

// Parses, runs the command that was asked for, and returns the exit code.
int run_program(const std::vector<std::string>& arguments, const Environment& environment,
                const Program& program = eyeroof_program());

} // namespace eyeroof::cli
