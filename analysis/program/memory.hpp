// Memory over a step: lifetimes of tensors, the peak and its holders, the largest batch. A tensor
// lives from the operator that writes it first to the last that needs it.
#pragma once

#include "analysis/program/costs.hpp"
#include "analysis/program/graph.hpp"
#include "model/workload/network.hpp"

#include <array>
#include <functional>
#include <optional>
#include <vector>

namespace eyeroof::analysis::step {

// Roles, and workspaces that live while their operator runs.
inline constexpr std::size_t kHolders = kRoles + 1;
inline constexpr std::size_t kWorkspace = kRoles;
using Bytes = std::array<Count, kHolders>;
std::string_view holder_text(std::size_t holder);
Count total_of(const Bytes& bytes);

// First and last operator at which a tensor is there, both included. Weights, optimizer states,
// other state and outputs: to the last operator. Nothing where no operator uses it.
struct Lifetime {
    OperatorId first = 0, last = 0;
    bool used = false;

    bool operator==(const Lifetime&) const = default;
};
std::vector<Lifetime> lifetimes_of(const Graph& graph);

struct Holder {
    TensorId tensor = kNone;
    Count bytes = 0;

    bool operator==(const Holder&) const = default;
};

struct Memory {
    std::vector<Bytes> at;  // while each operator runs
    Count peak = 0;         // bytes
    OperatorId peak_at = 0; // the first operator at which it is reached
    Bytes at_peak{};
    std::vector<Holder> holders; // of the peak, largest first, at most 20
    Count parameters = 0;        // learned values, shared ones once
    Count gradients = 0;         // bytes of their gradients, in training
    Count resident = 0;          // weights, optimizer, state: there all the time

    bool operator==(const Memory&) const = default;
};

// `workspaces`: bytes of each of Graph::layers, empty: none. Exact sums, linear in operators and
// tensors.
Memory memory_of(const Graph& graph, const std::vector<Count>& workspaces = {});

// What the library's convolutions need beside their tensors: transforms that pass through memory.
std::vector<Count> workspaces_of(const Graph& graph, const model::Gpu& gpu,
                                 const SoftwareOf& software);

// The memory of a device. Data sheets count GiB and write GB: nvidia-smi reports 81,920 MiB of an
// A100 and 81,559 of an H100 with "80 GB", 143,771 of an H200 with "141 GB". A size that is no
// whole number of GB is taken as it stands, and so is a host's.
double device_bytes(const model::Gpu& gpu);

// What of it is there for tensors. The context of a process takes 0.3 to 0.8 GB (recalled): 0.5 are
// taken off.
inline constexpr double kContextBytes = 0.5e9;
Count capacity_of(const model::Gpu& gpu);

// Largest multiple of the network's batch whose peak is within the limit, at most `most`; 0 where
// not even 1 is. `peak_of`: the peak of a batch, which never falls with it; nothing where the
// batch cannot be built.
Count largest_batch(Count limit, Count most,
                    const std::function<std::optional<Count>(Count)>& peak_of);

} // namespace eyeroof::analysis::step
