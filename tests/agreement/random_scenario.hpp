// Scenarios drawn at random: every field of analysis/scenario/fields.hpp takes part.
#pragma once

#include "analysis/scenario/fields.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace eyeroof::tests {

// Five GPUs, five accelerators, two hosts.
const std::vector<std::string>& twelve_machines();
bool is_accelerator(const std::string& machine);
bool is_host(const std::string& machine);

// Networks that take a part of a second, small by their parameters.
const std::vector<std::string>& quick_networks();

// Values that a field may take; why it takes part with its default alone, where it does.
struct FieldValues {
    std::vector<std::string> values;
    double chance = 0.0; // of not keeping the default
    std::string left_out;
};
// A field without values and without a reason: nothing covers it.
FieldValues values_of(const analysis::ScenarioField& field);

// The same for the same number everywhere.
analysis::Scenario random_scenario(std::uint64_t number);

} // namespace eyeroof::tests
