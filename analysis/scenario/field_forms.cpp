#include "analysis/scenario/field_forms.hpp"

#include "base/ascii.hpp"
#include "base/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace eyeroof::analysis::fields {

Diagnostics refused(const std::string& name, const std::string& message, const std::string& hint) {
    Diagnostics found;
    found.error("usage", "--" + name + ": " + message, hint);
    return found;
}

std::string braced(const Texts& choices) {
    return fmt::format("{{{}}}", fmt::join(choices, ","));
}

ScenarioField field(const char* name, FieldGroup group, FieldKind kind, std::string value,
                    std::string help, Get get, Set set) {
    return {name, group,          kind,          std::move(value), std::move(help),
            {},   std::move(get), std::move(set)};
}

// A text of the struct; empty: not set.
ScenarioField text_field(const char* name, FieldGroup group, const char* value, std::string help,
                         std::string Scenario::*member) {
    return field(
        name, group, FieldKind::text, value, std::move(help),
        [member](const Scenario& s) { return (s.*member).empty() ? Texts{} : Texts{s.*member}; },
        [member](Scenario& s, const Texts& texts) {
            s.*member = texts.empty() ? std::string() : texts.front();
            return Diagnostics{};
        });
}

ScenarioField list_field(const char* name, FieldGroup group, const char* value, std::string help,
                         Texts Scenario::*member) {
    return field(
        name, group, FieldKind::list, value, std::move(help),
        [member](const Scenario& s) { return s.*member; },
        [member](Scenario& s, const Texts& texts) {
            s.*member = texts;
            return Diagnostics{};
        });
}

ScenarioField flag_field(const char* name, FieldGroup group, std::string help,
                         bool Scenario::*member) {
    return field(
        name, group, FieldKind::flag, "", std::move(help),
        [member](const Scenario& s) { return s.*member ? Texts{"1"} : Texts{}; },
        [member](Scenario& s, const Texts& texts) {
            s.*member = !texts.empty();
            return Diagnostics{};
        });
}

// A word of a few; `put` gets none where the field is cleared, and refuses no word of `choices`.
ScenarioField choice_field(const char* name, FieldGroup group, const Texts& choices,
                           std::string help, Get get,
                           const std::function<void(Scenario&, const std::string*)>& put) {
    ScenarioField made =
        field(name, group, FieldKind::choice, braced(choices), std::move(help), std::move(get), {});
    made.choices = choices;
    made.set = [name = std::string(name), choices, put](Scenario& s, const Texts& texts) {
        if (texts.empty()) {
            put(s, nullptr);
            return Diagnostics{};
        }
        const std::string& word = texts.front();
        const auto known = std::find_if(choices.begin(), choices.end(), [&](const auto& choice) {
            return same_in_any_case(choice, word);
        });
        if (known == choices.end()) {
            return refused(name,
                           fmt::format("'{}' is not one of {}", word, fmt::join(choices, ", ")),
                           suggestion(word, choices));
        }
        put(s, &*known);
        return Diagnostics{};
    };
    return made;
}

// A whole number in a range.
ScenarioField count_field(const char* name, FieldGroup group, std::string help, std::int64_t least,
                          std::int64_t most, Get get,
                          const std::function<void(Scenario&, std::optional<std::int64_t>)>& put) {
    const auto set = [name = std::string(name), least, most, put](Scenario& s, const Texts& texts) {
        if (texts.empty()) {
            put(s, std::nullopt);
            return Diagnostics{};
        }
        const std::string& text = texts.front();
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = error == std::errc{} && end == text.data() + text.size();
        if (!whole || value < least || value > most) {
            return refused(
                name,
                fmt::format("'{}' is not a whole number from {} to {}", text.substr(0, 40), least,
                            most),
                fmt::format("such as --{} {}", name, std::clamp<std::int64_t>(8, least, most)));
        }
        put(s, value);
        return Diagnostics{};
    };
    return field(name, group, FieldKind::number, "N", std::move(help), std::move(get), set);
}

ScenarioField number_field(const char* name, FieldGroup group, const char* value, std::string help,
                           double Scenario::*member, const NumberRange& range) {
    const auto get = [member, usual = range.usual](const Scenario& s) {
        return s.*member == usual ? Texts{} : Texts{fmt::format("{}", s.*member)};
    };
    const auto set = [name = std::string(name), member, range](Scenario& s, const Texts& texts) {
        s.*member = range.usual;
        if (texts.empty()) {
            return Diagnostics{};
        }
        const std::string& text = texts.front();
        double number = 0.0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        const bool whole = error == std::errc{} && end == text.data() + text.size();
        if (!whole || !(number >= range.least && number <= range.most)) {
            return refused(name, fmt::format("'{}' is not {}", text.substr(0, 40), range.what),
                           range.hint);
        }
        s.*member = number;
        return Diagnostics{};
    };
    return field(name, group, FieldKind::text, value, std::move(help), get, set);
}

} // namespace eyeroof::analysis::fields
