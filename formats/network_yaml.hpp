// Reads and writes network YAML: a name, a source, parameters, and layers whose keys are the
// columns of the layer CSV (docs/formats.md; schema in report/schema/network.schema.json).
#pragma once

#include "formats/expression.hpp"
#include "formats/network_graph.hpp"
#include "hwdb/yaml.hpp"
#include "model/workload/network.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats {

// A number that the layers' expressions may use; a user sets it behind the network's name.
struct Parameter {
    std::string name;
    double standard = 1.0;
    double min = 0.0;
    double max = 1e9;
    std::string meaning;

    bool operator==(const Parameter&) const = default;
};

// A parameter that every network has: 0 leaves its convolutions and products alone. A file that
// declares it itself decides what it leaves out.
inline constexpr std::string_view kAllOperators = "all";

// A name of its own for values of some parameters: "bert-large" of BERT.
struct Variant {
    std::string id;
    Variables values;
};

struct NetworkFile {
    model::Network network;
    std::vector<Parameter> parameters; // in the order of the file
    std::optional<GraphEdges> edges;   // where the file has a `graph`
};

// `given` replaces the standard values. Errors: those of the strict YAML reader and of each layer;
// "unknown-parameter", "out-of-range", "expression", "not-a-number" where an expression that must
// be a whole number is none, "no-layers". A file's id is its stem.
Result<NetworkFile> read_network(hwdb::Document& document, const std::string& file,
                                 const Variables& given = {});
Result<NetworkFile> parse_network_yaml(std::string text, const std::string& file,
                                       const Variables& given = {});

// What a catalog lists, without reading the layers.
struct NetworkHead {
    std::string id;
    std::string name;
    std::string source;
    std::vector<Parameter> parameters;
    std::vector<Variant> variants;
    std::filesystem::path path;
};
Result<NetworkHead> parse_network_head(std::string text, const std::string& file);
Result<NetworkHead> load_network_head(const std::filesystem::path& path);

// Parameters are gone: a file of plain numbers that reads back as the same network.
std::string write_network_yaml(const model::Network& network);

} // namespace eyeroof::formats
