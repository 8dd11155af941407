// Options that every command with a search for mappings has.
// Used by map and exam.
// Knows no engine.
#pragma once

#include "mapper/problem_space.hpp"
#include "model/base/result.hpp"

#include <optional>
#include <string>

namespace eyeroof::cli {

// "latency", "energy", "edp", or a product of powers such as "energy^2*latency" (the order is free,
// "delay" is latency too). Errors: "usage" with the place in the text.
model::Result<mapper::Objective> parse_objective(const std::string& text);

// "ws" … "rs-plus", "rs+"; nothing for "free", "any" and the empty text.
std::optional<model::DataflowKind> dataflow_named(const std::string& text);
bool frees_dataflow(const std::string& text);

inline constexpr const char* kObjectiveHelp =
    "What to make least: latency, energy, edp (their product), or powers of them such as "
    "energy^2*latency";

} // namespace eyeroof::cli
