// A spatial accelerator: levels of memory from the outermost to the PEs, the array between them,
// the networks that connect them, and the dataflows that its control supports. Made by hwdb;
// consumed by the cost model, Eyexam and the mapper.
#pragma once

#include "base/provenance.hpp"
#include "model/accelerator/compute_in_memory.hpp"
#include "model/accelerator/dram.hpp"
#include "model/accelerator/topology.hpp"
#include "model/workload/problem.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::model {

inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// Storage for some operands at one instance of a level. Operands in one Store share its capacity.
// Bandwidths are of one instance, in bytes per core clock cycle.
struct Store {
    OperandSet operands;
    std::optional<Count> capacity_bytes; // nullopt: unbounded
    Count bank_bytes = 1;                // a tile occupies whole banks
    int buffers = 1; // 2: double buffered, half the capacity holds the live tile
    double read_bytes_per_cycle = kUnlimited;
    double write_bytes_per_cycle = kUnlimited;
    // The next tile of an operand arrives (or the one before it leaves) while the current one is in
    // use, whenever both fit beside what else is in the store.
    bool prefetch = false;
    double read_pj = 0.0;  // per word
    double write_pj = 0.0; // per word
    // Per word of a result that arrives from below; nullopt: as a write.
    std::optional<double> update_pj;
    // Words of one access. Timeloop bills whole accesses of each instance; eyeroof's own counting
    // bills words.
    Count access_words = 1;
    double leak_pj = 0.0; // of one instance in each core clock cycle, busy or not
    // Of operands whose words cost otherwise than those of the others in the store.
    PerOperand<std::optional<double>> own_read_pj{};
    PerOperand<std::optional<double>> own_write_pj{};
    bool may_bypass = true; // false: the operand cannot pass by this store
    // Stores of one number are parts of one store: their tiles share its capacity, their words its
    // rates. 0: a store of its own.
    int part_of = 0;
    // The figure is fixed in seconds (B/s, another clock domain, watts): see at_clock().
    bool read_in_seconds = false;
    bool write_in_seconds = false;
    bool leak_in_seconds = false;

    double read_pj_of(Operand o) const { return own_read_pj[index(o)].value_or(read_pj); }
    double write_pj_of(Operand o) const { return own_write_pj[index(o)].value_or(write_pj); }
    double update_pj_of(Operand o) const { return update_pj.value_or(write_pj_of(o)); }

    bool operator==(const Store&) const = default;
};

struct Axis {
    std::string name; // "x", "y", "cluster.x", "lane"
    Count size = 1;

    bool operator==(const Axis&) const = default;
};

// What a network can do with one word that several receivers want.
// unicast: it is sent once per receiver. multicast: once. broadcast: once, to all receivers, so
// only one distinct word is on the way at a time. hierarchical_mesh: unicast bandwidth when the
// words differ and multicast when they are the same (the routers switch between both).
enum class Cast { unicast, multicast, broadcast, hierarchical_mesh };

// A network below one instance of a level. Bandwidths in bytes per core clock cycle per instance.
struct Channel {
    std::string name; // for reports: "filter NoC", "DRAM bus"
    OperandSet operands;
    double down_bytes_per_cycle = kUnlimited; // towards the PEs
    double up_bytes_per_cycle = kUnlimited;   // away from the PEs
    bool half_duplex = false;                 // both directions share down_bytes_per_cycle
    Cast cast = Cast::multicast;
    bool reduces = true;       // partial sums of neighbours are added on the way up
    bool adds_at_once = false; // by a tree or a shared line: no sum waits for its neighbour's
    bool forwards = false;     // neighbours pass operands on (sliding windows)
    double hop_pj = 0.0;       // per word delivered
    // Zeros are not sent: run-length coding that spends this many bits on each non-zero word.
    std::optional<double> bits_per_nonzero;
    // What the bandwidth follows from, where the machine names a DRAM standard.
    std::optional<DramLink> dram;
    std::optional<Wires> wires;   // the same, where it names a topology
    bool down_in_seconds = false; // fixed in B/s, as is a DRAM standard's: see at_clock()
    bool up_in_seconds = false;

    bool operator==(const Channel&) const = default;
};

// One level and what lies between it and the next inner level.
struct Level {
    std::string name; // "DRAM", "GLB", "spad"
    std::vector<Store> stores;
    std::vector<Axis> fanout; // instances of the next inner level below one instance of this one
    std::vector<Channel> channels; // every operand that crosses is in exactly one, or is unlimited
    bool keeps_between_layers = false; // activations that fit here never travel further out
    // Weights stay here from one inference to the next, those of the first layers first, as far as
    // they fit beside the activations.
    bool keeps_weights = false;
    // Of one layer on such a machine, by the schedule of its network (analysis/exam/residency.hpp):
    // what is here when the layer starts and stays when it ends.
    std::optional<OperandSet> scheduled = std::nullopt;
    // Bits of a word at rest here and on the networks below, where they differ from those of the
    // machine; 0: as the machine's.
    PerOperand<int> word_bits{};

    bool operator==(const Level&) const = default;
};

enum class DataflowKind { ws, os, is, nlr, rs, rs_plus };

// Which dimensions may be unrolled over which axis.
struct SpatialRule {
    std::string axis;
    DimSet dims;

    bool operator==(const SpatialRule&) const = default;
};

struct Dataflow {
    DataflowKind kind = DataflowKind::ws;
    std::vector<SpatialRule> spatial; // an axis without a rule takes no dimension
    DimSet whole; // unrolled entirely or not at all, e.g. the filter rows of a row-stationary set
    std::optional<Operand> stationary =
        std::nullopt; // nullopt: no operand rests in the PE (nlr), or all do (rs)
    // Row-stationary only: whether logical sets are repeated along one axis of the array at a time
    // or along both, and how many banks of the buffer for inputs and partial sums a mapping leaves
    // free.
    bool repeats_on_one_axis = false;
    Count free_banks = 0;
    // Image input: a convolution of one group with at most so many input channels follows these
    // rules instead; 0: there is no such mode.
    Count image_channels = 0;
    std::vector<SpatialRule> image_spatial;

    bool operator==(const Dataflow&) const = default;
};

// How fast a vector unit does one function, where that is not one operation a lane and cycle.
struct VectorRate {
    std::string function;           // an operator or an element-wise function: "softmax", "gelu"
    double elements_per_lane = 1.0; // a cycle

    bool operator==(const VectorRate&) const = default;
};

// Lanes beside the array that run operators without multiply-accumulates: softmax, norms,
// activations, pooling, sums. They read and write the stores of one level.
struct VectorUnit {
    Count lanes = 1;
    std::size_t level = 0;                    // index into levels
    double read_bytes_per_cycle = kUnlimited; // of its ports
    double write_bytes_per_cycle = kUnlimited;
    bool read_in_seconds = false; // fixed in B/s: see at_clock()
    bool write_in_seconds = false;
    double operation_pj = 0.0;
    std::vector<VectorRate> rates; // of functions; of others one operation a lane and cycle
    bool overlaps = true;          // its transfers hide behind its work, or come on top

    bool operator==(const VectorUnit&) const = default;
};

// Arithmetic on a data type other than that of the machine's words.
struct TypeRate {
    DataType type = DataType::int8;
    double macs_per_s = 0.0; // of the whole machine
    std::string axis; // of the array; its units do several narrow MACs each, as if it were longer

    bool operator==(const TypeRate&) const = default;
};

struct Accelerator {
    double clock_hz = 0.0;
    std::vector<Level> levels;                // outermost first; the last one feeds the MACs
    PerOperand<int> word_bits = {16, 16, 16}; // of the units; of results while they accumulate
    double mac_pj = 0.0;
    double mac_leak_pj = 0.0;               // of one unit in each core clock cycle, busy or not
    bool mac_leak_in_seconds = false;       // fixed in watts: see at_clock()
    bool gates_idle = false;                // instances that a mapping gives no work leak nothing
    int pipeline_stages = 1;                // of a PE, from operands to the written partial sum
    std::optional<Count> max_filter_height; // native limits of the control, where published
    std::optional<Count> max_filter_width;
    std::vector<Dataflow> dataflows; // the first is the default
    std::optional<VectorUnit> vector_unit = std::nullopt;
    // Made the last two levels, the clock, and the energy of a MAC; see compute_in_memory.hpp.
    std::optional<ComputeInMemory> array = std::nullopt;
    std::vector<TypeRate> type_rates = {};
    std::optional<DataType> type = std::nullopt; // the one of these that it computes with

    bool operator==(const Accelerator&) const = default;
};

// Every figure of a core clock cycle, as visit(double& figure, bool fixed in seconds): rates of
// stores and networks, and leakage.
template <class Visit> void for_each_per_cycle(Level& level, Visit visit) {
    for (Store& store : level.stores) {
        visit(store.read_bytes_per_cycle, store.read_in_seconds);
        visit(store.write_bytes_per_cycle, store.write_in_seconds);
        visit(store.leak_pj, store.leak_in_seconds);
    }
    for (Channel& channel : level.channels) {
        visit(channel.down_bytes_per_cycle, channel.down_in_seconds);
        visit(channel.up_bytes_per_cycle, channel.up_in_seconds);
        if (channel.wires) {
            visit(channel.wires->link_bytes_per_cycle, channel.down_in_seconds);
        }
    }
}

template <class Visit> void for_each_per_cycle(Accelerator& accelerator, Visit visit) {
    for (Level& level : accelerator.levels) {
        for_each_per_cycle(level, visit);
    }
    visit(accelerator.mac_leak_pj, accelerator.mac_leak_in_seconds);
    if (accelerator.vector_unit) {
        VectorUnit& unit = *accelerator.vector_unit;
        visit(unit.read_bytes_per_cycle, unit.read_in_seconds);
        visit(unit.write_bytes_per_cycle, unit.write_in_seconds);
    }
}

// As if its description had this clock: rates in B/s or of another clock domain, DRAM standards,
// and leakage in watts keep their value in seconds, all others keep it in cycles.
Accelerator at_clock(Accelerator accelerator, double hertz);

// MAC units: the product of all fan-outs.
Count mac_units(const Accelerator& accelerator);
// Instances of level `level`: the product of the fan-outs above it.
Count instances_of(const Accelerator& accelerator, std::size_t level);
// The store of an operand at a level; nullptr when the level does not hold it.
const Store* store_of(const Level& level, Operand operand);
const Channel* channel_of(const Level& level, Operand operand);
// each(level, store) for this store, or for all parts of the store that it is a part of.
template <class Each>
void each_part(const Accelerator& accelerator, std::size_t level, const Store& store, Each each) {
    if (store.part_of == 0) {
        each(level, store);
        return;
    }
    for (std::size_t i = 0; i < accelerator.levels.size(); ++i) {
        for (const Store& part : accelerator.levels[i].stores) {
            if (part.part_of == store.part_of) {
                each(i, part);
            }
        }
    }
}
// Bits of a word of an operand at rest in a level: the level's own, or else the machine's.
int bits_at(const Accelerator& accelerator, std::size_t level, Operand operand);
// Bytes that a word of so many bits takes on a channel, given the share of zeros among the values;
// coding is left out where it would not help.
double bytes_per_word(const Channel& channel, int bits, double zeros);
// The rules that a problem follows: those for images where it is one.
Dataflow dataflow_for(const Problem& problem, const Dataflow& dataflow);
std::string_view dataflow_name(DataflowKind kind);
std::optional<DataflowKind> dataflow_from_name(std::string_view name);

// Every violated rule: no level, a fan-out below 1, a clock of 0, a spatial rule for an unknown
// axis, an operand without outermost home, an operand in two stores of one level …
Diagnostics validate(const Accelerator& accelerator);

} // namespace eyeroof::model
