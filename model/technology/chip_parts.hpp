// The parts of an accelerator's chip, with the area of each and the energy that one use of it takes
// in a given process: memories, register files, MAC units, networks, pipeline registers, control.
//
//   SRAM macro     (sqrt(bits) + edge cells)^2 cells; energy of a bit with the square root of the
//                  macro's capacity, from the reference's macro (bit lines and word lines grow with
//                  the side)
//   register file  bits x gates per bit; energy as SRAM of its size
//   multiplier     power law of the width through the reference's 8 and 32 bit ones; adders linear
//   network        a register and multiplexer at every receiver; wires as long as the side of the
//                  square that the receivers cover
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/technology/technology.hpp"

#include <string>
#include <vector>

namespace eyeroof::model {

enum class PartKind { sram, register_file, mac, network, clock, control, spacing };
const char* part_name(PartKind kind);

struct ChipPart {
    std::string level; // of the machine; "" for those of the whole chip
    std::string name;  // "weight spad", "filter network", "MAC units"
    PartKind kind = PartKind::sram;
    OperandSet operands;
    double instances = 0.0;
    double bits = 0.0;     // of one: held, or moved at a time; of a MAC its factors
    double area_mm2 = 0.0; // of all instances
    // sram, register_file, network: of a bit; mac: of a MAC; clock: of a cycle of the whole chip.
    double use_pj = 0.0;
    Provenance origin; // of the least certain number in it

    bool operator==(const ChipPart&) const = default;
};

// On the chip are all levels whose stores are bounded and below 1 GB. Areas are positive; the last
// part is what placing leaves open. The sum is the area of all dies of a package.
std::vector<ChipPart> chip_parts(const Accelerator& machine, const ProcessNode& node,
                                 const Technology& technology);
bool on_chip(const Level& level);
double chip_area_mm2(const std::vector<ChipPart>& parts);

// Of one multiplier of `bits` by `bits`, and of an adder: um2 and pJ in the process.
struct Arithmetic {
    double um2 = 0.0;
    double pj = 0.0;

    bool operator==(const Arithmetic&) const = default;
};
Arithmetic multiplier(const ReferenceCircuits& reference, const ProcessNode& node, double bits);
Arithmetic adder(const ReferenceCircuits& reference, const ProcessNode& node, double bits);
double sram_macro_mm2(const AssumedCircuits& assumed, const ProcessNode& node, double bits);
double memory_pj_per_bit(const ReferenceCircuits& reference, const ProcessNode& node, double bytes);

} // namespace eyeroof::model
