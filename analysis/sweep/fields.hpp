// What a sweep varies: fields of the machine, of the network, of the options, and their values.
// Made from `--vary FIELD=VALUES`.
//
//   FIELD    a parameter of the machine as `--set` names it, with or without "machine." before it
//            (axes.x is axis-x), or the place in its description: levels[1].fanout.x
//            machine, network: whole ones by name;  network.PARAMETER: sizes of the network
//            fields of the scenario by the names of their options, with or without "options."
//            before
//   VALUES   a,b,c;  FROM:TO:STEP, up or down, the end included where it is met;  FROM:TO:xFACTOR
#pragma once

#include "analysis/scenario/fields.hpp"
#include "analysis/what_if/parameters.hpp"
#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis {

inline constexpr std::size_t kMostValues = 1'000'000;        // of one field
inline constexpr std::size_t kMostPoints = 1'000'000'000ULL; // of a sweep

struct VariedField {
    enum class What { parameter, machine, network, size, option };

    What what = What::parameter;
    std::string key;                // "axis-x", "seq", "batch"
    std::string column;             // in files: "axis_x", "dram_bandwidth_bytes_per_cycle"
    std::vector<std::string> texts; // a value each, as files have them
    // Of parameters, by machine: values in the parameter's unit. Numbers of one machine stand for
    // all where no machine is varied.
    std::vector<std::vector<double>> numbers;
};

// Fields of the scenario that can be varied: all that hold one value but the network, the machine,
// and the choice of layers.
std::vector<const ScenarioField*> swept_fields();

// The values of one field as texts: lists are split, ranges stay "a:b:c" in one piece.
struct VaryText {
    std::string field;
    std::vector<std::string> values;
};
// Errors: "bad-sweep" without '=' or values.
Result<VaryText> parse_vary(std::string_view text);

// Values of a parameter, of whole numbers (`parameter` nullptr), ranges spread out. Errors: those
// of parse_value; "bad-range"; "too-many".
Result<std::vector<double>> spread_values(const std::vector<std::string>& texts,
                                          const Parameter* parameter, const std::string& field);

// One of the values that resolve_field() let pass.
void set_field(const ScenarioField& option, const std::string& value, Scenario& scenario);

// Resolves a field against the machines that it is for (one unless `machine` is varied too).
// Errors: "unknown-field" with the nearest; those of spread_values.
Result<VariedField> resolve_field(const VaryText& text,
                                  const std::vector<model::Machine>& machines);

} // namespace eyeroof::analysis
