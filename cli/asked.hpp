// What a JSON answer repeats of its own question, so that `--scenario answer.json` asks it again.
#pragma once

#include "cli/context.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace eyeroof::cli {

// {"command": "exam", "options": {"--steps": ["all"]}}: what was given beside the scenario. Left
// out is what the answer does not depend on, and where it goes.
std::string asked_json(const CLI::App& app);

// The arguments with those of the document of --scenario, where it is an answer of the same
// command: options that stand on the command line replace them, and it is written as JSON again.
// Errors: those of reading the document.
Result<std::vector<std::string>> with_document(Context& context, const CLI::App& root,
                                               std::vector<std::string> arguments);

// A JSON answer with "asked" and, where it does not have it, "scenario" behind its "schema"; any
// other text as it is.
std::string with_question(std::string_view text, const std::string& asked,
                          const std::string& scenario);

} // namespace eyeroof::cli
