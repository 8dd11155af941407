#include "cli/program.hpp"

#include "cli/asked.hpp"
#include "cli/command.hpp"
#include "cli/usage.hpp"

#include <fmt/format.h>

#include <new>

namespace eyeroof::cli {

namespace {

std::string version_text(const Program& program, const Environment& environment) {
    std::string text = fmt::format("{} {}\n", program.name, EYEROOF_VERSION);
    for (const std::string& line : environment.built_in) {
        text += line + '\n';
    }
    return text;
}

// A command's own work; what it throws ends the command with a word, not the program without one.
int run_command(const Action& action, Context& context) {
    Diagnostics found;
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

// "help exam" asks what "exam --help" asks.
std::vector<std::string> with_help(std::vector<std::string> arguments) {
    if (!arguments.empty() && arguments.front() == "help") {
        arguments.erase(arguments.begin());
        arguments.emplace_back("--help");
    }
    return arguments;
}

// The arguments without the word that names the command.
std::vector<std::string> without_command(const CLI::App& root, std::vector<std::string> words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (!words[i].starts_with('-')) {
            words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
            break;
        }
        const CLI::Option* option = root.get_option_no_throw(words[i]);
        i += option != nullptr && option->get_items_expected_max() > 0 ? 1 : 0;
    }
    return words;
}

// Whether a command's result is text for people: it was asked for, or is the first of its formats.
bool prints_text(const CLI::App& app) {
    const CLI::Option* format = app.get_option_no_throw("--format");
    return format != nullptr &&
           (format->count() > 0 ? format->results().front() == "text"
                                : format->get_type_name().starts_with("{text"));
}

} // namespace

int run_program(const std::vector<std::string>& arguments, const Environment& environment,
                const Program& program) {
    Context context(environment);
    Frame frame(program);
    program.add_commands(frame);
    std::vector<std::string> given = with_help(arguments);
    if (!program.command.empty()) {
        given.insert(given.begin(), program.command);
    }
    const auto words = with_document(context, frame.root(), std::move(given));
    if (!words) {
        return static_cast<int>(context.fail(words.diagnostics()));
    }
    try {
        std::vector<std::string> reversed(words->rbegin(), words->rend());
        frame.root().parse(std::move(reversed));
    } catch (const CLI::CallForHelp&) {
        const bool named = !words->empty() && !words->front().starts_with("-");
        if (named && frame.root().get_subcommands().empty()) {
            return static_cast<int>(
                context.fail_usage(fmt::format("there is no command '{}'", words->front()),
                                   "eyeroof --help lists the commands"));
        }
        return static_cast<int>(context.write(brief_help(deepest(frame.root()))));
    } catch (const CLI::CallForAllHelp&) {
        return static_cast<int>(context.write(help_text(deepest(frame.root()))));
    } catch (const CLI::CallForVersion&) {
        return static_cast<int>(context.write(version_text(program, environment)));
    } catch (const CLI::ParseError& error) {
        context.report(usage_error(frame.root(), error));
        return static_cast<int>(Exit::usage);
    }
    context.global() = frame.global();
    const Diagnostics wrong = values_found_wrong(frame, frame.global(), *words);
    if (wrong.has_errors()) {
        return static_cast<int>(context.fail(wrong));
    }
    context.take_arguments(without_command(frame.root(), *words));
    context.ask(asked_json(deepest(frame.root())));
    if (prints_text(deepest(frame.root()))) {
        context.write_text_for_people();
    }
    return run_command(frame.chosen(), context);
}

} // namespace eyeroof::cli
