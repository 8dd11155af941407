// What `eyeroof map` is asked: its options, and what they mean for the search. Runs nothing.
#pragma once

#include "analysis/search/map_network.hpp"
#include "cli/scenario_options.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace eyeroof::cli {

struct MapOptions {
    ScenarioOptions scenario;
    std::string strategy = "exact";
    std::string plot;
    std::string save_mapping;
    std::string save_timeloop;
    std::string curve_level;
    std::string fail_if;
    double tolerance = 0.0;
    double min_utilization = 0.0;
    std::uint64_t seed = 1;
    bool pareto = false;
    bool chain = false;
    bool details = false;
    bool uneven = false;
    OutputOptions output;
};

// How to search, of an accelerator's question. Errors: "no-energy" where energies are asked for
// that the machine does not name.
Result<analysis::MapOptions> map_options(const MapOptions& options,
                                         const analysis::Question& question);
// What of the options does not go together; nullopt: all does.
std::optional<std::string> contradiction(const MapOptions& options);
// The options that say how to search.
void add_map_search(CLI::App& app, MapOptions& options);

} // namespace eyeroof::cli
