// eyeroof exam --on A --on B: the same scenario on several machines.
#include "analysis/exam/report_warnings.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/what_if/headline.hpp"
#include "cli/answer.hpp"
#include "cli/exam_options.hpp"
#include "report/exam/side_by_side.hpp"

#include <fmt/format.h>

namespace eyeroof::cli {

namespace {

// The first option that asks about one machine only.
std::string one_only(const ExamOptions& options, const analysis::Scenario& scenario) {
    for (const auto& [given, what] :
         {std::pair(!options.compat.empty(), "--compat"), std::pair(options.advice, "--advice"),
          std::pair(options.details, "--details"), std::pair(!options.fail_if.empty(), "--fail-if"),
          std::pair(options.require_proof, "--require-proof"),
          std::pair(options.cores.given(), "--cores"), std::pair(options.chip.given(), "--chip"),
          std::pair(!options.tuned.empty(), "--tuned"),
          std::pair(!scenario.density.empty(), "--density"),
          std::pair(!options.measured.none(), "a measurement")}) {
        if (given) {
            return what;
        }
    }
    return {};
}

} // namespace

Exit exam_side_by_side(Context& context, const ExamOptions& options,
                       const analysis::Scenario& scenario, const std::string& command) {
    if (const std::string what = one_only(options, scenario); !what.empty()) {
        return context.fail_usage(what + " needs exactly one --on",
                                  "examine one machine at a time");
    }
    const analysis::DataFolders folders = folders_of(context);
    const auto network = analysis::load_workload(scenario.network, scenario.sizes, folders);
    Diagnostics all = network.diagnostics();
    std::vector<analysis::Question> questions;
    for (const std::string& name : options.scenario.machines) {
        analysis::Scenario own = scenario;
        own.machine = name;
        auto question = analysis::resolve(own, network ? *network : model::NetworkGraph{}, folders);
        all.append(question.diagnostics());
        if (question) {
            questions.push_back(*std::move(question));
        }
    }
    if (all.has_errors()) {
        return context.fail(all);
    }
    context.report(all);
    std::vector<analysis::Report> sides;
    std::vector<model::Machine> machines;
    for (const analysis::Question& question : questions) {
        auto report = analysis::run(question, context.stop(), context.progress());
        if (!report) {
            return context.fail(report.diagnostics());
        }
        context.report(report.diagnostics());
        add_chip_figures(context, question.machine, *report);
        analysis::find_largest_batch(*report, question, context.stop());
        context.report(analysis::fit_warning(*report));
        analysis::find_headline(*report, question, context.stop());
        sides.push_back(*std::move(report));
        machines.push_back(question.machine);
    }
    return write_answer(context, report::side_by_side_answer(sides), options.output, command,
                        machines);
}

} // namespace eyeroof::cli
