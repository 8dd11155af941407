#include "model/technology/chip_parts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace eyeroof::model {

namespace {

constexpr double kMm2 = 1e-6; // of a square micrometre
// The reference's largest macro: larger memories are made of such banks.
constexpr double kLargestMacro = 1024.0 * 1024.0;

// y of a power law through (8, at_8) and (32, at_32).
double power_law(double at_8, double at_32, double bits) {
    return at_8 * std::pow(bits / 8.0, std::log(at_32 / at_8) / std::log(4.0));
}

double straight(double at_8, double at_32, double bits) {
    return std::max(at_8 / 8.0 * std::min(bits, 8.0), at_8 + (at_32 - at_8) * (bits - 8.0) / 24.0);
}

double areas_scale(const ReferenceCircuits& reference, const ProcessNode& node) {
    const double shrink = node.nm / reference.nm;
    return shrink * shrink;
}

std::string operand_words(OperandSet operands) {
    std::string words;
    for (const Operand o : kAllOperands) {
        if (operands.contains(o)) {
            words += (words.empty() ? "" : ", ") + std::string(operand_name(o));
        }
    }
    return words;
}

// Bytes that a store gives in a cycle: its own limit, or that of the networks below which it feeds.
double widest_read(const Level& level, const Store& store) {
    double fed = 0.0;
    for (const Channel& channel : level.channels) {
        for (const Operand o : kAllOperands) {
            if (store.operands.contains(o) && channel.operands.contains(o)) {
                fed = std::max(fed, channel.down_bytes_per_cycle);
            }
        }
    }
    const double bytes = std::min(store.read_bytes_per_cycle, fed > 0.0 ? fed : kUnlimited);
    return bytes == kUnlimited ? 0.0 : bytes;
}

// Of one macro: a bank where the description has banks, and no more than what is left of the
// capacity when enough macros of the reference's width stand side by side for a cycle's read.
double macro_bytes(const Level& level, const Store& store) {
    constexpr double width = 8.0, least = 64.0; // bytes
    const double bytes = static_cast<double>(*store.capacity_bytes);
    const double bank = static_cast<double>(store.bank_bytes);
    const double abreast = std::max(1.0, widest_read(level, store) / width);
    const double macro = std::min({bank > 1.0 ? bank : bytes, bytes / abreast, kLargestMacro});
    return std::max(macro, std::min(least, bytes));
}

ChipPart memory_part(const Level& level, const Store& store, double instances,
                     const ProcessNode& node, const Technology& technology) {
    const double bytes = static_cast<double>(*store.capacity_bytes);
    const double macro = macro_bytes(level, store);
    ChipPart part;
    part.level = level.name;
    part.name = operand_words(store.operands);
    part.operands = store.operands;
    part.instances = instances;
    part.bits = 8.0 * bytes;
    part.use_pj = memory_pj_per_bit(technology.reference, node, macro);
    if (8.0 * bytes < technology.assumed.smallest_sram_bits) {
        part.kind = PartKind::register_file;
        part.area_mm2 = instances * part.bits * technology.assumed.register_gates_per_bit *
                        node.gate_um2 * kMm2;
    } else {
        part.area_mm2 =
            instances * (bytes / macro) * sram_macro_mm2(technology.assumed, node, 8.0 * macro);
    }
    part.origin = technology.assumed.origin;
    return part;
}

ChipPart mac_part(const Accelerator& machine, const ProcessNode& node,
                  const Technology& technology) {
    const auto& words = machine.word_bits;
    const double factors = std::sqrt(
        static_cast<double>(words[index(Operand::input)] * words[index(Operand::weight)]));
    const Arithmetic product = multiplier(technology.reference, node, factors);
    const Arithmetic sum = adder(technology.reference, node, words[index(Operand::output)]);
    ChipPart part;
    part.name = "MAC units";
    part.kind = PartKind::mac;
    part.instances = static_cast<double>(mac_units(machine));
    part.bits = factors;
    part.area_mm2 = part.instances * (product.um2 + sum.um2) * kMm2;
    part.use_pj = product.pj + sum.pj;
    part.origin = technology.reference.origin;
    return part;
}

// An array of cells: what the description says of it, in place of estimates by the process.
void add_array(const Accelerator& machine, const ProcessNode& node, const Technology& technology,
               std::vector<ChipPart>& parts) {
    const ComputeInMemory& array = *machine.array;
    const auto described = area_of(array);
    const double instances = static_cast<double>(instances_of(machine, machine.levels.size() - 2));
    const ArrayStep step = step_of(array, machine.word_bits);
    const double bits = static_cast<double>(array.rows * array.columns * array.bits_per_cell);
    ChipPart cells;
    cells.level = array.name + " cells";
    cells.name = "cells";
    cells.kind = PartKind::mac;
    cells.instances = instances;
    cells.bits = bits;
    // Unknown cells are estimated as the SRAM that would hold as many bits.
    cells.area_mm2 = instances * (described ? described->cells_um2 * kMm2
                                            : sram_macro_mm2(technology.assumed, node, bits));
    cells.use_pj = machine.mac_pj;
    cells.origin = described ? Provenance{"the machine's description", Confidence::derived}
                             : technology.assumed.origin;
    ChipPart converters = cells;
    converters.level = array.name;
    converters.name = "drivers, ADCs, accumulators";
    converters.kind = PartKind::sram;
    converters.operands = {Operand::input, Operand::output};
    converters.bits = static_cast<double>(step.weights_a_row);
    converters.area_mm2 =
        described ? instances * (described->adcs_um2 + described->periphery_um2) * kMm2 : 0.0;
    converters.use_pj =
        machine.levels[machine.levels.size() - 2].stores[1].write_pj /
        static_cast<double>(bits_at(machine, machine.levels.size() - 2, Operand::output));
    parts.push_back(std::move(cells));
    parts.push_back(std::move(converters));
}

ChipPart clock_part(const Accelerator& machine, const ProcessNode& node,
                    const Technology& technology) {
    ChipPart part;
    part.name = "pipeline registers";
    part.kind = PartKind::clock;
    part.instances = static_cast<double>(mac_units(machine));
    part.bits = std::accumulate(machine.word_bits.begin(), machine.word_bits.end(), 0.0) *
                machine.pipeline_stages;
    const double all = part.instances * part.bits;
    part.area_mm2 = all * technology.assumed.flip_flop_gates * node.gate_um2 * kMm2;
    part.use_pj = all * technology.assumed.flip_flop_pj * energy_scale(technology.reference, node);
    part.origin = technology.assumed.origin;
    return part;
}

// Below level `at`: what one receiver holds of each operand's word, and later the wires to it.
void add_networks(const Accelerator& machine, std::size_t at, const ProcessNode& node,
                  const Technology& technology, std::vector<ChipPart>& parts) {
    const double receivers = at + 1 < machine.levels.size()
                                 ? static_cast<double>(instances_of(machine, at + 1))
                                 : static_cast<double>(mac_units(machine));
    if (receivers <= static_cast<double>(instances_of(machine, at))) {
        return; // a plain wire
    }
    for (const Channel& channel : machine.levels[at].channels) {
        double bits = 0.0;
        for (const Operand o : kAllOperands) {
            bits += channel.operands.contains(o) ? bits_at(machine, at, o) : 0;
        }
        ChipPart part{machine.levels[at].name,
                      channel.name,
                      PartKind::network,
                      channel.operands,
                      receivers,
                      bits,
                      0.0,
                      0.0,
                      technology.assumed.origin};
        part.area_mm2 =
            receivers * bits * technology.assumed.router_gates_per_bit * node.gate_um2 * kMm2;
        parts.push_back(part);
    }
}

// The side of the square that everything below one instance of a level covers.
double side_mm(const Accelerator& machine, std::size_t at, const std::vector<ChipPart>& parts,
               double placed_share) {
    double below = 0.0;
    for (const ChipPart& part : parts) {
        const auto level = std::find_if(machine.levels.begin(), machine.levels.end(),
                                        [&](const Level& l) { return l.name == part.level; });
        const auto place = static_cast<std::size_t>(level - machine.levels.begin());
        below += place > at ? part.area_mm2 : 0.0; // parts of no level are in the array
    }
    return std::sqrt(below / placed_share / static_cast<double>(instances_of(machine, at)));
}

void add_wires(const Accelerator& machine, const ProcessNode& node, const Technology& technology,
               std::vector<ChipPart>& parts) {
    const double pj_per_mm =
        technology.assumed.wire_pj_per_bit_mm_v2 * node.supply_v * node.supply_v;
    for (std::size_t at = 0; at < machine.levels.size(); ++at) {
        const double side = side_mm(machine, at, parts, technology.assumed.placed_share);
        for (ChipPart& part : parts) {
            if (part.kind == PartKind::network && part.level == machine.levels[at].name) {
                part.use_pj = side * pj_per_mm;
            }
        }
    }
}

void add_shares(const AssumedCircuits& assumed, std::vector<ChipPart>& parts) {
    double logic = 0.0;
    for (const ChipPart& part : parts) {
        logic += part.kind == PartKind::sram ? 0.0 : part.area_mm2;
    }
    const auto add = [&](const char* name, PartKind kind, double mm2) {
        ChipPart part;
        part.name = name;
        part.kind = kind;
        part.instances = 1.0;
        part.area_mm2 = mm2;
        part.origin = assumed.origin;
        parts.push_back(part);
    };
    add("control", PartKind::control, assumed.control_share * logic);
    add("placing and wiring", PartKind::spacing,
        chip_area_mm2(parts) * (1.0 / assumed.placed_share - 1.0));
}

} // namespace

const char* part_name(PartKind kind) {
    switch (kind) {
    case PartKind::sram:
        return "SRAM";
    case PartKind::register_file:
        return "register file";
    case PartKind::mac:
        return "MAC";
    case PartKind::network:
        return "network";
    case PartKind::clock:
        return "clock";
    case PartKind::control:
        return "control";
    case PartKind::spacing:
        break;
    }
    return "spacing";
}

bool on_chip(const Level& level) {
    return std::all_of(level.stores.begin(), level.stores.end(), [](const Store& store) {
        return store.capacity_bytes && *store.capacity_bytes < 1'000'000'000;
    });
}

double chip_area_mm2(const std::vector<ChipPart>& parts) {
    return std::accumulate(parts.begin(), parts.end(), 0.0,
                           [](double sum, const ChipPart& part) { return sum + part.area_mm2; });
}

Arithmetic multiplier(const ReferenceCircuits& r, const ProcessNode& node, double bits) {
    return {power_law(r.multiply_8_um2, r.multiply_32_um2, bits) * areas_scale(r, node),
            power_law(r.multiply_8_pj, r.multiply_32_pj, bits) * energy_scale(r, node)};
}

Arithmetic adder(const ReferenceCircuits& r, const ProcessNode& node, double bits) {
    return {straight(r.add_8_um2, r.add_32_um2, bits) * areas_scale(r, node),
            straight(r.add_8_pj, r.add_32_pj, bits) * energy_scale(r, node)};
}

double sram_macro_mm2(const AssumedCircuits& assumed, const ProcessNode& node, double bits) {
    const double side = std::sqrt(bits) + assumed.sram_edge_cells;
    return side * side * node.sram_cell_um2 * kMm2;
}

double memory_pj_per_bit(const ReferenceCircuits& r, const ProcessNode& node, double bytes) {
    return r.sram_pj_per_bit * std::sqrt(bytes / r.sram_bytes) * energy_scale(r, node);
}

std::vector<ChipPart> chip_parts(const Accelerator& machine, const ProcessNode& node,
                                 const Technology& technology) {
    std::vector<ChipPart> parts;
    const std::size_t estimated = machine.levels.size() - (machine.array ? 2 : 0);
    for (std::size_t at = 0; at < estimated; ++at) {
        const Level& level = machine.levels[at];
        for (const Store& store : level.stores) {
            if (on_chip(level)) {
                parts.push_back(memory_part(level, store,
                                            static_cast<double>(instances_of(machine, at)), node,
                                            technology));
            }
        }
        add_networks(machine, at, node, technology, parts);
    }
    if (machine.array) {
        add_array(machine, node, technology, parts);
    } else {
        parts.push_back(mac_part(machine, node, technology));
        parts.push_back(clock_part(machine, node, technology));
    }
    add_wires(machine, node, technology, parts);
    add_shares(technology.assumed, parts);
    return parts;
}

} // namespace eyeroof::model
