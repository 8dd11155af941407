// The layers of a network to run together so that tensors between them never leave the chip: the
// best partition of its chains, beside layer by layer. `eyeroof fuse`.
#pragma once

#include "analysis/fuse/chip.hpp"
#include "analysis/fuse/readers.hpp"
#include "base/progress.hpp"
#include "model/fuse/windows.hpp"
#include "model/workload/network.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::analysis {

enum class FuseAim { traffic, latency };

// What moves and computes; bytes to and from outside the chip.
struct FuseCost {
    double bytes = 0.0;
    double macs = 0.0;   // with what is computed twice
    double time_s = 0.0; // max(work at peak, bytes at the link's bandwidth), group after group
    // MACs and the outermost memory; what is moved on the chip is not in it. 0: none is named.
    double energy_j = 0.0;

    FuseCost& operator+=(const FuseCost& other);
    bool operator==(const FuseCost&) const = default;
};

struct FusedGroup {
    std::vector<std::string> layers;
    Count count = 1;           // executions
    std::string how;           // "4 x 56 tiles, overlap kept, weights stay"
    double buffer_bytes = 0.0; // that it needs
    FuseCost together, apart;  // all executions
    std::string ends;          // why the group does not go on
    bool fits = true;          // false: not even one by one; each tensor is counted once

    bool operator==(const FusedGroup&) const = default;
};

struct FuseResult {
    std::string network;
    Chip chip;
    FuseAim aim = FuseAim::traffic;
    std::vector<FusedGroup> groups;
    std::vector<std::string>
        between; // layers that are not counted: applied on the way, or not costed
    FuseCost together, apart;
    // What "best" is among, and rests on.
    bool edges_known = false; // who reads what is from a graph, not from the order of layers
    model::fuse::SizesTried sizes = model::fuse::SizesTried::all; // of the largest plane
    bool lone_proved = true; // the search of every layer that is alone ended

    std::size_t unfit() const; // groups that fit nowhere: what is shown is a lower bound
    bool operator==(const FuseResult&) const = default;
};

// Chains are layers that stand one after the other and whose shapes fit, with only element-wise
// operators, normalisations and softmax between them, which are applied on the way. Convolutions
// and pooling: any number, exact over partitions, tiles and overlap modes. Products: up to twelve,
// exact over tiles of rows, slices and weights that stay; one attention is a pair for each head. A
// layer norm between products needs whole rows. In a list without edges, products of a network with
// attention are joined only with something applied between them: neighbors whose sizes happen to
// fit (queries and keys) are not
// one chain. With `readers` two layers are joined only where the second alone reads the first;
// without, an output that a later layer reads too (a skip connection) is not seen. Errors: those of
// the layers; "cancelled".
Result<FuseResult> fuse_network(const model::Network& network, const Chip& chip, FuseAim aim,
                                std::stop_token stop = {}, const ProgressCallback& progress = {},
                                const std::optional<OnlyReaders>& readers = {});

// The same for buffers of 2^10 … 2^28 bytes.
struct FusePoint {
    double buffer_bytes = 0.0;
    double together_bytes = 0.0, apart_bytes = 0.0;
    bool fits = true; // false: some layer fits nowhere, and both are lower bounds

    bool operator==(const FusePoint&) const = default;
};
Result<std::vector<FusePoint>> fuse_curve(const model::Network& network, const Chip& chip,
                                          std::stop_token stop = {},
                                          const ProgressCallback& progress = {},
                                          const std::optional<OnlyReaders>& readers = {});

} // namespace eyeroof::analysis
