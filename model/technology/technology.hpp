// A manufacturing process in the few numbers from which areas and energies of a chip are estimated.
// Read by hwdb from technology.yaml; used by chip_parts.hpp.
#pragma once

#include "base/provenance.hpp"
#include "base/result.hpp"

#include <string>
#include <vector>

namespace eyeroof::model {

struct ProcessNode {
    double nm = 0.0;            // as the process is called
    double sram_cell_um2 = 0.0; // of one bit, six transistors, the dense variant
    double gate_um2 = 0.0;      // a two-input NAND of the usual library
    double supply_v = 0.0;      // nominal
    Provenance origin;

    bool operator==(const ProcessNode&) const = default;
};

// Integer units and memories at one node and supply; what all other nodes are scaled from.
struct ReferenceCircuits {
    double nm = 0.0, supply_v = 0.0;
    double multiply_8_pj = 0.0, multiply_32_pj = 0.0, add_8_pj = 0.0, add_32_pj = 0.0;
    double multiply_8_um2 = 0.0, multiply_32_um2 = 0.0, add_8_um2 = 0.0, add_32_um2 = 0.0;
    double sram_pj_per_bit = 0.0; // read or written, in a macro of sram_bytes
    double sram_bytes = 0.0;
    Provenance origin;

    bool operator==(const ReferenceCircuits&) const = default;
};

// What no table gives: rules of thumb, marked as such.
struct AssumedCircuits {
    double register_gates_per_bit = 0.0; // of a register file, with its multiplexers
    double flip_flop_gates = 0.0;        // of a pipeline register
    double sram_edge_cells = 0.0;        // width of decoders and sense amplifiers, in cells
    double smallest_sram_bits = 0.0;     // smaller stores are register files
    double router_gates_per_bit = 0.0;   // register, multiplexer and control of one receiver
    double control_share = 0.0;          // of the logic, on top of it
    double placed_share = 0.0;           // of the silicon that cells and macros cover
    double flip_flop_pj = 0.0;           // a bit and cycle with its clock, at the reference node
    double wire_pj_per_bit_mm_v2 = 0.0;  // half of the wires toggle
    Provenance origin;

    bool operator==(const AssumedCircuits&) const = default;
};

// A memory outside the chip, by the name of its kind: LPDDR4.
struct DramEnergy {
    std::string name;
    double pj_per_bit = 0.0; // read or written
    Provenance origin;

    bool operator==(const DramEnergy&) const = default;
};

struct PublishedChip {
    std::string machine; // id of the machine's description
    double nm = 0.0;
    double area_mm2 = 0.0; // 0: none is published
    double power_w = 0.0;  // 0: none is published
    std::string note;      // what the figures cover
    Provenance origin;

    bool operator==(const PublishedChip&) const = default;
};

struct Technology {
    std::vector<ProcessNode> nodes; // at least two, from large to small
    ReferenceCircuits reference;
    AssumedCircuits assumed;
    std::vector<PublishedChip> chips;
    std::vector<DramEnergy> drams = {};

    bool operator==(const Technology&) const = default;
};

// The process called so many nm; between two of the table by the geometric mean (straight lines
// over the logarithms; then its confidence is "derived"). Errors: "no-node" outside the table.
Result<ProcessNode> node_of(const Technology& technology, double nm);

// Energy at the node over energy at the reference: switched capacitance falls with the length, and
// energy is capacitance times the square of the supply.
double energy_scale(const ReferenceCircuits& reference, const ProcessNode& node);

} // namespace eyeroof::model
