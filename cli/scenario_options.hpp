// The options that every question shares, made from the fields of a scenario
// (analysis/scenario/fields.hpp): one group each in help, the same names and defaults in every
// command.
#pragma once

#include "analysis/resolve/resolve.hpp"
#include "analysis/scenario/fields.hpp"
#include "cli/command.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::cli {

// What a command takes of them.
struct ScenarioShape {
    std::vector<std::string> without;                 // fields that mean nothing to it, by name
    bool several_machines = false;                    // --on more than once
    bool network = true;                              // the first argument is the network
    std::map<std::string, std::string> defaults = {}; // in words, of fields by name
};

struct ScenarioOptions {
    struct Value {
        std::vector<std::string> texts;
        bool flag = false;
        const CLI::Option* option = nullptr;
    };
    analysis::Scenario usual; // where nothing else says so: the command's defaults, a session
    std::vector<std::string> machines; // after scenario_of(): all of --on, the scenario's own first
    std::string document;              // --scenario
    std::map<std::string, Value> values; // by field
    bool given(const std::string& field) const;
};

// `options` lives as long as `app`.
void add_scenario(CLI::App& app, ScenarioOptions& options, const ScenarioShape& shape = {});

// From the document of --scenario, or else what is usual, and on top of it the options; lists grow.
// Remembers the scenario for the JSON answer. Errors: those of the document and the fields, at
// once.
Result<analysis::Scenario> scenario_of(Context& context, ScenarioOptions& options);
// The same with all that it names. Errors: "usage" where the network or the machine is missing;
// those of resolve().
Result<analysis::Question> question_of(Context& context, ScenarioOptions& options);

// --dim alone, of commands that name a network and ask nothing of a machine.
void add_sizes(CLI::App& app, std::vector<std::string>& sizes);
// --timing: how measured times were taken.
void add_timing(CLI::App& app, std::string& timing);

// "usage" where the network or the machine that the command needs is not named.
Diagnostics missing(const ScenarioOptions& options, const analysis::Scenario& scenario);

// Of --memory: "16GB", "24GiB"; nothing for an empty text. Errors: "usage".
Result<std::optional<Count>> memory_limit(const std::string& text);

analysis::DataFolders folders_of(const Context& context);
Result<model::Machine> load_machine(const Context& context, const std::string& name,
                                    const std::string& energies = {});

// Does the catalog have a machine of this name?
bool is_machine(const Context& context, const std::string& name);

} // namespace eyeroof::cli
