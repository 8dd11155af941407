// What a command may use of the outside world: where data lies, where the result and the
// diagnostics go, whether a person watches, whether the run was cancelled.
// Filled by main (or by a test); handed to every command.
#pragma once

#include "base/diagnostic.hpp"
#include "base/progress.hpp"
#include "base/result.hpp"
#include "base/sink.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis {
struct Scenario;
}

namespace eyeroof::cli {

// done: the result stands on stdout. says_no: an analysis ran and its verdict is "no" (a check or a
// --fail-if). usage: the command line is wrong. bad_input: a file, machine or network is.
// unavailable: the device or its counters cannot be used. cancelled: Ctrl-C (128 + SIGINT;
// main makes it 128 + the signal that came). `profile` gives the profiled program's own.
enum class Exit {
    done = 0,
    says_no = 1,
    usage = 2,
    bad_input = 3,
    unavailable = 4,
    cancelled = 130
};

// All that the program learns from the environment, the terminal and its own place on disk.
struct Environment {
    std::ostream* out = nullptr;
    std::ostream* err = nullptr;
    bool out_is_terminal = false;
    bool err_is_terminal = false;
    std::size_t columns = 0; // of the terminal; 0: none
    bool no_colour = false;
    // Searched in this order; each may have hwdb/ and networks/.
    std::vector<std::filesystem::path> data_dirs;
    std::vector<std::string> built_in; // the lines of --version after the first
    std::stop_token stop;
    std::function<int()> signal = {}; // the one that asked to stop; 0: none
    // More time from the request to the end that is forced; without a call it is an instant.
    std::function<void(std::chrono::milliseconds)> take_time_to_stop = {};
    // Runs another program of ours with these arguments, its words where those of this one go, and
    // gives its exit code; where nothing catches the words, it takes this process's place. Error
    // "unavailable": it is not there.
    std::function<Result<int>(const std::string& program, const std::vector<std::string>& arguments,
                              const Environment& here)>
        start = {};
};

struct GlobalOptions {
    std::vector<std::string> hwdb; // --hwdb: machine folders searched before all others
    std::string colour = "auto";   // --color
};

class Context {
  public:
    explicit Context(Environment environment);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    // Folders with accelerators/, gpus/ and hosts/ in them, nearest first; only those that exist.
    std::vector<std::filesystem::path> machine_dirs() const;
    // Folders with network files in them, nearest first; only those that exist.
    std::vector<std::filesystem::path> network_dirs() const;
    // Folders with a folder for each claim.
    std::vector<std::filesystem::path> claim_dirs() const;

    std::stop_token stop() const { return environment_.stop; }
    int signal() const { return environment_.signal ? environment_.signal() : 0; }
    void take_time_to_stop(std::chrono::milliseconds most) const {
        if (environment_.take_time_to_stop) {
            environment_.take_time_to_stop(most);
        }
    }
    // Draws one line on stderr, from a second after this call on and only on a terminal. in_lines:
    // where there is none, a line each ten seconds, so that a log tells that work goes on.
    ProgressCallback progress(bool in_lines = false);

    // May the text for this output (empty: stdout) have colour?
    bool colour(const std::string& output_file) const;

    // Columns of the text for this output: the terminal's, from 80 to 120; 80 elsewhere.
    std::size_t columns(const std::string& output_file) const;

    // Prints diagnostics on stderr, errors or not.
    void report(const Diagnostics& diagnostics);
    // report(), then the exit code that fits: `cancelled`, `usage` and `unavailable` for the
    // diagnostic codes of these names, says_no for "uncosted", bad_input for all others.
    Exit fail(const Diagnostics& diagnostics);
    Exit fail_usage(const std::string& message, const std::string& hint = {});

    // The result: to stdout, or to a file, whole or not at all. Returns `otherwise` when written.
    Exit write(std::string_view text, const std::string& output_file = {},
               Exit otherwise = Exit::done);

    // The same for a long result, piece by piece: `write` fills the sink that it is given.
    Exit write(const std::function<bool(const TextSink&)>& write,
               const std::string& output_file = {}, Exit otherwise = Exit::done);

    // The text of a file that the command line names, "-": standard input, read once. Errors: those
    // of reading.
    Result<std::string> document(const std::string& name);

    // What a JSON answer repeats of its question (cli/asked.hpp): what was asked, and the scenario.
    void ask(std::string asked) { asked_ = std::move(asked); }
    void remember(const analysis::Scenario& scenario);
    // The words of the command line without the command's own.
    void take_arguments(std::vector<std::string> arguments) { arguments_ = std::move(arguments); }
    const std::vector<std::string>& arguments() const { return arguments_; }
    // The result is text for people, not rows or a document: it has colors where they are seen.
    void write_text_for_people() { for_people_ = true; }

    const Environment& environment() const { return environment_; }
    GlobalOptions& global() { return global_; }

  private:
    struct ProgressLine;

    std::vector<std::filesystem::path> existing(const char* folder) const;
    bool colour_errors() const;

    Environment environment_;
    GlobalOptions global_;
    std::shared_ptr<ProgressLine> line_;
    std::map<std::string, std::string> documents_;
    std::vector<std::string> arguments_;
    std::string asked_, scenario_; // JSON
    bool for_people_ = false;
};

} // namespace eyeroof::cli
