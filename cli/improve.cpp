// eyeroof improve: what would make a whole step quicker or smaller, alone and together.
#include "analysis/step/improve.hpp"

#include "analysis/exam/report_warnings.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/exam/words.hpp"
#include "analysis/program/memory.hpp"
#include "cli/answer.hpp"
#include "cli/scenario_options.hpp"
#include "report/step/improve_answer.hpp"

namespace eyeroof::cli {

namespace {

namespace step = analysis::step;

struct ImproveOptions {
    ScenarioOptions scenario;
    std::string memory;
    std::vector<Count> batches = {1, 2, 4};
    double pruned = 0.0, epoch_steps = 0.0; // 0: not given
    OutputOptions output;
};

Exit improve(Context& context, ImproveOptions& options) {
    const auto limit = memory_limit(options.memory);
    const auto question = question_of(context, options.scenario);
    Diagnostics all = limit.diagnostics();
    all.append(question.diagnostics());
    if (all.has_errors()) {
        return context.fail(all);
    }
    context.report(all);
    step::ImproveOptions wanted;
    if (const auto* gpu = std::get_if<model::Gpu>(&question->machine.kind)) {
        wanted.limit = limit->value_or(step::capacity_of(*gpu));
        // What does not run as it is has nothing to improve.
        const auto now = analysis::run(*question, context.stop());
        if (!now) {
            return context.fail(now.diagnostics());
        }
        context.report(analysis::fit_warning(*now));
    }
    wanted.batches = options.batches;
    wanted.density = options.pruned > 0.0 ? std::optional(options.pruned) : std::nullopt;
    wanted.steps_per_epoch =
        options.epoch_steps > 0.0 ? std::optional(options.epoch_steps) : std::nullopt;
    const auto found = step::improve(*question, wanted, context.stop(), context.progress());
    if (!found) {
        return context.fail(found.diagnostics());
    }
    report::Answer answer =
        report::improve_answer(*found, question->network.id, question->machine.id, wanted.limit);
    answer.question = analysis::scenario_words(*question);
    return write_answer(context, answer, options.output,
                        found->front.empty() ? Exit::says_no : Exit::done);
}

} // namespace

void add_improve(Frame& frame) {
    auto options = std::make_shared<ImproveOptions>();
    CLI::App& app = frame.add(
        "improve", "Find optimizations that make a step faster or smaller, alone and combined",
        "# BERT's training as PyTorch runs it: fusion, graphs, recomputation, batch, types\n"
        "eyeroof improve bert-large --on a100-sxm-40gb --phase training --batch 16\n"
        "# in 4 GB; exit 1 when nothing fits\n"
        "eyeroof improve resnet50 --batch 64 --on v100-sxm2-16gb --phase training --memory 4GB\n"
        "# pruned weights: 2:4 where tensor cores skip it, and a quarter of all blocks\n"
        "eyeroof improve bert-large --on a100-sxm-40gb --dtype fp16 --pruned-to 0.25\n"
        "# decoding: graphs, fusion, weights in int8 and int4\n"
        "eyeroof improve llama-2-7b:new=1,context=100 --on a100-sxm-80gb --dtype bf16");
    add_scenario(app, options->scenario);
    app.add_option("--memory", options->memory,
                   "Memory for tensors [the machine's, less 0.5 GB for the process]")
        ->type_name("SIZE");
    app.add_option("--batches", options->batches, "Multiples of the batch size to try [1 2 4]")
        ->check(CLI::Range(Count{1}, Count{4096}))
        ->type_name("N")
        ->delimiter(',');
    app.add_option("--pruned-to", options->pruned,
                   "Inference: share of the weights that pruning keeps, in blocks of 64 x 64")
        ->check(CLI::Range(0.01, 1.0))
        ->type_name("SHARE");
    app.add_option("--epoch-steps", options->epoch_steps,
                   "Steps of a training epoch, to cost a pruning schedule")
        ->check(CLI::Range(1.0, 1e12))
        ->type_name("N");
    add_output(app, options->output, answer_formats(true));
    frame.run(app, [options](Context& context) { return improve(context, *options); });
}

} // namespace eyeroof::cli
