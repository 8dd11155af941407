// The mappings of a network as JSON, CSV and text, and how its searches went as a picture. Searches
// nothing.
#pragma once

#include "analysis/search/map_network.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

// eyeroof/map/1. `effort`: also what each search took, which depends on the threads and the moment.
std::string map_to_json(const analysis::MapReport& report, const model::Accelerator& accelerator,
                        bool effort = false);
// One line a layer; `cells` that a layer does not have are empty.
std::string map_to_csv(const analysis::MapReport& report);
// `details`: also loop nests, and what each search took.
std::string map_to_text(const analysis::MapReport& report, const model::Accelerator& accelerator,
                        bool details);

// How one layer's value falls with time under each strategy, against the proven bound.
struct Convergence {
    std::string strategy;
    mapper::SearchResult result;
};
std::string convergence_svg(const std::string& layer, const std::vector<Convergence>& runs);

} // namespace eyeroof::report
