// The frame that every command stands in: how a command is named, shown and run.
//
// A new command is one file and one line:
//
//   1. cli/<name>.cpp defines
//          void eyeroof::cli::add_<name>(Frame& frame) {
//              auto options = std::make_shared<Options>();
//              CLI::App& app = frame.add("<name>", "One sentence: what it answers", "<examples>");
//              app.add_option("THING", options->thing, "What it is")->required();
//              add_output(app, options->output, {"text", "json"});
//              frame.run(app, [options](Context& context) { return <name>(context, *options); });
//          }
//   2. cli/commands.def gets the line EYEROOF_COMMAND(<name>, "<group of --help>").
//
// Options live in a struct that the action shares. An action gets its text ready first, then calls
// Context::write once; on errors it returns Context::fail(diagnostics) and nothing is written.
// Examples are whole command lines, one a line; a line "# …" above one says what it is for. Help,
// man page and shell completion are made from what stands here: option types in {braces} are
// completed, the types MACHINE, NETWORK and FILE too.
#pragma once

#include "cli/context.hpp"
#include "cli/program.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace eyeroof::cli {

using Action = std::function<Exit(Context&)>;

class Frame {
  public:
    explicit Frame(const Program& program = eyeroof_program());

    // A command; below `parent` a subcommand of it ("hw list"). A parent has no action of its own.
    CLI::App& add(const std::string& name, const std::string& summary, const std::string& examples,
                  CLI::App* parent = nullptr);
    void run(CLI::App& app, Action action);

    CLI::App& root() { return root_; }
    const CLI::App& root() const { return root_; }
    GlobalOptions& global() { return global_; }
    const Action& chosen() const { return chosen_; }

  private:
    CLI::App root_;
    GlobalOptions global_;
    Action chosen_;
};

// An option (or, without dashes, a positional argument) whose value is one of a few words.
CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& value,
                        const std::vector<std::string>& choices, const std::string& description);

// Where the result goes and how it looks.
struct OutputOptions {
    std::string format = "text";
    std::string file; // empty: stdout
};
// The format that the ending of a file's name stands for ("json" for x.json); empty: none.
std::string format_of_name(const std::string& file);
// Why a command of these formats cannot write a file of this name; empty: it can.
std::string not_written(const std::string& file, const std::vector<std::string>& formats);
// --format {…} with the first as the default, and -o FILE, whose ending chooses the format where
// --format does not.
void add_output(CLI::App& app, OutputOptions& options, const std::vector<std::string>& formats);
// -o FILE alone, for commands with one format.
void add_output_file(CLI::App& app, std::string& file);

// All commands of cli/commands.def, in its order.
void add_commands(Frame& frame);

// Made from the frame's own tree.
std::string completion_script(const CLI::App& root, const std::string& shell); // bash, zsh, fish
std::string manual_page(const CLI::App& root, const std::string& version);     // roff, man(7)
std::string help_text(const CLI::App& app);  // every option explained: --help-all
std::string brief_help(const CLI::App& app); // a screen: examples and what most questions need

} // namespace eyeroof::cli
