// What `eyeroof map` is asked: its options, and what they mean for the search.
// Used by cli/map.cpp only. Runs nothing.
#pragma once

#include "cli/command.hpp"
#include "study/search/map_network.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace eyeroof::cli {

struct MapOptions {
    std::string network;
    std::string machine;
    std::optional<std::string> objective;
    std::string strategy = "exact";
    std::string factors = "perfect";
    std::string counting = "eyeroof";
    std::string dataflow;
    std::string layers;
    std::string plot;
    std::string constraints;
    std::string energies;
    std::string save_mapping;
    std::string save_timeloop;
    std::string curve_level;
    std::string fail_if;
    double tolerance = 0.0;
    double time_limit_s = 0.0;
    double min_utilization = 0.0;
    std::uint64_t seed = 1;
    int threads = 0;
    bool pareto = false;
    bool chain = false;
    bool details = false;
    OutputOptions output;
};

// Errors: those of the objective.
model::Result<study::MapOptions> map_options(const MapOptions& options);
// What of the options does not go together; nullopt: all does.
std::optional<std::string> contradiction(const MapOptions& options);
// The options that say how to search.
void add_map_search(CLI::App& app, MapOptions& options);

} // namespace eyeroof::cli
