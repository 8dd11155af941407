// The fields of a scenario by name: one table from which the command line's options, the JSON, the
// sentence in words, sweeps, and the reference in the documentation are made.
#pragma once

#include "analysis/scenario/scenario.hpp"
#include "base/result.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis {

enum class FieldGroup { what, where, software, launch, mapping };
std::string_view field_group_title(FieldGroup group); // "Workload"

enum class FieldKind { text, choice, number, flag, list };

// `name` is the long option without dashes; the JSON key has underscores. Values are texts, as
// typed: none for a field that is not set, "1" for a flag, several for a list.
struct ScenarioField {
    std::string name;
    FieldGroup group = FieldGroup::what;
    FieldKind kind = FieldKind::text;
    std::string value; // of help: "N", "FILE", "{eager,stream,graph,none}"
    std::string help;
    std::vector<std::string> choices; // of FieldKind::choice
    std::function<std::vector<std::string>(const Scenario&)> get;
    // Sets it. Errors: "usage" with the range, choices, or nearest name.
    std::function<Diagnostics(Scenario&, const std::vector<std::string>&)> set;
    std::string json_key() const;
};

// In the order of the struct.
const std::vector<ScenarioField>& scenario_fields();
const ScenarioField* find_field(std::string_view name); // also by its JSON key

// "latency", "energy", "edp", or a product of powers such as "energy^2*latency" (in any order;
// "delay" is latency too). Errors: "usage" with the place in the text.
Result<mapper::Objective> parse_objective(const std::string& text);

// All fields as one JSON object; those that are not set are null. Reads back as the same scenario.
std::string scenario_json(const Scenario& scenario);
// A scenario from such an object, or from a document with one under "scenario". Fields that are
// absent stay as in `usual`. Errors: "bad-scenario" with the file; those of the fields.
Result<Scenario> parse_scenario(const std::string& json, const std::string& file,
                                Scenario usual = {});

} // namespace eyeroof::analysis
