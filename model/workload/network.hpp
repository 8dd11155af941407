// A network: layers in order, with a name and where its shapes come from.
// Made by formats; examined as a whole by study.
#pragma once

#include "model/workload/layer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::model {

// Operators of a network's source that no layer stands for, because they could not be costed.
struct Uncosted {
    std::string op;   // as the source names it: "NonMaxSuppression", "aten::unique_dim"
    std::string name; // of the first of them in the source; empty where it has none
    std::string why;  // a reason to follow a colon: "its sizes are not known"
    Count count = 1;
    bool may_multiply = false; // a convolution, a product, or an operator that may hold one
    double measured_s = 0.0;   // what all of them took, where the source is a trace; else 0

    bool operator==(const Uncosted&) const = default;
};

struct Network {
    std::string id;   // name in the catalog, or the stem of its file
    std::string name; // for people
    std::string source;
    std::vector<Layer> layers;
    Count batch = 0;                     // samples that the layers' sizes are for; 0: not known
    std::vector<Uncosted> uncosted = {}; // those that may multiply first
    Count operators = 0; // of the source that run, costed or not; 0: as many as the layers
    // Every kernel that runs is a layer, passes between layouts among them, as in a trace.
    bool as_it_ran = false;
    // Of a trace: whether most multiplications of its forward convolutions ran in kernels for
    // channels last; nullopt where it has none.
    std::optional<bool> ran_channels_last = std::nullopt;

    bool operator==(const Network&) const = default;
};

struct NetworkTotals {
    Count macs = 0;
    Count flops = 0;
    Count parameters = 0;
    Count weight_bytes = 0; // of the parameters, in the layers' types

    // Of a memory, if nothing is reused: each MAC reads an input, a weight, and a partial sum, and
    // writes the sum back (Sze, Chen, Yang, Emer, Proc. IEEE 105(12), 2017, section V).
    double accesses_without_reuse() const { return 4.0 * static_cast<double>(macs); }

    bool operator==(const NetworkTotals&) const = default;
};

// Operators of the source that run: `operators`, or the layers and what is not costed.
Count operators_of(const Network& network);

// Operators that could not be costed, and those among them that may multiply and whose time was not
// measured either.
Count uncosted_operators(const Network& network);
Count uncosted_products(const Network& network);

// Of the operators that run, the share that could not be costed: 0 to 1.
double uncosted_share(const Network& network);

// "3 of 120 operators (2.5 %) are not costed: DeformConv (2: it has no cost here), ...", products
// first; empty where every operator is costed.
std::string uncosted_text(const Network& network);

// Warning "not-costed" with that text; nothing where every operator is costed.
Diagnostics uncosted_warning(const Network& network, const std::string& file);

// Measured time of the operators that could not be costed, s.
double uncosted_seconds(const Network& network);

// Puts operators that may multiply first, then the most frequent; equal ones become one entry.
void sort_uncosted(std::vector<Uncosted>& uncosted);

// Sums over layers times their counts. Errors: the layers' own; "overflow".
Result<NetworkTotals> totals_of(const Network& network);

// The same network with every layer's batch multiplied: n of convolutions and pooling, batch of
// matrix products (m where weights are shared and batch is 1 by convention stays), rows elsewhere.
Result<Network> with_batch(const Network& network, Count batch);

} // namespace eyeroof::model
