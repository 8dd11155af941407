// The whole-chip figures of an exam, in a line and as columns of JSON.
#pragma once

#include "analysis/exam/report.hpp"
#include "base/units.hpp"
#include "report/answer/answer.hpp"

#include <fmt/format.h>

namespace eyeroof::report {

// "chip, estimated in 65 nm (unsourced): 5.43 mm2". Its energy is left to --chip: it is by the
// process's figures, the energy of the answer by the machine's, and neither contains the other.
inline std::string chip_text(const analysis::ChipFigures& chip) {
    return fmt::format("chip, estimated in {:g} nm ({}): {:.3g} mm2", chip.process_nm,
                       chip.confidence == "recalled" ? "unsourced" : chip.confidence,
                       chip.area_mm2);
}

inline std::vector<Column<analysis::ChipFigures>> chip_columns() {
    using Chip = analysis::ChipFigures;
    return {{"process_nm", &Chip::process_nm},
            {"area_mm2", &Chip::area_mm2},
            {"energy_j", &Chip::energy_j, kJson,
             "on the chip by the process's figures: switching alone"},
            {"energy_j_per_mm2", &Chip::energy_j_per_mm2},
            {"power_w", &Chip::power_w},
            {"confidence", &Chip::confidence, kJson, "of the least certain number in them"}};
}

} // namespace eyeroof::report
