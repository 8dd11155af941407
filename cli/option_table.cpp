#include "cli/option_table.hpp"

#include "analysis/scenario/fields.hpp"
#include "cli/option_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

namespace eyeroof::cli {

namespace {

struct OptionRow {
    std::string name, meaning;
    std::vector<std::string> commands;
};

std::string cell(const std::string& text) {
    std::string out;
    for (const char c : text) {
        out += c == '|' ? "\\|" : c == '<' ? "&lt;" : std::string(1, c);
    }
    return out;
}

// What stands before the bracket with a default: commands may differ in it.
std::string without_default(const std::string& meaning) {
    const std::size_t bracket = meaning.rfind(" [");
    return meaning.ends_with(']') && bracket != std::string::npos ? meaning.substr(0, bracket)
                                                                  : meaning;
}

bool skips(const CLI::Option& option) {
    return option.get_positional() || option.get_lnames() == std::vector<std::string>{"help"};
}

class Rows {
  public:
    void add(const CLI::App& app, const std::string& path) {
        for (const CLI::Option* option : app.get_options()) {
            if (!skips(*option)) {
                add(*option, path);
            }
        }
        for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
            add(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name());
        }
    }

    // Takes out the rows of one option, in the order of the commands.
    std::vector<OptionRow> take(const std::string& option) {
        const auto found = rows_.find(option);
        std::vector<OptionRow> rows =
            found == rows_.end() ? std::vector<OptionRow>{} : found->second;
        rows_.erase(option);
        return rows;
    }

    std::vector<std::string> left() const {
        std::vector<std::string> names;
        for (const auto& [name, rows] : rows_) {
            names.push_back(name);
        }
        return names;
    }

  private:
    void add(const CLI::Option& option, const std::string& command) {
        const std::string meaning = option.get_description() + limits_of(option);
        std::vector<OptionRow>& rows = rows_["--" + option.get_lnames().front()];
        const auto same = std::ranges::find_if(rows, [&](const OptionRow& row) {
            return without_default(row.meaning) == without_default(meaning);
        });
        OptionRow& row =
            same == rows.end() ? rows.emplace_back(OptionRow{name_of(option), meaning, {}}) : *same;
        row.commands.push_back(meaning == row.meaning || command.empty()
                                   ? command
                                   : fmt::format("{} ({})", command, default_of(meaning)));
    }

    static std::string default_of(const std::string& meaning) {
        const std::size_t bracket = meaning.rfind('[');
        return meaning.ends_with(']') && bracket != std::string::npos
                   ? meaning.substr(bracket + 1, meaning.size() - bracket - 2)
                   : "no default";
    }

    std::map<std::string, std::vector<OptionRow>> rows_;
};

std::string table(const std::vector<OptionRow>& rows) {
    std::string text =
        "| option | meaning [default] | commands (their own default) |\n|---|---|---|\n";
    for (const OptionRow& row : rows) {
        const bool everywhere = std::ranges::find(row.commands, "") != row.commands.end();
        text += fmt::format("| `{}` | {} | {} |\n", cell(row.name), cell(row.meaning),
                            everywhere ? "every command"
                                       : cell(fmt::format("{}", fmt::join(row.commands, ", "))));
    }
    return text + "\n";
}

constexpr analysis::FieldGroup kGroups[] = {
    analysis::FieldGroup::what, analysis::FieldGroup::where, analysis::FieldGroup::software,
    analysis::FieldGroup::launch, analysis::FieldGroup::mapping};

} // namespace

std::string option_table(const CLI::App& root) {
    Rows all;
    all.add(root, "");
    std::string text =
        "# Options\n\n"
        "Every option once, with the commands that take it; `eyeroof manual --options` writes\n"
        "this page. The first tables are the scenario: what is run, where, and how.\n\n";
    for (const analysis::FieldGroup group : kGroups) {
        std::vector<OptionRow> rows;
        for (const analysis::ScenarioField& field : analysis::scenario_fields()) {
            if (field.group == group) {
                std::ranges::move(all.take("--" + field.name), std::back_inserter(rows));
            }
        }
        text += fmt::format("## {}\n\n{}", analysis::field_group_title(group), table(rows));
    }
    std::vector<OptionRow> rest;
    for (const std::string& name : all.left()) {
        std::ranges::move(all.take(name), std::back_inserter(rest));
    }
    text += "## Options of single commands\n\n" + table(rest);
    text.pop_back();
    return text;
}

} // namespace eyeroof::cli
