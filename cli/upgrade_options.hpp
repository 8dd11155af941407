// The options of `eyeroof upgrade`: what they hold, how they are added, and what they ask together
// with the file of --fleet.
#pragma once

#include "analysis/upgrade/fleet_file.hpp"
#include "cli/scenario_options.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::cli {

struct UpgradeOptions {
    ScenarioOptions scenario;
    std::vector<std::string> networks; // NAME, or NAME@WEIGHT
    std::vector<Count> sweep_batch;
    std::vector<std::string> sweep_dtype; // OLD:NEW
    std::string from, fleet;
    std::string from_fabric, to_fabric; // "": those of the fleet's file, else the GPU's usual one
    std::vector<std::string> to;        // GPU, GPU@PRICE
    std::map<std::string, ScenarioOptions::Value> of_sides; // "from-dtype"
    analysis::FleetQuestion asked;                          // as the options say it
    std::optional<int> count;
    std::optional<double> to_per_hour, buy, threshold, measured_old, measured_new, co2;
    std::vector<std::string> prices; // files
    std::string fail_if;
    bool details = false, largest_batch = false;
    analysis::ServedRequests served; // with --phase serving
    std::string ttft, tpot, engine = "vllm";
    bool serves = false;
    OutputOptions output;
};

// The scenario as one side ("from", "to") has it.
Result<analysis::Scenario> side_of(const UpgradeOptions& options, analysis::Scenario scenario,
                                   const std::string& side, const std::string& machine);

// The file of --fleet, and on top of it the options. Errors: "usage" where a network or GPU is
// missing; those of the file and of amounts.
Result<analysis::FleetQuestion> asked_of(Context& context, const UpgradeOptions& options,
                                         const analysis::Scenario& scenario);

// --phase serving and what belongs to it. Errors: "usage" for its options without it; those of
// times.
Diagnostics take_served(const Context& context, const CLI::App& app, UpgradeOptions& options);

// Whether the line leaves to the program what is run: then it is training in mixed precision at the
// largest batch that fits both GPUs.
bool leaves_open(const UpgradeOptions& options);

void add_price_options(CLI::App& app, UpgradeOptions& options);
void add_served_options(CLI::App& app, UpgradeOptions& options);
void add_side_options(CLI::App& app, UpgradeOptions& options);

} // namespace eyeroof::cli
