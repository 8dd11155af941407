// The forms that a scenario's field takes: a text, a list, a flag, a word of a few, a whole number.
#pragma once

#include "analysis/scenario/fields.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis::fields {

using Texts = std::vector<std::string>;
using Get = std::function<Texts(const Scenario&)>;
using Set = std::function<Diagnostics(Scenario&, const Texts&)>;

Diagnostics refused(const std::string& name, const std::string& message, const std::string& hint);

std::string braced(const Texts& choices);

ScenarioField field(const char* name, FieldGroup group, FieldKind kind, std::string value,
                    std::string help, Get get, Set set);

// A text of the struct; empty: not set.
ScenarioField text_field(const char* name, FieldGroup group, const char* value, std::string help,
                         std::string Scenario::*member);

ScenarioField list_field(const char* name, FieldGroup group, const char* value, std::string help,
                         Texts Scenario::*member);

ScenarioField flag_field(const char* name, FieldGroup group, std::string help,
                         bool Scenario::*member);

// A word of a few; `put` gets none where the field is cleared, and refuses no word of `choices`.
ScenarioField choice_field(const char* name, FieldGroup group, const Texts& choices,
                           std::string help, Get get,
                           const std::function<void(Scenario&, const std::string*)>& put);

// A whole number in a range.
ScenarioField count_field(const char* name, FieldGroup group, std::string help, std::int64_t least,
                          std::int64_t most, Get get,
                          const std::function<void(Scenario&, std::optional<std::int64_t>)>& put);

// A positive number in a range, `usual` where it is not given; `what`: "a host's speed".
struct NumberRange {
    double usual, least, most;
    std::string what, hint;
};
ScenarioField number_field(const char* name, FieldGroup group, const char* value, std::string help,
                           double Scenario::*member, const NumberRange& range);

template <class Enum, class Name> Texts words_of(std::initializer_list<Enum> values, Name name) {
    Texts words;
    for (const Enum value : values) {
        words.emplace_back(name(value));
    }
    return words;
}

// The value of `values` with this name.
template <class Enum, class Name>
Enum named(std::initializer_list<Enum> values, Name name, const std::string& word) {
    return *std::find_if(values.begin(), values.end(),
                         [&](Enum value) { return name(value) == word; });
}

// The fields of the group "mapping": how layers are mapped onto accelerators, and the searches'
// effort.
void add_mapping(std::vector<ScenarioField>& all);

} // namespace eyeroof::analysis::fields
