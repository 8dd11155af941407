// A program as a process: its environment, its terminal, its signals, and its place on disk.
// Compiled into each program and Python's extension, not into the library. The only place of the
// command line that reads the environment; everything else gets it as values.
#pragma once

#include "cli/program.hpp"

namespace eyeroof::cli {

// Runs the command that the arguments name. Returns the exit code; after a signal, 128 and the
// signal. `adapt` changes the environment where the program lies in another one (Python).
int run_process(int argc, char** argv, const Program& program,
                const std::function<void(Environment&)>& adapt = {});

} // namespace eyeroof::cli
