#include "cli/command.hpp"
#include "model/base/ascii.hpp"
#include "model/base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <new>
#include <ostream>
#include <set>

#ifndef EYEROOF_VERSION
#define EYEROOF_VERSION "unknown"
#endif

namespace eyeroof::cli {

#define EYEROOF_COMMAND(name) void add_##name(Frame& frame);
#include "cli/commands.def"
#undef EYEROOF_COMMAND

namespace {

constexpr const char* kSummary =
    "How fast can this network run on this machine, which limit stops it, and what would help?";
constexpr const char* kFrameExamples = "# the seven steps of AlexNet on Eyeriss, layer by layer\n"
                                       "eyeroof exam alexnet --batch 4 --on eyeriss-v1\n"
                                       "# what there is\n"
                                       "eyeroof hw list\n"
                                       "eyeroof net list\n"
                                       "# your own layers on your own machine\n"
                                       "eyeroof hw show eyeriss-v1 -o mine.yaml\n"
                                       "eyeroof exam layers.csv --on mine.yaml";

class HelpFormatter : public CLI::Formatter {
  public:
    std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
        return help_text(*app);
    }
};

const CLI::App& deepest(const CLI::App& app) {
    const auto parsed = const_cast<CLI::App&>(app).get_subcommands(); // only this overload tells
    return parsed.empty() ? app : deepest(*parsed.back());
}

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

// What is wrong with the command line, in our own words where they are clearer than the parser's.
model::Diagnostics usage_error(const CLI::App& root, const CLI::ParseError& error) {
    const CLI::App& app = deepest(root);
    const std::string path = command_path(app);
    const std::string help = fmt::format("see {} --help", path);
    model::Diagnostics diagnostics;
    const auto unexpected = root.remaining(true);
    const auto commands = command_names(app);
    if (!unexpected.empty() && unexpected.front().starts_with('-')) {
        auto known = option_names(app);
        const auto global = option_names(root);
        known.insert(known.end(), global.begin(), global.end());
        const std::string near = model::closest(unexpected.front(), known);
        diagnostics.error("usage", fmt::format("{}: unknown option '{}'", path, unexpected.front()),
                          near.empty() ? help : fmt::format("did you mean {}?", near));
    } else if (!unexpected.empty() && !commands.empty()) {
        diagnostics.error("usage",
                          fmt::format("{}: unknown command '{}'", path, unexpected.front()),
                          model::suggestion(unexpected.front(), commands));
    } else if (!unexpected.empty()) {
        diagnostics.error("usage",
                          fmt::format("{}: one argument too many: '{}'", path, unexpected.front()),
                          help);
    } else if (!commands.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
        diagnostics.error("usage", fmt::format("{}: which command?", path),
                          model::suggestion("", commands, commands.size()));
    } else {
        std::string message = error.what();
        if (const auto end = message.find_last_not_of(" \n."); end != std::string::npos) {
            message.resize(end + 1);
        }
        diagnostics.error("usage", fmt::format("{}: {}", path, message), help);
    }
    return diagnostics;
}

std::string version_text(const Environment& environment) {
    std::string text = fmt::format("eyeroof {}\n", EYEROOF_VERSION);
    for (const std::string& line : environment.built_in) {
        text += line + '\n';
    }
    return text;
}

// Words that a number's reader takes and nobody means: "nan", "-inf", also behind an "@".
bool is_no_number(std::string word) {
    word.erase(0, word.find_first_not_of("@+-"));
    word = model::lowered(word);
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
void check_values(const CLI::App& app, model::Diagnostics& found) {
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& word : option->results()) {
            if (word.empty()) {
                found.error("usage",
                            fmt::format("{}: {} is empty", command_path(app), option->get_name()),
                            fmt::format("leave it out, or see {} --help", command_path(app)));
            } else if (is_no_number(word) && !takes_names(*option)) {
                found.error("usage",
                            fmt::format("{}: {} is '{}', which is no number to count with",
                                        command_path(app), option->get_name(), word),
                            "a number with digits, such as 0.5");
            } else if (is_no_count(*option, word)) {
                found.error("usage",
                            fmt::format("{}: {} is '{}', which is no count", command_path(app),
                                        option->get_name(), word),
                            "a whole number of at most 18 digits");
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
                 model::Diagnostics& found) {
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

model::Diagnostics values_found_wrong(const Frame& frame, const GlobalOptions& global,
                                      const std::vector<std::string>& arguments) {
    model::Diagnostics found;
    check_values(frame.root(), found);
    check_lists(lists_of(frame.root()), arguments, found);
    for (const std::string& folder : global.hwdb) {
        std::error_code ignored;
        if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
            found.error("usage", fmt::format("--hwdb: '{}' is no folder", folder),
                        "it holds accelerators/, gpus/ or hosts/");
        }
    }
    return found;
}

// A command's own work; what it throws ends the command with a word, not the program without one.
int run_command(const Action& action, Context& context) {
    model::Diagnostics found;
    try {
        return static_cast<int>(action(context));
    } catch (const std::bad_alloc&) {
        found.error("out-of-memory", "there is not enough memory for this",
                    "take fewer layers or a smaller file");
    } catch (const std::exception& error) {
        found.error("internal", fmt::format("this is a mistake of eyeroof's own: {}", error.what()),
                    "please report it with the command line");
    }
    return static_cast<int>(context.fail(found));
}

} // namespace

Frame::Frame() : root_(kSummary, "eyeroof") {
    root_.formatter(std::make_shared<HelpFormatter>());
    root_.option_defaults()->always_capture_default(); // help tells them
    root_.set_help_flag("-h,--help", "Show this help and exit");
    root_.set_version_flag("--version", std::string(EYEROOF_VERSION),
                           "Show the version and what is built in");
    root_
        .add_option("--hwdb", global_.hwdb, "Folder of machine files to search first (repeatable)")
        ->type_name("DIR")
        ->allow_extra_args(false);
    add_choice(root_, "--color", global_.colour, {"auto", "always", "never"},
               "Colour in text output [auto]");
    root_.require_subcommand(1);
    root_.fallthrough();
    root_.footer(kFrameExamples);
}

CLI::App& Frame::add(const std::string& name, const std::string& summary,
                     const std::string& examples, CLI::App* parent) {
    CLI::App& above = parent == nullptr ? root_ : *parent;
    CLI::App& app = *above.add_subcommand(name, summary);
    app.set_help_flag("-h,--help", "Show this help and exit");
    app.footer(examples);
    app.fallthrough();
    if (parent != nullptr) {
        parent->require_subcommand(1);
    }
    return app;
}

void Frame::run(CLI::App& app, Action action) {
    // A command with subcommands is called back after them: the deepest that was named is meant.
    app.callback([this, &app, action = std::move(action)] {
        if (app.get_subcommands().empty()) {
            chosen_ = action;
        }
    });
}

CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& value,
                        const std::vector<std::string>& choices, const std::string& description) {
    const auto check = [choices](const std::string& word) {
        if (std::find(choices.begin(), choices.end(), word) != choices.end()) {
            return std::string{};
        }
        return fmt::format("'{}' is not one of {}", word, fmt::join(choices, ", "));
    };
    return app.add_option(name, value, description)
        ->check(check)
        ->type_name(fmt::format("{{{}}}", fmt::join(choices, ",")));
}

void add_output(CLI::App& app, OutputOptions& options, const std::vector<std::string>& formats) {
    options.format = formats.front();
    add_choice(app, "--format", options.format, formats, "Output format");
    add_output_file(app, options.file);
}

void add_output_file(CLI::App& app, std::string& file) {
    app.add_option("-o,--output", file,
                   "Write the result to a file; it is whole or untouched, also on errors")
        ->type_name("FILE");
}

void add_commands(Frame& frame) {
#define EYEROOF_COMMAND(name) add_##name(frame);
#include "cli/commands.def"
#undef EYEROOF_COMMAND
}

int run_program(const std::vector<std::string>& arguments, const Environment& environment) {
    Context context(environment);
    Frame frame;
    add_commands(frame);
    try {
        std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
        frame.root().parse(std::move(reversed));
    } catch (const CLI::CallForHelp&) {
        return static_cast<int>(context.write(help_text(deepest(frame.root()))));
    } catch (const CLI::CallForVersion&) {
        return static_cast<int>(context.write(version_text(environment)));
    } catch (const CLI::ParseError& error) {
        context.report(usage_error(frame.root(), error));
        return static_cast<int>(Exit::usage);
    }
    context.global() = frame.global();
    const model::Diagnostics wrong = values_found_wrong(frame, frame.global(), arguments);
    if (wrong.has_errors()) {
        return static_cast<int>(context.fail(wrong));
    }
    return run_command(frame.chosen(), context);
}

} // namespace eyeroof::cli
