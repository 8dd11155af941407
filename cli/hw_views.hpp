// Machines for a person and for a program: tables, summaries and JSON of what hwdb loaded. Computes
// nothing but what it prints; reads no file.
#pragma once

#include "hwdb/catalog.hpp"
#include "hwdb/lint.hpp"
#include "model/machine/machine.hpp"

#include <string>
#include <vector>

namespace eyeroof::cli {

struct ListedMachine {
    hwdb::CatalogEntry entry;
    model::Machine machine;
};

std::string machines_text(const std::vector<ListedMachine>& machines);
std::string machines_json(const std::vector<ListedMachine>& machines); // eyeroof/machines/1
std::string machines_csv(const std::vector<ListedMachine>& machines);  // id,family,name,trust

std::string machine_text(const model::Machine& machine);
std::string machine_json(const model::Machine& machine); // eyeroof/machine/1

std::string lint_text(const std::vector<hwdb::LintReport>& reports);
std::string lint_json(const std::vector<hwdb::LintReport>& reports); // eyeroof/hw-check/1

} // namespace eyeroof::cli
