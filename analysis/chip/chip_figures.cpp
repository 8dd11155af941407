#include "analysis/chip/chip_figures.hpp"

#include "analysis/chip/chip.hpp"

#include <algorithm>

namespace eyeroof::analysis {

namespace {

// In the order in which confidences stand; what the user says himself is not doubted.
Confidence least_certain(const ChipReport& chip) {
    Confidence least = Confidence::datasheet;
    for (const ChipPartReport& line : chip.parts) {
        const Confidence own = line.part.origin.confidence;
        least = own == Confidence::user ? least : std::max(least, own);
    }
    return least;
}

} // namespace

Diagnostics add_chip(const model::Machine& machine, const model::Technology& technology,
                     Report& report) {
    const auto chip = chip_report(machine, technology, std::nullopt, {}, &report);
    Diagnostics found;
    if (!chip) {
        for (Diagnostic d : chip.diagnostics()) {
            if (d.code != "not-an-accelerator" && d.code != "no-process") {
                d.severity = Severity::warning;
                found.add(std::move(d));
            }
        }
        return found;
    }
    report.chip = ChipFigures{chip->node.nm, chip->area_mm2, chip->energy_j, chip->power_w,
                              confidence_name(least_certain(*chip))};
    return found;
}

} // namespace eyeroof::analysis
