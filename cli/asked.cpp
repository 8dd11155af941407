#include "cli/asked.hpp"

#include "analysis/scenario/fields.hpp"
#include "base/json.hpp"
#include "cli/origin.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace eyeroof::cli {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view kStart = "{\n  \"schema\": ";

bool is_own(const CLI::Option& option) {
    constexpr std::array<std::string_view, 5> kElsewhere = {"--output", "--threads", "--help",
                                                            "--format", "--scenario"};
    const std::string name = option.get_name();
    const bool several = option.count() > 1; // machines side by side: the scenario has the first
    const analysis::ScenarioField* field =
        option.get_positional() && option.get_name() == "NETWORK" ? analysis::find_field("network")
        : name.starts_with("--") ? analysis::find_field(name.substr(2))
                                 : nullptr;
    const bool of_scenario =
        field != nullptr && option.get_group() == analysis::field_group_title(field->group);
    return std::ranges::find(kElsewhere, name) == kElsewhere.end() &&
           (!of_scenario || (field->name == "on" && several));
}

// The command that the arguments name, and the place behind its name.
struct Named {
    const CLI::App* app = nullptr;
    std::size_t next = 0;
};
Named named_in(const CLI::App& root, const std::vector<std::string>& arguments) {
    Named found{&root, 0};
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto subs = found.app->get_subcommands([](const CLI::App*) { return true; });
        const auto sub = std::ranges::find_if(
            subs, [&](const CLI::App* one) { return one->get_name() == arguments[i]; });
        if (sub != subs.end()) {
            found = {*sub, i + 1};
        }
    }
    return found;
}

std::string path_of(const CLI::App& app) {
    const CLI::App* above = app.get_parent();
    return above == nullptr || above->get_parent() == nullptr
               ? app.get_name()
               : path_of(*above) + " " + app.get_name();
}

// The value of an option that stands among the arguments.
std::optional<std::string> value_in(const std::vector<std::string>& arguments,
                                    const std::string& name) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == name && i + 1 < arguments.size()) {
            return arguments[i + 1];
        }
        if (arguments[i].starts_with(name + "=")) {
            return arguments[i].substr(name.size() + 1);
        }
    }
    return std::nullopt;
}

bool stands_in(const std::vector<std::string>& arguments, const std::string& name) {
    return std::ranges::any_of(arguments, [&](const std::string& word) {
        return word == name || word.starts_with(name + "=");
    });
}

// Words of one option of the document.
std::vector<std::string> words_of(const std::string& name, const Json& values) {
    std::vector<std::string> words;
    const bool named = name.starts_with('-');
    if (named && values.empty()) {
        words.push_back(name);
    }
    for (const Json& value : values) {
        if (value.is_string()) {
            words.push_back(named ? name + "=" + value.get<std::string>()
                                  : value.get<std::string>());
        }
    }
    return words;
}

bool writes_json(const CLI::App& app) {
    const CLI::Option* format = app.get_option_no_throw("--format");
    return format != nullptr && format->get_type_name().find("json") != std::string::npos;
}

// Arguments of the document that the line does not have itself.
std::vector<std::string> added(const Json& document, const CLI::App& app,
                               const std::vector<std::string>& arguments) {
    std::vector<std::string> words;
    const auto asked = document.find("asked");
    const bool same = asked != document.end() && asked->is_object() &&
                      asked->value("command", "") == path_of(app) && asked->contains("options") &&
                      (*asked)["options"].is_object();
    if (same) {
        for (const auto& [name, values] : (*asked)["options"].items()) {
            if (values.is_array() && !stands_in(arguments, name)) {
                const auto more = words_of(name, values);
                words.insert(words.end(), more.begin(), more.end());
            }
        }
    }
    if (document.contains("schema") && writes_json(app) && !stands_in(arguments, "--format")) {
        words.emplace_back("--format=json");
    }
    return words;
}

std::string indented(const std::string& json) {
    std::string text = json_document(parse_json(json));
    text.pop_back();
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
        text.insert(at + 1, "  ");
    }
    return text;
}

} // namespace

std::string asked_json(const CLI::App& app) {
    Json options = Json::object();
    for (const CLI::Option* option : app.get_options()) {
        if (option->count() == 0 || !is_own(*option)) {
            continue;
        }
        const bool flag = option->get_expected_max() == 0;
        const auto& results = option->results();
        Json values = Json::array();
        if (flag && !results.empty() && results.front() != "true" && results.front() != "1") {
            values.push_back(results.front()); // --no-labels
        } else if (!flag && option->get_delimiter() != '\0') {
            std::string all;
            for (const std::string& word : results) {
                all += (all.empty() ? "" : ",") + word;
            }
            values.push_back(all);
        } else if (!flag) {
            values = results;
        }
        options[option->get_name()] = std::move(values);
    }
    return json_line({{"command", path_of(app)}, {"options", std::move(options)}});
}

Result<std::vector<std::string>> with_document(Context& context, const CLI::App& root,
                                               std::vector<std::string> arguments) {
    using Answer = Result<std::vector<std::string>>;
    const auto file = value_in(arguments, "--scenario");
    const Named named = named_in(root, arguments);
    if (!file || file->empty() || named.app->get_option_no_throw("--scenario") == nullptr) {
        return Answer(std::move(arguments));
    }
    const auto text = context.document(*file);
    if (!text) {
        return Answer(text.diagnostics());
    }
    const Json document = parse_json(*text);
    if (document.is_object()) { // that it is none is said by the scenario's reader
        const auto words = added(document, *named.app, arguments);
        arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(named.next), words.begin(),
                         words.end());
    }
    return Answer(std::move(arguments));
}

std::string with_question(std::string_view text, const std::string& asked,
                          const std::string& scenario) {
    const std::size_t line = text.find('\n', kStart.size());
    if (asked.empty() || !text.starts_with(kStart) || line == std::string_view::npos) {
        return std::string(text);
    }
    std::string insert = "  \"asked\": " + indented(asked) + ",\n";
    if (!scenario.empty() && !text.substr(line + 1).starts_with("  \"scenario\":")) {
        insert += "  \"scenario\": " + indented(scenario) + ",\n";
    }
    return std::string(text.substr(0, line + 1)) + insert + std::string(text.substr(line + 1));
}

} // namespace eyeroof::cli
