// An exam on machines that skip zeros: --density.
#include "analysis/exam/run.hpp"
#include "analysis/exam/words.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/sparse/levels_exam.hpp"
#include "analysis/sparse/task.hpp"
#include "cli/answer.hpp"
#include "cli/exam_options.hpp"
#include "report/sparse/sparse_answer.hpp"

#include <fmt/format.h>

namespace eyeroof::cli {

namespace {

std::string words_of(const analysis::Scenario& scenario, const model::Network& network,
                     const analysis::SparseMachine& machine) {
    analysis::Question question;
    question.scenario = scenario;
    question.scenario.operators = analysis::Operators::all;
    question.network = network;
    question.machine.name = machine.name;
    return analysis::scenario_words(question);
}

Result<report::Answer> answer_to(Context& context, const analysis::SparseTask& task, bool details) {
    if (task.densities.empty()) {
        const auto points = analysis::density_curve(task);
        return points ? Result<report::Answer>(
                            report::density_curve_answer(task.machine, task.network.id, *points))
                      : Result<report::Answer>(points.diagnostics());
    }
    const auto exam = analysis::sparse_exam(task, context.stop(), context.progress());
    return exam ? Result<report::Answer>(report::sparse_answer(*exam, details))
                : Result<report::Answer>(exam.diagnostics());
}

Exit write_sparse(Context& context, const ExamOptions& options,
                  const analysis::SparseMachine& machine, const analysis::Scenario& scenario) {
    const auto loaded =
        analysis::load_workload(scenario.network, scenario.sizes, folders_of(context));
    const auto task =
        loaded ? analysis::sparse_task(machine, scenario, *loaded, context.machine_dirs())
               : Result<analysis::SparseTask>(loaded.diagnostics());
    if (!task) {
        return context.fail(task.diagnostics());
    }
    context.report(task.diagnostics());
    auto answer = answer_to(context, *task, options.details);
    if (!answer) {
        return context.fail(answer.diagnostics());
    }
    answer->question = words_of(scenario, task->network, machine);
    return write_answer(context, *answer, options.output);
}

} // namespace

std::optional<Exit> exam_zeros(Context& context, const ExamOptions& options,
                               const analysis::Scenario& scenario,
                               std::optional<analysis::SparseLevels>& levels) {
    auto machine = analysis::load_sparse_machine(scenario.machine, context.machine_dirs());
    if (!machine) {
        return analysis::is_sparse_file(scenario.machine)
                   ? std::optional(context.fail(machine.diagnostics()))
                   : std::nullopt; // as every exam, or refused by run_with_density()
    }
    auto* of_levels = std::get_if<analysis::SparseLevels>(&machine->kind);
    if (of_levels != nullptr && scenario.density != analysis::kDensityCurve) {
        levels = std::move(*of_levels);
        return std::nullopt;
    }
    if (scenario.density.empty()) {
        return context.fail_usage(
            fmt::format("{} skips zeros: how many values are not zero?", machine->name),
            "--density weights=0.4,inputs=0.6, a table such as alexnet-pruned, or curve");
    }
    return write_sparse(context, options, *machine, scenario);
}

Result<analysis::Report> run_with_density(Context& context, const analysis::Question& question,
                                          std::optional<analysis::SparseLevels> levels) {
    if (!levels) {
        return Result<analysis::Report>::failure(
            "no-zeros-skipped",
            fmt::format("no file describes how {} skips zeros", question.machine.name),
            "machines with one: eyeriss-v2, scnn, eie, sparse-tensor-core; hwdb/sparse has the "
            "format");
    }
    levels->machine = question.machine; // as --set left it
    analysis::Question dense = question;
    dense.scenario.density.clear();
    const auto network = analysis::lowered_network(dense);
    if (!network) {
        return network.diagnostics();
    }
    const auto shares =
        analysis::shares_of(question.scenario.density, *network, context.machine_dirs());
    if (!shares) {
        return shares.diagnostics();
    }
    Diagnostics said;
    for (const Diagnostic& one : shares.diagnostics()) {
        // of a layer that --layers excludes
        if (!question.scenario.layers || one.code != "unused-density") {
            said.add(one);
        }
    }
    context.report(said);
    return analysis::run_sparse(question, *levels, *shares, context.stop(), context.progress());
}

} // namespace eyeroof::cli
