// A network: layers in order, with a name and where its shapes come from.
// Made by study/formats; examined as a whole by study.
// Knows no machine and no file format.
#pragma once

#include "model/layer.hpp"

#include <string>
#include <vector>

namespace eyeroof::model {

struct Network {
    std::string id;   // name in the catalog, or the stem of its file
    std::string name; // for people
    std::string source;
    std::vector<Layer> layers;

    bool operator==(const Network&) const = default;
};

struct NetworkTotals {
    Count macs = 0;
    Count flops = 0;
    Count parameters = 0;
    Count weight_bytes = 0; // of the parameters, in the layers' types

    bool operator==(const NetworkTotals&) const = default;
};

// Sums over layers times their counts. Errors: the layers' own; "overflow".
Result<NetworkTotals> totals_of(const Network& network);

// The same network with every layer's batch multiplied: n of convolutions and pooling, batch of
// matrix products (m where weights are shared and batch is 1 by convention stays), rows elsewhere.
Result<Network> with_batch(const Network& network, Count batch);

} // namespace eyeroof::model
