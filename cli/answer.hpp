// Writes the answer of a command in the format that was chosen.
#pragma once

#include "cli/command.hpp"
#include "cli/fail_if.hpp"
#include "model/machine/machine.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::cli {

// The formats of every answer; svg for those with a picture.
std::vector<std::string> answer_formats(bool picture = false);

// Warnings of formats without a place for them go to the error stream.
void report_warnings(Context& context, const report::Answer& answer, const std::string& format);

// In the format that was chosen; svg of an answer without a picture is refused. CSV has rows alone,
// so its warnings go to the error stream.
Exit write_answer(Context& context, const report::Answer& answer, const OutputOptions& output,
                  Exit otherwise = Exit::done);
// HTML and Markdown end with what made them: the command, and the sources of the machines.
Exit write_answer(Context& context, const report::Answer& answer, const OutputOptions& output,
                  const std::string& command, const std::vector<model::Machine>& machines,
                  Exit otherwise = Exit::done);
// Exit code 1 where the condition holds of the figures.
Exit write_answer(Context& context, const report::Answer& answer, const OutputOptions& output,
                  const FailIf& fail_if, const analysis::GateFigures& figures,
                  Exit otherwise = Exit::done);

} // namespace eyeroof::cli
