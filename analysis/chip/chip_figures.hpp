// Whole-chip area, energy, and power of an exam, in five numbers; `eyeroof exam --chip` has them by
// component.
#pragma once

#include "analysis/exam/report.hpp"
#include "model/machine/machine.hpp"
#include "model/technology/technology.hpp"

namespace eyeroof::analysis {

// Fills report.chip where the machine is an accelerator with a known process: by its description,
// or by a published chip of its name. Leaves it empty elsewhere; warns where the process is outside
// the table.
Diagnostics add_chip(const model::Machine& machine, const model::Technology& technology,
                     Report& report);

} // namespace eyeroof::analysis
