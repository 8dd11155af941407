// How many words of each layer are not zero, as YAML. For `eyeroof exam --density`; format in
// docs/accelerator-model.md.
#pragma once

#include "model/sparse/step.hpp"
#include "model/workload/network.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct LayerDensity {
    std::string name;
    std::optional<double> input; // absent: the output of the entry before it
    double weight = 1.0;
    double output = 1.0;

    bool operator==(const LayerDensity&) const = default;
};

struct DensityTable {
    std::string id, name, network, source, confidence;
    double input = 1.0; // of the network's own input
    std::vector<LayerDensity> layers;

    bool operator==(const DensityTable&) const = default;
};

// Errors: those of the strict reader; "density" outside 0 … 1; "duplicate-layer".
Result<DensityTable> parse_densities(std::string text, const std::string& file);
Result<DensityTable> load_densities(const std::filesystem::path& file);

// One entry for each layer of the network; for layers that do not multiply a dense one. Errors:
// "no-density" for the layers that multiply and that the table does not name, all in one list;
// "unknown-layer" for entries that the network does not have.
Result<std::vector<model::sparse::Densities>> densities_of(const DensityTable& table,
                                                           const model::Network& network);

} // namespace eyeroof::analysis
