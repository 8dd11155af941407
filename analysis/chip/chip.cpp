#include "analysis/chip/chip.hpp"

#include <algorithm>

namespace eyeroof::analysis {

namespace {

using model::ChipPart;
using model::PartKind;

bool is_memory(PartKind kind) {
    return kind == PartKind::sram || kind == PartKind::register_file;
}

const model::PublishedChip* published_of(const model::Technology& technology,
                                         const std::string& machine) {
    const auto found =
        std::find_if(technology.chips.begin(), technology.chips.end(),
                     [&](const model::PublishedChip& chip) { return chip.machine == machine; });
    return found == technology.chips.end() ? nullptr : &*found;
}

bool holds(const ChipPart& part, const TrafficRow& row) {
    return std::any_of(model::kAllOperands.begin(), model::kAllOperands.end(),
                       [&](model::Operand o) {
                           return part.operands.contains(o) && model::operand_name(o) == row.tensor;
                       });
}

std::size_t place_of(const model::Accelerator& machine, const std::string& level) {
    const auto found = std::find_if(machine.levels.begin(), machine.levels.end(),
                                    [&](const model::Level& l) { return l.name == level; });
    return static_cast<std::size_t>(found - machine.levels.begin());
}

// Whether what the row's level sends passes the networks below level `at`: no level between the two
// keeps the operand.
bool passes(const model::Accelerator& machine, const LayerReport& layer, const TrafficRow& row,
            std::size_t at) {
    const std::size_t from = place_of(machine, row.level);
    return from <= at &&
           std::none_of(layer.traffic.begin(), layer.traffic.end(), [&](const TrafficRow& other) {
               const std::size_t place = place_of(machine, other.level);
               return other.tensor == row.tensor && place > from && place <= at;
           });
}

// Bits of a layer that a memory reads or takes in, or that a network carries: what is sent down,
// and of results also what comes back.
double bits_used(const model::Accelerator& machine, const ChipPart& part,
                 const LayerReport& layer) {
    const bool network = part.kind == PartKind::network;
    double bytes = 0.0;
    for (const TrafficRow& row : layer.traffic) {
        const bool counts = network ? passes(machine, layer, row, place_of(machine, part.level))
                                    : row.level == part.level;
        if (holds(part, row) && counts) {
            bytes += static_cast<double>(row.read_bytes);
            bytes +=
                !network || row.tensor == "output" ? static_cast<double>(row.write_bytes) : 0.0;
        }
    }
    return 8.0 * bytes;
}

double layer_energy_j(const model::Accelerator& machine, const ChipPart& part,
                      const LayerReport& layer) {
    // Drivers and ADCs of an array in memory cost what the description says of each use.
    if (machine.array && part.level == machine.array->name) {
        double energy_j = 0.0;
        for (const TrafficRow& row : layer.traffic) {
            energy_j += row.level == part.level ? row.energy_j : 0.0;
        }
        return energy_j;
    }
    double uses = 0.0;
    if (part.kind == PartKind::mac) {
        uses = static_cast<double>(layer.macs);
    } else if (part.kind == PartKind::clock) {
        uses = layer.cycles;
    } else if (is_memory(part.kind) || part.kind == PartKind::network) {
        uses = bits_used(machine, part, layer);
    }
    return uses * part.use_pj * 1e-12;
}

void add_energies(const model::Accelerator& machine, const Report& exam, ChipReport& report) {
    report.network = exam.network_name;
    report.time_s = exam.total.time_s;
    for (ChipPartReport& line : report.parts) {
        for (const LayerReport& layer : exam.layers) {
            line.energy_j +=
                static_cast<double>(layer.layer.count) * layer_energy_j(machine, line.part, layer);
        }
        line.power_w = report.time_s > 0.0 ? line.energy_j / report.time_s : 0.0;
        report.energy_j += line.energy_j;
        report.power_w += line.power_w;
    }
}

// Of a level with several stores the table's area goes to each in proportion to its estimate.
bool take_area(const NamedArea& area, std::vector<ChipPart>& parts) {
    double estimated = 0.0;
    for (const ChipPart& part : parts) {
        estimated += is_memory(part.kind) && part.level == area.name ? part.area_mm2 : 0.0;
    }
    if (estimated <= 0.0) {
        return false;
    }
    for (ChipPart& part : parts) {
        if (is_memory(part.kind) && part.level == area.name) {
            part.area_mm2 *= area.um2 * 1e-6 * part.instances / estimated;
            part.origin = {"table of areas", Confidence::user};
        }
    }
    return true;
}

void take_areas(const std::vector<NamedArea>& areas, std::vector<ChipPart>& parts,
                ChipReport& report) {
    for (const NamedArea& area : areas) {
        if (!take_area(area, parts)) {
            report.only_in_table.push_back(area);
            report.area_mm2 += area.instances * area.um2 * 1e-6;
        }
    }
}

} // namespace

Result<ChipReport> chip_report(const model::Machine& machine, const model::Technology& technology,
                               std::optional<double> nm, const std::vector<NamedArea>& areas,
                               const Report* exam) {
    using Answer = Result<ChipReport>;
    const auto* accelerator = std::get_if<model::Accelerator>(&machine.kind);
    if (accelerator == nullptr) {
        return Answer::failure("not-an-accelerator",
                               machine.id + " is a GPU or a host: only accelerators are described "
                                            "by their memories, networks and units",
                               "`eyeroof hw list` has the accelerators, such as eyeriss-v1");
    }
    const model::PublishedChip* chip = published_of(technology, machine.id);
    if (!nm && machine.process_nm > 0.0) {
        nm = machine.process_nm;
    }
    if (!nm && chip == nullptr) {
        return Answer::failure("no-process", "the process of " + machine.id + " is not known",
                               "give it: --process 16, or process_nm in the machine's file");
    }
    const auto node = model::node_of(technology, nm ? *nm : chip->nm);
    if (!node) {
        return node.diagnostics();
    }
    ChipReport report;
    report.machine = machine.name;
    report.node = *node;
    std::vector<ChipPart> parts = model::chip_parts(*accelerator, *node, technology);
    take_areas(areas, parts, report);
    for (const ChipPart& part : parts) {
        report.parts.push_back({part, 0.0, 0.0});
    }
    report.area_mm2 += model::chip_area_mm2(parts);
    if (chip != nullptr && chip->nm == node->nm) {
        report.published = *chip;
    }
    if (exam != nullptr) {
        add_energies(*accelerator, *exam, report);
    }
    return report;
}

} // namespace eyeroof::analysis
