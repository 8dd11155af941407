#include "study/silicon/chip_figures.hpp"

#include "study/silicon/silicon.hpp"

#include <algorithm>

namespace eyeroof::study {

namespace {

using model::Confidence;

// In the order in which confidences stand; what the user says himself is not doubted.
Confidence least_certain(const SiliconReport& chip) {
    Confidence least = Confidence::datasheet;
    for (const SiliconPart& line : chip.parts) {
        const Confidence own = line.part.origin.confidence;
        least = own == Confidence::user ? least : std::max(least, own);
    }
    return least;
}

} // namespace

model::Diagnostics add_chip(const model::Machine& machine, const model::Technology& technology,
                            Report& report) {
    const auto chip = silicon_report(machine, technology, std::nullopt, {}, &report);
    model::Diagnostics found;
    if (!chip) {
        for (model::Diagnostic d : chip.diagnostics()) {
            if (d.code != "not-an-accelerator" && d.code != "no-process") {
                d.severity = model::Severity::warning;
                found.add(std::move(d));
            }
        }
        return found;
    }
    report.chip = ChipFigures{chip->node.nm, chip->area_mm2, chip->energy_j, chip->power_w,
                              model::confidence_name(least_certain(*chip))};
    return found;
}

} // namespace eyeroof::study
