// Networks by name or by path: the one door through which commands get a network. Must not know
// where those folders come from.
#pragma once

#include "formats/network_yaml.hpp"
#include "model/workload/network.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace eyeroof::formats {

// The formats of our own; those of other tools are in network_readers.hpp.
enum class OwnFormat { network_yaml, layer_csv };

// Of a text that no other tool's reader recognizes, by its content: a header of columns is a table,
// everything else a network YAML.
OwnFormat own_format(std::string_view text);

// Every network in the folders, by id; of equal ids the one in the nearer (earlier) folder. A file
// that cannot be read is a warning in the result.
Result<std::vector<NetworkHead>> list_networks(const std::vector<std::filesystem::path>& folders);

// `reference` is a name in the folders ("alexnet"), with parameters behind it by name
// ("mobilenet-v1:width=0.5,resolution=128") or in their order ("mobilenet-v1-0.5-128",
// "mobilenet-v1:0.5,128"), or a path to a network YAML (parameters as above), a layer CSV, a
// SCALE-Sim topology, a Timeloop problem, MAESTRO layers or a ZigZag workload. A reference with a
// slash or a file ending is a path. Errors: the reader's own; "unknown-network" with the nearest
// name; "bad-parameter".
Result<model::Network> load_network(const std::string& reference,
                                    const std::vector<std::filesystem::path>& folders);

// The same with the file's `graph`, where it has one.
using model::NetworkGraph;
Result<NetworkGraph> load_wired_network(const std::string& reference,
                                        const std::vector<std::filesystem::path>& folders);

} // namespace eyeroof::formats
