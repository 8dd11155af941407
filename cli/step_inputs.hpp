// What the commands about a whole step share: network, machine, host, phase, batch.
// Used by timeline, memory and improve.
// Knows no engine.
#pragma once

#include "cli/exam_options.hpp"
#include "study/formats/catalog.hpp"
#include "study/step/timeline.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::cli {

struct StepOptions {
    std::string network, machine, host, dtype;
    PhaseOptions phase;
    std::vector<std::string> dims, set;
    std::optional<std::int64_t> batch;
    bool in_place = false;
    bool timed = true; // times are asked for, so the GPU needs units for the types
    OutputOptions output;
};

void add_step_options(CLI::App& app, StepOptions& options);

struct StepInputs {
    model::Network network; // as the options want it: batch, type
    std::optional<study::read::Wiring> wiring;
    model::Machine machine;
    model::HostIssue host;
    std::string host_id;
    study::step::GraphOptions graph_options;

    const model::Gpu& gpu() const { return std::get<model::Gpu>(machine.kind); }
};

// All diagnostics at once; "not-a-gpu" for accelerators.
model::Result<StepInputs> load_step(Context& context, const StepOptions& options);

} // namespace eyeroof::cli
