// Published beside predicted figures of accelerators as text, JSON and CSV. Computes nothing.
#pragma once

#include "analysis/calibrate/machines.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

std::string machines_text(const std::vector<analysis::MachineTable>& tables);
std::string machines_json(const std::vector<analysis::MachineTable>& tables); // eyeroof/published/1
std::string machines_csv(const std::vector<analysis::MachineTable>& tables);

} // namespace eyeroof::report
