// A network's layers as members of chains: windows that move over planes, GEMMs, and attention.
#pragma once

#include "analysis/fuse/chip.hpp"
#include "analysis/fuse/readers.hpp"
#include "model/fuse/products.hpp"
#include "model/fuse/windows.hpp"
#include "model/workload/network.hpp"
#include "model/workload/problem.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace eyeroof::analysis {

struct ProductMember {
    model::fuse::Product product;
    Count copies = 1; // independent products of the layer

    bool operator==(const ProductMember&) const = default;
};

struct PairMember { // one attention: both products in one layer
    model::fuse::Pair pair;
    Count copies = 1;

    bool operator==(const PairMember&) const = default;
};

struct ChainMember {
    std::string name;
    std::variant<model::fuse::Window, ProductMember, PairMember> what;
    Count count = 1;
    Count macs = 0;                     // of one execution
    double word_bytes = 2.0;            // the widest of its tensors
    double compulsory_bytes = 0.0;      // as an exam counts it where nothing stays between layers
    std::optional<model::Problem> nest; // of a convolution: what the mapper maps when it is alone
    bool joins_next = false; // the next member reads what this one writes, and can be fused to it
    bool whole_rows = false; // what is applied to its result needs whole rows: a layer norm

    bool operator==(const ChainMember&) const = default;
};

struct Chains {
    std::vector<ChainMember> members;
    std::vector<std::string> between; // layers that are no members

    bool operator==(const Chains&) const = default;
};

// `readers`: who reads whose output; absent: each member is taken to be read by the next one alone.
Result<Chains> chains_of(const model::Network& network, const Chip& chip,
                         const std::optional<OnlyReaders>& readers = {});

} // namespace eyeroof::analysis
