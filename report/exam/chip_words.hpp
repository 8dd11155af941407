// The whole-chip figures of an exam, in each format. Computes nothing.
#pragma once

#include "analysis/exam/report.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace eyeroof::report {

// "chip, estimated in 65 nm (unsourced): 5.43 mm2, 3.1 mJ on it, 571 uJ/mm2, 120 mW"
inline std::string chip_text(const analysis::ChipFigures& chip) {
    return fmt::format("chip, estimated in {:g} nm ({}): {:.3g} mm2, {} on it, {}/mm2, {}",
                       chip.process_nm,
                       chip.confidence == "recalled" ? "unsourced" : chip.confidence, chip.area_mm2,
                       format_si(chip.energy_j, "J"), format_si(chip.energy_j_per_mm2(), "J"),
                       format_si(chip.power_w, "W"));
}

inline nlohmann::ordered_json chip_json(const analysis::ChipFigures& chip) {
    return {{"process_nm", chip.process_nm}, {"area_mm2", chip.area_mm2},
            {"energy_j", chip.energy_j},     {"energy_j_per_mm2", chip.energy_j_per_mm2()},
            {"power_w", chip.power_w},       {"confidence", chip.confidence}};
}

} // namespace eyeroof::report
