#include "analysis/scenario/fields.hpp"
#include "base/lines.hpp"
#include "cli/option_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

namespace eyeroof::cli {

namespace {

constexpr std::size_t kColumn = 30; // where descriptions begin
constexpr std::size_t kWidth = 98;

// Words of `text` in lines of at most kWidth, the following lines indented to kColumn.
std::string in_column(const std::string& text) {
    std::istringstream words(text);
    std::string out;
    std::size_t column = kColumn;
    for (std::string word; words >> word;) {
        if (column > kColumn && column + 1 + word.size() > kWidth) {
            out += "\n" + std::string(kColumn, ' ');
            column = kColumn;
        } else if (column > kColumn) {
            out += ' ';
            ++column;
        }
        out += word;
        column += word.size();
    }
    return out;
}

std::string row(const std::string& name, const std::string& description) {
    std::string line = "  " + name;
    const std::size_t comma = line.rfind(',', kWidth - 1);
    if (line.size() > kWidth && comma != std::string::npos) { // break between two choices
        line.insert(comma + 1, "\n      ");
    }
    if (line.size() + 2 > kColumn) {
        line += "\n" + std::string(kColumn, ' ');
    } else {
        line.resize(kColumn, ' ');
    }
    return line + in_column(description) + "\n";
}

std::string command_of(const CLI::App& app) {
    return app.get_parent() == nullptr ? app.get_name()
                                       : command_of(*app.get_parent()) + " " + app.get_name();
}

// Long lists of choices stand in the description, where they can wrap.
std::string option_row(const CLI::Option& option) {
    constexpr std::size_t longest = 48;
    std::string name = name_of(option);
    std::string description = option.get_description();
    const std::string choices = option.get_type_name();
    const bool listed = choices.starts_with('{') && choices.ends_with('}');
    if (listed && name.size() > longest && !option.get_positional()) {
        name.replace(name.size() - choices.size(), choices.size(), "WORD");
        description += ": ";
        for (const char c : choices.substr(1, choices.size() - 2)) {
            description += c == ',' ? std::string(", ") : std::string(1, c);
        }
    }
    return row(name, description + limits_of(option));
}

std::string usage(const CLI::App& app) {
    std::string text = "Usage: " + command_of(app);
    for (const CLI::Option* option : app.get_options()) {
        const bool positional = option->get_positional();
        if (positional) {
            text += option->get_required() ? " " + option->get_name(true)
                                           : " [" + option->get_name(true) + "]";
        } else if (option->get_required()) {
            text += " " + name_of(*option);
        }
    }
    return text + (app.get_require_subcommand_min() > 0 ? " COMMAND [options]\n" : " [options]\n");
}

std::string titled(const char* title, const std::string& body) {
    return body.empty() ? body : fmt::format("\n{}:\n{}", title, body);
}

std::string arguments_of(const CLI::App& app) {
    std::string text;
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_positional() && !option->get_group().empty()) {
            text += option_row(*option);
        }
    }
    return text;
}

constexpr const char* kOwn = "Options"; // the parser's name for no group

// Groups of options in the order in which they were added, the command's own first.
std::string options_of(const CLI::App& app) {
    std::vector<std::pair<std::string, std::string>> groups;
    for (const CLI::Option* option : app.get_options()) {
        const std::string& group = option->get_group();
        if (option->get_positional() || group.empty()) {
            continue;
        }
        auto at = std::find_if(groups.begin(), groups.end(),
                               [&](const auto& known) { return known.first == group; });
        if (at == groups.end()) {
            at = groups.emplace(groups.end(), group, "");
        }
        at->second += option_row(*option);
    }
    std::stable_partition(groups.begin(), groups.end(),
                          [&](const auto& group) { return group.first == kOwn; });
    std::string text;
    for (const auto& [group, rows] : groups) {
        text += titled(group.c_str(), rows);
    }
    return text;
}

// Commands under the titles of their groups, in the order in which the groups begin.
std::string commands_of(const CLI::App& app) {
    std::vector<std::pair<std::string, std::string>> groups;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (sub->get_group().empty()) {
            continue;
        }
        if (groups.empty() || groups.back().first != sub->get_group()) {
            groups.emplace_back(sub->get_group(), "");
        }
        groups.back().second += row(sub->get_name(), sub->get_description());
    }
    std::string text;
    for (const auto& [group, rows] : groups) {
        text += titled(group == "Subcommands" ? "Commands" : group.c_str(),
                       rows); // the parser's name for no group
    }
    return text;
}

std::string examples_of(const CLI::App& app) {
    std::istringstream lines(app.get_footer());
    std::string text;
    for (std::string line; std::getline(lines, line);) {
        text += line.empty() ? "\n" : "  " + line + "\n";
    }
    return text;
}

// What most questions need; the rest of a long list is named, and --help-all explains it.
bool everyday(const CLI::Option& option) {
    static const std::set<std::string> names = {
        "on",      "batch",  "dtype",   "phase",   "layers",   "set",     "scenario",
        "library", "layout", "launch",  "from",    "compiled", "to",      "mapping",
        "format",  "output", "vary",    "devices", "fabric",   "profile", "fail-if",
        "advice",  "buy",    "details", "budget",  "owned"};
    return std::any_of(option.get_lnames().begin(), option.get_lnames().end(),
                       [](const std::string& name) { return names.contains(name); });
}

// The clauses of a description that fit a line, and its default where that fits, too.
std::string brief_words(const std::string& description, std::size_t width) {
    const std::size_t bracket =
        description.ends_with(']') ? description.rfind(" [") : std::string::npos;
    const std::string usual = bracket == std::string::npos ? "" : description.substr(bracket);
    const std::string words = description.substr(0, bracket);
    if (display_width(words + usual) <= width) {
        return words + usual;
    }
    std::size_t end = words.size() <= width ? words.size() : 0;
    for (const char* marks : {":;", "(", ","}) { // a comma may part a list: the last resort
        for (std::size_t at = words.find_first_of(marks);
             end == 0 && at != std::string::npos && at <= width;
             at = words.find_first_of(marks, at + 1)) {
            const auto count = [&](char c) {
                return std::count(words.begin(), words.begin() + static_cast<long>(at), c);
            };
            const bool ends = words[at] != ':' || words.substr(at + 1, 1) == " "; // not FROM:TO
            end = ends && count('(') == count(')') && count('[') == count(']') ? at : end;
        }
    }
    if (end == 0) {
        return left(words, width);
    }
    std::string text = words.substr(0, end);
    text.resize(text.find_last_not_of(' ') + 1);
    return display_width(text + usual) <= width ? text + usual : text;
}

// "  --batch N    Samples of a step [the network's own]"
std::string brief_row(const CLI::Option& option) {
    constexpr std::size_t column = 28;
    constexpr std::size_t longest = column - 3;
    std::string name = name_of(option);
    const std::size_t kind = name.rfind(' ');
    if (display_width(name) > longest && kind != std::string::npos) {
        name.resize(kind);
    }
    return "  " + left(name, std::max(longest, display_width(name))) + " " +
           brief_words(option.get_description() + limits_of(option), kTextColumns - column) + "\n";
}

// What only this command has stands first, then what it shares with others.
std::string brief_options(const CLI::App& app, int most_own) {
    std::string own, shared, others;
    int rows = 0;
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_positional() || option->get_group().empty() ||
            option->get_lnames().empty()) {
            continue;
        }
        const std::string& name = option->get_lnames().front();
        const bool common = analysis::find_field(name) != nullptr || name.starts_with("help") ||
                            name == "scenario" || name == "format" || name == "output" ||
                            name == "threads";
        if (option->get_description().starts_with("With --")) { // of another option
            others += (others.empty() ? "--" : ", --") + name;
            continue;
        }
        const bool asked_often = everyday(*option);
        if (!common && (asked_often || (option->get_group() == kOwn && rows < most_own))) {
            own += brief_row(*option);
            rows += asked_often ? 0 : 1;
        } else if (asked_often) {
            shared += brief_row(*option);
        } else {
            others += (others.empty() ? "--" : ", --") + name;
        }
    }
    return titled("Options", own) +
           titled(own.empty() ? "Options" : "Options that commands share", shared) + "\n" +
           wrapped("Also: " + others, 2, kTextColumns) +
           fmt::format("\n{} --help-all explains every option.\n", command_of(app));
}

std::string first_examples(const CLI::App& app) {
    constexpr std::size_t most = 10; // lines
    const std::string all = examples_of(app);
    std::size_t end = 0;
    for (std::size_t lines = 0; end < all.size() && lines < most; ++lines) {
        end = std::min(all.find('\n', end), all.size() - 1) + 1;
    }
    std::string text = all.substr(0, end);
    while (text.rfind("  #") != std::string::npos &&
           text.find('\n', text.rfind("  #")) + 1 == text.size()) { // a comment without its example
        text.resize(text.rfind("  #"));
    }
    return text;
}

} // namespace

std::string brief_help(const CLI::App& app) {
    constexpr long screen = 45; // lines
    const std::string whole = help_text(app);
    if (app.get_parent() == nullptr || std::count(whole.begin(), whole.end(), '\n') <= screen) {
        return whole;
    }
    std::string text = app.get_description() + "\n\n" + usage(app);
    text += titled("Examples", first_examples(app));
    text += commands_of(app);
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_positional() && !option->get_group().empty()) {
            text += (text.find("\nArguments:\n") == std::string::npos ? "\nArguments:\n" : "") +
                    brief_row(*option);
        }
    }
    constexpr long most = 56; // lines
    constexpr int least_own = 2;
    std::string options;
    for (int own = 24; own >= least_own; --own) {
        options = brief_options(app, own);
        if (std::count(text.begin(), text.end(), '\n') +
                std::count(options.begin(), options.end(), '\n') <=
            most) {
            break;
        }
    }
    return text + options;
}

std::string help_text(const CLI::App& app) {
    std::string text = app.get_description() + "\n\n" + usage(app);
    text += commands_of(app);
    text += titled("Arguments", arguments_of(app));
    text += options_of(app);
    if (app.get_parent() != nullptr) {
        const CLI::App* root = app.get_parent();
        while (root->get_parent() != nullptr) {
            root = root->get_parent();
        }
        std::string global;
        for (const CLI::Option* option : root->get_options()) {
            if (option->get_lnames() == std::vector<std::string>{"hwdb"} ||
                option->get_lnames() == std::vector<std::string>{"color"}) {
                global += option_row(*option);
            }
        }
        text += titled("With every command", global);
    }
    text += titled("Examples", examples_of(app));
    if (app.get_parent() == nullptr) {
        text += "\nExit codes: 0 done, 1 a check or condition failed, 2 usage, 3 bad input, "
                "4 device not available.\n";
    }
    return text;
}

} // namespace eyeroof::cli
