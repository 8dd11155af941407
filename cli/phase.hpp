// --phase, --optimizer and --operators: whether a network's inference or a step of its training is
// run, and how many of its operators for themselves.
// Shared by exam, roofline, import and upgrade.
// Knows no machine.
#pragma once

#include "cli/command.hpp"
#include "study/exam/operators.hpp"
#include "study/exam/training.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::cli {

struct PhaseOptions {
    std::string phase = "inference";
    std::string optimizer = "sgd_momentum";
    std::string operators = {}; // empty: as the machine has them
};

void add_phase(CLI::App& app, PhaseOptions& options);

std::optional<study::Operators> operators_of(const PhaseOptions& options);

// Nothing for inference.
std::optional<study::TrainingOptions> training_of(const PhaseOptions& options);

} // namespace eyeroof::cli
