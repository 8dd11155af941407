#include "analysis/sweep/fields.hpp"

#include "base/ascii.hpp"
#include "base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

namespace eyeroof::analysis {

using model::Machine;

namespace {

std::string trimmed(std::string_view text) {
    const std::size_t from = text.find_first_not_of(' ');
    const std::size_t to = text.find_last_not_of(' ');
    return std::string(from == std::string_view::npos ? std::string_view{}
                                                      : text.substr(from, to - from + 1));
}

std::vector<std::string> split(std::string_view text, char at) {
    std::vector<std::string> parts;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find(at, from), text.size());
        parts.push_back(trimmed(text.substr(from, to - from)));
        from = to + 1;
    }
    return parts;
}

} // namespace

std::vector<const ScenarioField*> swept_fields() {
    static const std::vector<std::string_view> fixed = {"network", "on", "layers", "host"};
    std::vector<const ScenarioField*> fields;
    for (const ScenarioField& field : scenario_fields()) {
        const bool one = field.kind != FieldKind::list &&
                         std::find(fixed.begin(), fixed.end(), field.name) == fixed.end();
        if (one) {
            fields.push_back(&field);
        }
    }
    return fields;
}

Result<VaryText> parse_vary(std::string_view text) {
    const std::size_t equals = text.find('=');
    VaryText vary;
    if (equals != std::string_view::npos) {
        vary = {trimmed(text.substr(0, equals)), split(text.substr(equals + 1), ',')};
    }
    const bool empty = std::any_of(vary.values.begin(), vary.values.end(),
                                   [](const std::string& value) { return value.empty(); });
    if (vary.field.empty() || empty) {
        return Result<VaryText>::failure("bad-sweep", fmt::format("'{}' varies nothing", text),
                                         "as in --vary axis-x=8:32:4 or --vary batch=1,2,4,8");
    }
    return Result<VaryText>(std::move(vary));
}

namespace {

Result<double> value_of(const std::string& text, const Parameter* parameter,
                        const std::string& field) {
    if (parameter != nullptr) {
        return parse_value(*parameter, text);
    }
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
        return Result<double>::failure("bad-value",
                                       fmt::format("'{}' is no number for {}", text, field),
                                       "a number, x2 for a multiple, or one with its unit");
    }
    return Result<double>(value);
}

Result<std::vector<double>> bad_range(const std::string& text, const char* why) {
    return Result<std::vector<double>>::failure(
        "bad-range", fmt::format("the range '{}' {}", text, why),
        "write FROM:TO:STEP as in 8:32:4, or FROM:TO:xFACTOR as in 8:256:x2");
}

// Value number i of a range is from + i * step or from * factor^i: rounding does not add up.
Result<std::vector<double>> spread_range(const std::string& text, const Parameter* parameter,
                                         const std::string& field) {
    const std::vector<std::string> parts = split(text, ':');
    if (parts.size() != 3) {
        return bad_range(text, "has no step");
    }
    const bool geometric = parts[2].starts_with('x') || parts[2].starts_with('X');
    const auto from = value_of(parts[0], parameter, field);
    const auto to = value_of(parts[1], parameter, field);
    Parameter step_of = parameter != nullptr ? *parameter : Parameter{};
    step_of.name = "step of " + step_of.name;
    const auto step = geometric
                          ? value_of(parts[2].substr(1), nullptr, field)
                          : value_of(parts[2], parameter != nullptr ? &step_of : nullptr, field);
    Diagnostics wrong = from.diagnostics();
    wrong.append(to.diagnostics());
    wrong.append(step.diagnostics());
    if (wrong.has_errors()) {
        return Result<std::vector<double>>(std::move(wrong));
    }
    const double by = *to < *from && !geometric ? -std::abs(*step) : *step;
    if (geometric && (*from <= 0.0 || *to < *from || by <= 1.0)) {
        return bad_range(text, "does not grow by a factor above 1");
    }
    if (!geometric && (by == 0.0 || (*to - *from) / by < 0.0)) {
        return bad_range(text, "never comes to its end");
    }
    constexpr double slack = 1e-9; // of a step: the end is met in spite of rounding
    const double steps = geometric ? std::log(*to / *from) / std::log(by) : (*to - *from) / by;
    if (steps >= static_cast<double>(kMostValues)) {
        return bad_range(text, "has too many values");
    }
    std::vector<double> values;
    for (double i = 0.0; i <= std::floor(steps + slack); i += 1.0) {
        const double value = geometric ? *from * std::pow(by, i) : *from + i * by;
        values.push_back(parameter != nullptr && parameter->whole ? std::round(value) : value);
    }
    return Result<std::vector<double>>(std::move(values));
}

// "dram-bandwidth" in "B/cycle" stands in files as "dram_bandwidth_bytes_per_cycle".
std::string column_of(const Parameter& parameter) {
    static const std::map<std::string, std::string> suffixes = {
        {"B", "_bytes"}, {"B/cycle", "_bytes_per_cycle"}, {"B/s", "_bytes_per_s"},
        {"Hz", "_hz"},   {"FLOP/s", "_flop_per_s"},       {"", ""}};
    std::string column = parameter.key;
    std::replace(column.begin(), column.end(), '-', '_');
    const auto suffix = suffixes.find(parameter.unit);
    return column + (suffix == suffixes.end() ? "" : suffix->second);
}

std::string lower(std::string text) {
    for (char& c : text) {
        c = lowered(c);
        c = c == '_' || c == ' ' ? '-' : c;
    }
    return text;
}

// The parameter that a field names: by key, as axes.NAME, or by its place in the description.
const Parameter* parameter_named(const std::vector<Parameter>& parameters,
                                 const std::string& field) {
    std::string key = lower(field);
    key = key.starts_with("machine.") ? key.substr(8) : key;
    const std::string axis = key.starts_with("axes.") ? "axis-" + key.substr(5) : key;
    for (const Parameter& parameter : parameters) {
        const bool place = std::find(parameter.fields.begin(), parameter.fields.end(), field) !=
                               parameter.fields.end() ||
                           std::find(parameter.fields.begin(), parameter.fields.end(), key) !=
                               parameter.fields.end();
        if (lower(parameter.key) == axis || place) {
            return &parameter;
        }
    }
    return nullptr;
}

Result<VariedField> parameter_field(const VaryText& text, const std::vector<Machine>& machines) {
    VariedField field;
    for (const Machine& machine : machines) {
        const std::vector<Parameter> parameters = parameters_of(machine);
        const Parameter* parameter = parameter_named(parameters, text.field);
        if (parameter == nullptr) {
            std::vector<std::string> names = {"machine", "network", "network.PARAMETER"};
            for (const Parameter& known : parameters) {
                names.push_back(known.key);
            }
            for (const ScenarioField* option : swept_fields()) {
                names.push_back(option->name);
            }
            const std::string name =
                text.field.starts_with("machine.") ? text.field.substr(8) : text.field;
            return Result<VariedField>::failure(
                "unknown-field",
                fmt::format("unknown field '{}' of {}, the network or the options", text.field,
                            machine.name),
                suggestion(name, names, 40));
        }
        auto values = spread_values(text.values, parameter, text.field);
        if (!values) {
            return Result<VariedField>(values.diagnostics());
        }
        if (!field.numbers.empty() && values->size() != field.numbers.front().size()) {
            return Result<VariedField>::failure(
                "bad-range",
                fmt::format("'{}' has another number of values on each machine", text.field),
                "give each machine's file the same list");
        }
        field.key = parameter->key;
        field.column = column_of(*parameter);
        field.numbers.push_back(*std::move(values));
    }
    for (const double value : field.numbers.front()) {
        field.texts.push_back(fmt::format("{}", value));
    }
    return Result<VariedField>(std::move(field));
}

// Whether a flag is set; nullopt: neither.
std::optional<bool> flag_of(const std::string& value) {
    static const std::map<std::string, bool> words = {
        {"0", false}, {"off", false}, {"false", false}, {"no", false},
        {"1", true},  {"on", true},   {"true", true},   {"yes", true}};
    const auto known = words.find(value);
    return known == words.end() ? std::nullopt : std::optional(known->second);
}

std::vector<std::string> as_set(const ScenarioField& option, const std::string& value) {
    const bool off = option.kind == FieldKind::flag && !flag_of(value).value_or(false);
    return off ? std::vector<std::string>{} : std::vector{value};
}

// A sweep has no mapping files: each is of one network.
bool is_policy(const std::string& word) {
    static constexpr std::array all = {MappingPolicy::automatic, MappingPolicy::dataflow,
                                       MappingPolicy::best};
    return std::any_of(all.begin(), all.end(),
                       [&](MappingPolicy policy) { return policy_name(policy) == word; });
}

Result<VariedField> option_field(const VaryText& text, const ScenarioField& option) {
    VariedField field{VariedField::What::option, option.name, option.json_key(), text.values, {}};
    if (option.kind == FieldKind::number) {
        const auto values = spread_values(text.values, nullptr, text.field);
        if (!values) {
            return Result<VariedField>(values.diagnostics());
        }
        field.texts.clear();
        for (const double value : *values) {
            field.texts.push_back(fmt::format("{}", value));
        }
    }
    Diagnostics wrong;
    for (const std::string& value : field.texts) {
        Scenario ignored;
        if (option.name == "mapping" && !is_policy(value)) {
            wrong.error("bad-value", fmt::format("'{}' is not a way to map", value),
                        "known: auto, dataflow, best");
        }
        if (option.kind == FieldKind::flag && !flag_of(value)) {
            wrong.error("bad-value",
                        fmt::format("'{}' neither sets {} nor clears it", value, option.name),
                        "known: 0, 1, on, off, true, false, yes, no");
        }
        if (option.name == "optimizer") {
            ignored.training.emplace();
        }
        for (const Diagnostic& d : option.set(ignored, as_set(option, value))) {
            wrong.error("bad-value", d.message, d.hint);
        }
    }
    return wrong.has_errors() ? Result<VariedField>(std::move(wrong))
                              : Result<VariedField>(std::move(field));
}

} // namespace

void set_field(const ScenarioField& option, const std::string& value, Scenario& scenario) {
    (void)option.set(scenario, as_set(option, value)); // resolve_field() has seen its errors
}

Result<std::vector<double>> spread_values(const std::vector<std::string>& texts,
                                          const Parameter* parameter, const std::string& field) {
    std::vector<double> values;
    Diagnostics wrong;
    for (const std::string& text : texts) {
        if (text.find(':') != std::string::npos) {
            const auto range = spread_range(text, parameter, field);
            wrong.append(range.diagnostics());
            if (range) {
                values.insert(values.end(), range->begin(), range->end());
            }
            continue;
        }
        const auto value = value_of(text, parameter, field);
        wrong.append(value.diagnostics());
        if (value) {
            values.push_back(*value);
        }
    }
    if (values.size() > kMostValues) {
        wrong.error("too-many", fmt::format("{} has {} values", field, values.size()),
                    "vary it in larger steps");
    }
    return wrong.has_errors() ? Result<std::vector<double>>(std::move(wrong))
                              : Result<std::vector<double>>(std::move(values));
}

Result<VariedField> resolve_field(const VaryText& text, const std::vector<Machine>& machines) {
    const std::string plain =
        text.field.starts_with("options.") ? text.field.substr(8) : text.field;
    for (const ScenarioField* option : swept_fields()) {
        if (option->name == plain || option->json_key() == plain) {
            return option_field(text, *option);
        }
    }
    if (text.field == "machine" || text.field == "network") {
        const auto what =
            text.field == "machine" ? VariedField::What::machine : VariedField::What::network;
        return Result<VariedField>(VariedField{what, text.field, text.field, text.values, {}});
    }
    constexpr std::string_view network = "network.";
    if (text.field.starts_with(network)) {
        const std::string parameter = text.field.substr(network.size());
        VariedField field{VariedField::What::size, parameter, parameter, {}, {}};
        const auto values = spread_values(text.values, nullptr, text.field);
        if (!values) {
            return Result<VariedField>(values.diagnostics());
        }
        for (const double value : *values) {
            field.texts.push_back(fmt::format("{}", value));
        }
        return Result<VariedField>(std::move(field));
    }
    return parameter_field(text, machines);
}

} // namespace eyeroof::analysis
