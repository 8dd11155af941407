#include "cli/usage.hpp"

#include "base/ascii.hpp"
#include "base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <system_error>

namespace eyeroof::cli {

namespace {

std::string command_path(const CLI::App& app) {
    return app.get_parent() == nullptr ? app.get_name()
                                       : command_path(*app.get_parent()) + " " + app.get_name();
}

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
        names.push_back(sub->get_name());
    }
    return names;
}

// Words that a number's reader takes and no one means: "nan", "-inf", also behind an "@".
bool is_no_number(std::string word) {
    word.erase(0, word.find_first_not_of("@+-"));
    word = lowered(word);
    return word == "nan" || word == "inf" || word == "infinity" || word.starts_with("nan(");
}

bool takes_names(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const auto holds = [&](const char* word) { return type.find(word) != std::string::npos; };
    return option.get_positional() || holds("FILE") || holds("DIR") || holds("REGEX") ||
           holds("TEXT");
}

// Counts are digits and fit: a parser of unsigned numbers takes "-1" for the largest of them.
bool is_no_count(const CLI::Option& option, const std::string& word) {
    const std::string type = option.get_type_name();
    constexpr std::size_t digits = 18;
    const bool plain = word.find_first_not_of("0123456789") == std::string::npos;
    return type == "N" || type.find("UINT") != std::string::npos
               ? word.size() > digits || !plain
               : type.find("INT") != std::string::npos && plain && word.size() > digits;
}

// What no option takes, whatever it is for: nothing at all, and numbers that are none.
void check_values(const CLI::App& app, Diagnostics& found) {
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& word : option->results()) {
            if (word.empty()) {
                found.error("usage",
                            fmt::format("{}: {} is empty", command_path(app), option->get_name()),
                            fmt::format("leave it out, or see {} --help", command_path(app)));
            } else if (is_no_number(word) && !takes_names(*option)) {
                found.error("usage",
                            fmt::format("{}: {} is '{}', which is not a finite number",
                                        command_path(app), option->get_name(), word),
                            "a number with digits, such as 0.5");
            } else if (is_no_count(*option, word)) {
                found.error("usage",
                            fmt::format("{}: {} is '{}', not a whole number", command_path(app),
                                        option->get_name(), word),
                            "digits alone, at most 18 of them, such as 65536");
            }
        }
    }
    for (const CLI::App* sub : const_cast<CLI::App&>(app).get_subcommands()) {
        check_values(*sub, found);
    }
}

// Options that take a list, of all commands that were named: "--sweep-batch".
std::set<std::string> lists_of(const CLI::App& app) {
    std::set<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_delimiter() == ',') {
            names.insert(option->get_name());
        }
    }
    for (const CLI::App* sub : const_cast<CLI::App&>(app).get_subcommands()) {
        names.merge(lists_of(*sub));
    }
    return names;
}

// Lists with nothing between two commas, which the parser passes over.
void check_lists(const std::set<std::string>& lists, const std::vector<std::string>& arguments,
                 Diagnostics& found) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& word = arguments[i];
        const std::size_t equals = word.find('=');
        const std::string option = word.substr(0, equals);
        if (!lists.contains(option)) {
            continue;
        }
        const std::string list = equals != std::string::npos ? word.substr(equals + 1)
                                 : i + 1 < arguments.size()  ? arguments[i + 1]
                                                             : std::string();
        if (list.starts_with(',') || list.ends_with(',') || list.find(",,") != std::string::npos) {
            found.error("usage",
                        fmt::format("{}: '{}' has nothing between two commas", option, list),
                        "give each value once, as in 1,8,64");
        }
    }
}

// An option that means nothing unless another one is given (and, where `value` is named, is that).
struct Companion {
    const char* command; // "": every command that has both
    const char* option;
    const char* with;
    const char* value = "";
};
constexpr Companion kCompanions[] = {
    {"improve", "--epoch-steps", "--pruned-to"},
    {"import", "--batch", "--match"},
};

// Does another option of the command take the place of the companion: a session, a varied field?
bool said_elsewhere(const CLI::App& app, const std::string& with) {
    const CLI::Option* session = app.get_option_no_throw("--session");
    const CLI::Option* vary = app.get_option_no_throw("--vary");
    const auto varies = [&](const std::string& field) {
        return field.starts_with(with.substr(2) + "=");
    };
    return (session != nullptr && session->count() > 0) ||
           (vary != nullptr && std::any_of(vary->results().begin(), vary->results().end(), varies));
}

void check_companions(const CLI::App& app, Diagnostics& found) {
    for (const Companion& rule : kCompanions) {
        const CLI::Option* option = app.get_option_no_throw(rule.option);
        const CLI::Option* with = app.get_option_no_throw(rule.with);
        if (option == nullptr || with == nullptr || option->count() == 0 ||
            (*rule.command != 0 && app.get_name() != rule.command)) {
            continue;
        }
        const bool given = *rule.value == 0
                               ? with->count() > 0
                               : with->count() > 0 && with->results().front() == rule.value;
        const std::string needed =
            *rule.value == 0 ? rule.with : fmt::format("{} {}", rule.with, rule.value);
        if (!given && !said_elsewhere(app, rule.with)) {
            found.error("usage",
                        fmt::format("{}: {} says nothing without {}", command_path(app),
                                    rule.option, needed),
                        fmt::format("add {}, or leave it out", needed));
        }
    }
}

bool is_same_file(const std::string& a, const std::string& b) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(a, ignored) &&
           std::filesystem::equivalent(a, b, ignored);
}

// A result that would take the place of what it is made from.
void check_outputs(const CLI::App& app, Diagnostics& found) {
    for (const CLI::Option* output : app.get_options()) {
        const std::string name = output->get_name();
        if ((name != "--output" && name != "--save") || output->results().empty()) {
            continue;
        }
        const std::string& file = output->results().front();
        for (const CLI::Option* input : app.get_options()) {
            for (const std::string& word : input->results()) {
                const bool parameters = is_same_file(file, word.substr(0, word.rfind(':')));
                if (input != output && (parameters || is_same_file(file, word))) {
                    found.error("usage",
                                fmt::format("{}: '{}' is read, and {} would replace it",
                                            command_path(app), file, name),
                                "name another file");
                }
            }
        }
    }
}

// Names of the version before, for one release. A command of "" is every command; options of
// commands that were removed are asked of their successor.
struct Moved {
    const char* command;
    const char* name;
    const char* now;
};
constexpr Moved kMoved[] = {
    {"eyeroof", "sparse", "eyeroof exam NETWORK --on MACHINE --density SHARES"},
    {"eyeroof", "chip", "eyeroof exam NETWORK --on MACHINE --chip"},
    {"eyeroof", "cores", "eyeroof exam NETWORK --on PACKAGE --cores"},
    {"eyeroof", "split", "eyeroof scale NETWORK --on ONE --on OTHER"},
    {"eyeroof", "offload", "eyeroof upgrade NETWORK --from HOST --to GPU"},
    {"hw", "cross-validate", "examples/measurements/cross_validate.py EYEROOF TABLE"},
    {"exam", "--densities", "--density NAME"},
    {"exam", "--curve", "--density curve"},
    {"exam", "--memory", "--shared-memory RATE"},
    {"exam", "--search", "--mapping best"},
    {"improve", "--mode", "--launch"},
    {"timeline", "--mode", "--launch, with --compiled for fused operators"},
    {"scale", "--global-batch", "--batch"},
    {"scale", "--collective", "--algorithm"},
    {"tune", "--batch", "--fit-every"},
    {"tune", "--compare", "tests/bench/tune_compare.py --run EYEROOF"},
    {"tune", "--replay", "tests/bench/tune_compare.py LOG"},
    {"tune", "--recorded", "tests/bench/tune_compare.py LOG"},
    {"tune", "--threads", "--kernel-threads"},
    {"import", "--from", "--input-format"},
    {"timeline", "--steps", "--repeat"},
    {"gpu", "--library", "--kernels"},
    {"", "--nodes", "--search-nodes"},
    {"", "--fuse-attention", "--attention fused"},
};

// What other programs call an option.
constexpr Moved kElsewhere[] = {
    {"serve", "--batch", "--requests N"},
    {"serve", "--bs", "--requests N"},
    {"serve", "--batch-size", "--requests N"},
    {"", "--bs", "--batch N"},
    {"", "--batch-size", "--batch N"},
    {"", "--precision", "--dtype WORD"},
    {"", "--data-type", "--dtype WORD"},
    {"", "--fp16", "--dtype fp16"},
    {"", "--bf16", "--dtype bf16"},
    {"", "--amp", "--dtype fp16"},
    {"", "--train", "--phase training"},
    {"", "--training", "--phase training"},
    {"", "--inference", "--phase inference"},
    {"", "--gpu", "--on MACHINE"},
    {"", "--device", "--on MACHINE"},
    {"", "--hardware", "--on MACHINE"},
    {"", "--hw", "--on MACHINE"},
    {"", "--machine", "--on MACHINE"},
    {"", "--arch", "--on MACHINE"},
    {"", "--model", "NETWORK, without an option"},
    {"", "--network", "NETWORK, without an option"},
    {"", "--json", "--format json"},
    {"", "--csv", "--format csv"},
    {"", "--html", "--format html"},
    {"", "--out", "-o FILE"},
    {"", "--seq-len", "--dim seq=N"},
    {"", "--sequence-length", "--dim seq=N"},
    {"", "--cuda-graph", "--launch graph"},
    {"upgrade", "--gpus", "--count N"},
    {"upgrade", "--horizon", "--years YEARS"},
    {"upgrade", "--lifetime", "--years YEARS"},
    {"upgrade", "--price", "--buy USD"},
    {"upgrade", "--electricity", "--power-price USD"},
    {"upgrade", "--usage", "--utilization SHARE"},
    {"", "--gpus", "--devices N"},
};

// What replaces the name; an option of another program's only where the command has ours.
std::string moved_to(const std::string& command, const std::string& name,
                     const std::vector<std::string>& options) {
    for (const Moved& moved : kMoved) {
        if (name == moved.name && (*moved.command == 0 || command == moved.command)) {
            return fmt::format("it is now `{}`", moved.now);
        }
    }
    for (const Moved& other : kElsewhere) {
        const std::string_view now = other.now;
        const std::string option(now.substr(0, now.find(' ')));
        const bool here =
            !option.starts_with("--") || std::ranges::find(options, option) != options.end();
        if (here && name == other.name && (*other.command == 0 || command == other.command)) {
            return fmt::format("that is {} here", other.now);
        }
    }
    return "";
}

// "--batch: Value 0 not in range 1.000000 to 9.000000" in words; other messages as they are. The
// parser writes an open end as the largest number that there is.
std::string in_words(const std::string& message) {
    static const std::regex range(
        R"(^(.*?)(?:: )?Value (\S*) not in range (-?[0-9.e+]+) to ([0-9.e+]+)$)");
    std::smatch part;
    if (!std::regex_match(message, part, range)) {
        return message;
    }
    constexpr double open = 1e15;
    const double low = std::stod(part[3]);
    const double high = std::stod(part[4]);
    const std::string what = high < open
                                 ? fmt::format("a number from {:.10g} to {:.10g}", low, high)
                             : low > 0.0 ? fmt::format("a number of at least {:.10g}", low)
                                         : "a number above 0";
    return fmt::format("{}: '{}' is not {}", part[1].str(), part[2].str().substr(0, 40), what);
}

} // namespace

const CLI::App& deepest(const CLI::App& app) {
    const auto parsed = const_cast<CLI::App&>(app).get_subcommands(); // only this overload tells
    return parsed.empty() ? app : deepest(*parsed.back());
}

Diagnostics usage_error(const CLI::App& root, const CLI::ParseError& error) {
    const CLI::App& app = deepest(root);
    const std::string path = command_path(app);
    const std::string help = fmt::format("see {} --help", path);
    Diagnostics diagnostics;
    const auto unexpected = root.remaining(true);
    const auto commands = command_names(app);
    if (!unexpected.empty() && unexpected.front().starts_with('-')) {
        auto known = option_names(app);
        const auto global = option_names(root);
        known.insert(known.end(), global.begin(), global.end());
        const std::string near = closest(unexpected.front(), known);
        const std::string moved = moved_to(app.get_name(), unexpected.front(), known);
        diagnostics.error("usage", fmt::format("{}: unknown option '{}'", path, unexpected.front()),
                          !moved.empty() ? moved
                          : near.empty() ? help
                                         : fmt::format("did you mean {}?", near));
    } else if (!unexpected.empty() && !commands.empty()) {
        const std::string moved = moved_to(app.get_name(), unexpected.front(), {});
        diagnostics.error("usage",
                          fmt::format("{}: unknown command '{}'", path, unexpected.front()),
                          moved.empty() ? suggestion(unexpected.front(), commands) : moved);
    } else if (!unexpected.empty()) {
        diagnostics.error("usage",
                          fmt::format("{}: one argument too many: '{}'", path, unexpected.front()),
                          help);
    } else if (!commands.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
        diagnostics.error("usage", fmt::format("{}: which command?", path),
                          suggestion("", commands, commands.size()));
    } else {
        std::string message = error.what();
        if (const auto end = message.find_last_not_of(" \n."); end != std::string::npos) {
            message.resize(end + 1);
        }
        diagnostics.error("usage", fmt::format("{}: {}", path, in_words(message)), help);
    }
    return diagnostics;
}

Diagnostics values_found_wrong(const Frame& frame, const GlobalOptions& global,
                               const std::vector<std::string>& arguments) {
    Diagnostics found;
    check_values(frame.root(), found);
    check_lists(lists_of(frame.root()), arguments, found);
    check_companions(deepest(frame.root()), found);
    check_outputs(deepest(frame.root()), found);
    for (const std::string& folder : global.hwdb) {
        std::error_code ignored;
        if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
            found.error("usage", fmt::format("--hwdb: '{}' is no folder", folder),
                        "it holds accelerators/, gpus/ or hosts/");
        }
    }
    return found;
}

} // namespace eyeroof::cli
