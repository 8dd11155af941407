// Who reads whose output, from the graph of a network: what may stay on the chip between two layers
// must be read by the second one alone. Made by `eyeroof fuse`; read where chains are made.
#pragma once

#include "formats/network_graph.hpp"
#include "model/workload/network.hpp"

#include <map>
#include <string>
#include <string_view>

namespace eyeroof::analysis {

// Applied to each word, or each row, as it passes: no bar between two members of a chain.
bool applied_on_the_way(const model::Layer& layer);
// Applied as results leave, too, but to a whole row of a product at once: a layer norm.
bool applied_to_rows(const model::Layer& layer);

// From a layer to the only one that reads its output, be it through operators that are applied on
// the way (masks that are there anyway may be added). Layers that several read, or that the network
// gives out, are not in it; nor those whose runs are read by different layers.
using OnlyReaders = std::map<std::string, std::string, std::less<>>;

OnlyReaders only_readers(const model::Network& network, const formats::GraphEdges& edges);

bool reads_alone(const OnlyReaders& readers, std::string_view layer, std::string_view reader);

} // namespace eyeroof::analysis
