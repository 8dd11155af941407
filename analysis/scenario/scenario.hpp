// A scenario: what runs, where, and how. One value behind every result of the program: command
// line, explorer, Python, sessions, and sweeps fill the same fields, with the same defaults.
#pragma once

#include "mapper/problem_space.hpp"
#include "model/cost/cost.hpp"
#include "model/gpu/software.hpp"
#include "model/gpu/step.hpp"
#include "model/machine/machine.hpp"
#include "model/workload/layer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// dataflow: by the dataflow's own rules, without a search. best: the exact mapper's, under the
// rules that say which dimensions the dataflow spreads over which axis. automatic: by the published
// rules of row-stationary dataflows, as their chips map, and the mapper's best for all others and
// wherever constraints are given. given: a mapping file, for every layer that it fits. Accelerators
// only.
enum class MappingPolicy { dataflow, best, automatic, given };

// Which operators are examined. all: each by itself, as an eager framework runs them. fused: batch
// normalization is folded into the layer before it and activations run on its output at no cost of
// their own, as inference compilers and accelerators do. products: convolutions, GEMMs and
// attention alone.
enum class Operators { all, fused, products };

struct TrainingOptions {
    std::string optimizer = "sgd_momentum"; // an elementwise function that updates weights

    bool operator==(const TrainingOptions&) const = default;
};

// How training keeps weights, gradients and states. usual: gradients in the weights' type, states
// in fp32, an fp32 copy of shorter weights. mixed: 16-bit weights and gradients, the copy beside
// the states. fp32_gradients: the same with fp32 gradients (Megatron). pure: states in the weights'
// own type and no copy. eight_bit: states of one byte, and the copy.
enum class Regime { usual, mixed, fp32_gradients, pure, eight_bit };

// What moves between host and device in each step. batch: the network's input goes to the device
// and its output comes back. all: weights move too, and come back where they were updated.
// staged: the inputs of a captured graph are copied on the device into buffers that it reads, as a
// framework's compiler does. staged_all: the weights as well.
enum class Copies { none, batch, all, staged, staged_all };

// written: as the network's file spells it out. fused: the pattern scores, softmax, values runs as
// one kernel.
enum class AttentionForm { written, fused };

struct Scenario {
    // What is run.
    std::string network;            // a name in the catalog, or a file
    std::vector<std::string> sizes; // NAME=SIZE: sizes that the network leaves open, its parameters
    std::optional<Count> batch;     // samples of a step; nullopt: the network's own
    std::optional<TrainingOptions> training; // a training step instead of inference
    std::optional<model::DataType>
        data_type; // of weights and activations; nullopt: the layers' own
    Regime states = Regime::usual;
    std::optional<Operators> operators;     // nullopt: all on GPUs and in training, else fused
    std::optional<AttentionForm> attention; // nullopt: see attention_of()
    std::string density;               // shares of nonzero values: "weights=0.4", a table; or empty
    bool in_place = false;             // relu overwrites its input where no other operator needs it
    std::optional<std::string> layers; // regular expression over layer names
    bool allow_uncosted = false;       // answer although some operators cannot be costed

    // Where.
    std::string machine;              // a name in the catalog, or a file
    std::vector<std::string> changes; // KEY=VALUE: parameters of the machine
    std::string energies;             // Accelergy's table for a Timeloop architecture; or empty
    std::string host;        // what launches a GPU's kernels; empty: the server of its years
    double host_speed = 1.0; // how many times faster the host and its framework launch than `host`

    // Whether power has settled the clocks, as in a run of minutes; nullopt: in training and
    // serving. Else kernels run as a loop of milliseconds finds them.
    std::optional<bool> settled_clocks;

    // With which software.
    std::string library; // "cublas 10", "TRTLLM 1.0"; empty: the likeliest
    std::optional<model::Layout>
        layout;            // nullopt: channels-last where convolutions are below 32 bits
    bool compiled = false; // pointwise operators and reductions fused, as Inductor does

    // How kernels are launched. A kernel's own time does not depend on it.
    model::Launch launch = model::Launch::eager;
    int streams = 1; // operators that do not depend on each other run side by side
    Copies copies = Copies::none;
    bool pageable = false; // copies at half the rate, and the host waits for them

    // How layers are mapped onto accelerators.
    MappingPolicy policy = MappingPolicy::automatic;
    std::string mapping_file;                    // of MappingPolicy::given
    std::optional<model::DataflowKind> dataflow; // nullopt: the machine's first
    bool free_dataflow = false;                  // searches follow no dataflow's rules
    std::optional<mapper::Objective> objective;  // nullopt: see natural_objective()
    mapper::Factors factors = mapper::Factors::perfect;
    model::Counting counting = model::Counting::eyeroof;
    std::string constraints_file;
    // Search limits. Nodes per search: results are reproducible. nullopt: usual_search_nodes().
    // Seconds for all searches together: results depend on the load of the machine.
    // 0: no limit.
    std::optional<std::uint64_t> search_nodes;
    double search_limit_s = 0.0;
    int threads = 0; // 0: all of the machine; the result does not depend on it

    bool operator==(const Scenario&) const = default;
};

// Nodes of each search where the scenario does not say: more for the policy `best`.
std::uint64_t usual_search_nodes(MappingPolicy policy);
std::uint64_t search_nodes_of(const Scenario& scenario);

std::string_view operators_name(Operators operators);
std::string_view regime_name(Regime regime);
std::string_view copies_name(Copies copies);
std::string_view attention_name(AttentionForm form);
std::string_view policy_name(MappingPolicy policy);

} // namespace eyeroof::analysis
