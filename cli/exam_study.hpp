// From the options of `eyeroof exam` to a machine and a study of it, and to the memory that a
// network takes there. Used by the examination of one machine and of several.
// Knows no output.
#pragma once

#include "cli/exam_options.hpp"
#include "study/exam/run.hpp"
#include "study/report/side_by_side.hpp"

namespace eyeroof::cli {

// The machine of --on, with what --set changes.
model::Result<model::Machine> named_machine(Context& context, const ExamOptions& options);

// What the options ask of this machine: its host, mapping file and constraints included. All
// diagnostics at once.
model::Result<study::StudyOptions> wanted_study(Context& context, const ExamOptions& options,
                                                const model::Machine& machine);

// Of a whole network on a GPU, told on stderr where it does not fit; nothing for other machines,
// for some layers only, and for networks whose graph is refused.
std::optional<study::MemoryFit> memory_of(Context& context, const ExamOptions& options,
                                          const study::read::WiredNetwork& wired,
                                          const model::Machine& machine);

// Area and power of the whole chip, where its process is told; what is wrong goes to stderr.
void add_chip_figures(Context& context, const model::Machine& machine, study::Report& report);

// With more than one --on: a table of all.
Exit exam_side_by_side(Context& context, const ExamOptions& options, const std::string& command);

} // namespace eyeroof::cli
