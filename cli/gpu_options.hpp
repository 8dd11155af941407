// Options that the GPU commands share.
// Used by cli/validate.cpp, cli/upgrade.cpp and cli/calibrate.cpp.
// Knows no single command.
#pragma once

#include "cli/command.hpp"
#include "model/gpu/calibration.hpp"

#include <string>

namespace eyeroof::cli {

inline void add_launch(CLI::App& app, std::string& launch) {
    add_choice(app, "--launch", launch, {"eager", "stream", "kernel", "graph"},
               "What a time holds: a framework's call, back-to-back calls, the kernel, a graph's "
               "node");
}

// The same for whole networks, which a framework may compile.
inline void add_network_launch(CLI::App& app, std::string& launch) {
    add_choice(app, "--launch", launch, {"eager", "stream", "kernel", "graph", "compiled"},
               "How kernels are launched: by a framework's calls, back to back, not at all (their "
               "own time), as a graph's nodes, or pointwise operators fused by a compiler");
}

// One of the four names that add_launch admits.
inline model::Launch launch_from_name(const std::string& name) {
    for (std::size_t i = 0; i < model::kLaunchModes; ++i) {
        if (model::launch_name(static_cast<model::Launch>(i)) == name) {
            return static_cast<model::Launch>(i);
        }
    }
    return model::Launch::stream;
}

} // namespace eyeroof::cli
