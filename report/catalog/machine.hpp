// Machines as answers: one with its parts, the list of the catalog, and the findings of its checks.
#pragma once

#include "hwdb/catalog.hpp"
#include "hwdb/lint.hpp"
#include "model/machine/machine.hpp"
#include "report/answer/answer.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

struct ListedMachine {
    hwdb::CatalogEntry entry;
    model::Machine machine;
};

Answer machine_answer(const model::Machine& machine);               // eyeroof/machine/1
Answer machines_answer(const std::vector<ListedMachine>& machines); // eyeroof/machines/1
Answer lint_answer(const std::vector<hwdb::LintReport>& reports);   // eyeroof/hw-check/1

} // namespace eyeroof::report
