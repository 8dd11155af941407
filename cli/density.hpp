// `--density` of exam: shares of words that are not zero, by tensor or from a table, on a machine
// that does something about zeros. Used by exam.
// Knows no engine.
#pragma once

#include "cli/command.hpp"
#include "model/machine/machine.hpp"
#include "study/exam/run.hpp"

#include <string>

namespace eyeroof::cli {

void add_density(CLI::App& app, std::string& density);

// Errors: "no-zeros-skipped" for machines of which no file says what they do about zeros; those of
// the tables, and of run_sparse.
model::Result<study::Report> run_with_density(Context& context, const std::string& density,
                                              const model::Network& network,
                                              const std::string& machine_name,
                                              const model::Machine& machine,
                                              const study::StudyOptions& options);

} // namespace eyeroof::cli
