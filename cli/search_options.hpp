// Options that every command with a search for mappings has.
// Used by map, exam and roofline.
// Knows no engine.
#pragma once

#include "mapper/problem_space.hpp"
#include "model/base/result.hpp"
#include "study/exam/run.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace eyeroof::cli {

// "latency", "energy", "edp", or a product of powers such as "energy^2*latency" (the order is free,
// "delay" is latency too). Errors: "usage" with the place in the text.
model::Result<mapper::Objective> parse_objective(const std::string& text);

// "ws" … "rs-plus", "rs+"; nothing for "free", "any" and the empty text.
std::optional<model::DataflowKind> dataflow_named(const std::string& text);
bool frees_dataflow(const std::string& text);

// "auto", "best" or "dataflow"; `automatic` for all else.
study::MappingPolicy policy_named(const std::string& text);

// Of all searches together, when the user named none: short for "auto".
double search_limit_s(const std::string& mapping, const std::optional<double>& asked);

// --time-limit, as the commands that examine take it.
void add_time_limit(CLI::App& app, std::optional<double>& limit_s);

inline constexpr const char* kMappingWords =
    "auto: the best that the dataflow allows, which on row-stationary machines is what its "
    "published rules say and elsewhere is searched for; dataflow: by the dataflow's rules, without "
    "a search; best: by search, with a certificate";

inline constexpr const char* kObjectiveHelp =
    "What to make least: latency, energy, edp (their product), or powers of them such as "
    "energy^2*latency";

} // namespace eyeroof::cli
