// Area and power of a whole accelerator chip by component, from its description, a process, and the
// traffic of an exam. `eyeroof exam --chip`.
#pragma once

#include "analysis/chip/area_table.hpp"
#include "analysis/exam/report.hpp"
#include "model/machine/machine.hpp"
#include "model/technology/chip_parts.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct ChipPartReport {
    model::ChipPart part;
    double energy_j = 0.0; // over the network; 0 without one
    double power_w = 0.0;

    bool operator==(const ChipPartReport&) const = default;
};

struct ChipReport {
    std::string machine;
    model::ProcessNode node;
    std::vector<ChipPartReport> parts;
    double area_mm2 = 0.0;
    // Of the network, where one was examined.
    std::string network;
    double time_s = 0.0;
    double energy_j = 0.0; // of the chip, switching alone: no leakage, no gating of zeros
    double power_w = 0.0;
    std::optional<model::PublishedChip> published;
    std::vector<NamedArea> only_in_table; // components of an area table that are no level

    bool operator==(const ChipReport&) const = default;
};

// Every bit that a level reads or takes in costs its store's energy, every bit that it sends down
// or takes back the wires below it, every MAC its unit's, every cycle the pipeline registers'.
// `areas` stand instead of estimates where they name a level. `exam` may be null. Errors:
// "not-an-accelerator"; "no-process" when neither `nm`, the machine nor a published chip says;
// "no-node".
Result<ChipReport> chip_report(const model::Machine& machine, const model::Technology& technology,
                               std::optional<double> nm, const std::vector<NamedArea>& areas,
                               const Report* exam);

} // namespace eyeroof::analysis
