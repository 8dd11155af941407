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

// How long searches go on, for commands that examine.
struct EffortOptions {
    std::optional<std::uint64_t> nodes; // of each search; 0: no limit
    std::optional<double> limit_s;      // of all together

    bool operator==(const EffortOptions&) const = default;
};
void set_effort(const EffortOptions& asked, const std::string& mapping,
                study::StudyOptions& wanted);

// --nodes and --time-limit.
void add_effort(CLI::App& app, EffortOptions& effort);

inline constexpr const char* kMappingWords =
    "auto: the best that the dataflow allows, which on row-stationary machines is what its "
    "published rules say and elsewhere is searched for; dataflow: by the dataflow's rules, without "
    "a search; best: by search, with a certificate";

inline constexpr const char* kObjectiveHelp =
    "What to make least: latency, energy, edp (their product), or powers of them such as "
    "energy^2*latency";

} // namespace eyeroof::cli
