// eyeroof improve: what would make a whole step quicker or smaller, alone and together.
#include "study/step/improve.hpp"

#include "cli/step_inputs.hpp"

namespace eyeroof::cli {

namespace {

namespace step = study::step;

struct ImproveOptions {
    StepOptions step;
    std::string memory, mode = "eager";
    std::vector<model::Count> batches = {1, 2, 4};
    double density = 0.0, epoch_steps = 0.0; // 0: not given
};

Exit improve(Context& context, const ImproveOptions& options) {
    const auto inputs = load_step(context, options.step);
    if (!inputs) {
        return context.fail(inputs.diagnostics());
    }
    context.report(inputs.diagnostics());
    step::ImproveOptions wanted;
    wanted.graph = inputs->graph_options;
    wanted.host = inputs->host;
    wanted.eager = options.mode == "eager";
    wanted.limit = step::capacity_of(inputs->gpu());
    wanted.batches = options.batches;
    wanted.density = options.density > 0.0 ? std::optional(options.density) : std::nullopt;
    wanted.steps_per_epoch =
        options.epoch_steps > 0.0 ? std::optional(options.epoch_steps) : std::nullopt;
    if (!options.memory.empty()) {
        const auto bytes = model::parse_quantity(options.memory, "B", "a memory");
        if (!bytes) {
            return context.fail_usage("--memory " + options.memory + " is no amount of memory",
                                      "as in --memory 16GB or 24GiB");
        }
        wanted.limit = static_cast<model::Count>(*bytes);
    }
    const auto found = step::improve(inputs->network, inputs->wiring, inputs->gpu(), wanted,
                                     context.stop(), context.progress());
    if (!found) {
        return context.fail(found.diagnostics());
    }
    const std::string text =
        options.step.output.format == "json"
            ? step::improve_json(*found, inputs->network.id, inputs->machine.id, wanted.limit)
            : step::improve_text(
                  *found, inputs->network.name, inputs->machine.id,
                  step::run_words(inputs->network.layers,
                                  wanted.graph.training ? wanted.graph.training->optimizer : ""),
                  wanted.limit);
    return context.write(text, options.step.output.file,
                         found->front.empty() ? Exit::says_no : Exit::done);
}

} // namespace

void add_improve(Frame& frame) {
    auto options = std::make_shared<ImproveOptions>();
    CLI::App& app = frame.add(
        "improve", "What makes a step quicker or smaller: remedies alone and together",
        "# BERT's training as PyTorch runs it: fusion, graphs, recomputation, batch, types\n"
        "eyeroof improve bert-large --on a100-sxm-40gb --phase training --batch 16\n"
        "# in 4 GB; exit 1 when nothing fits\n"
        "eyeroof improve resnet50 --batch 64 --on v100-sxm2-16gb --phase training --memory 4GB\n"
        "# pruned weights: 2:4 where tensor cores skip it, and a quarter of all blocks\n"
        "eyeroof improve bert-large --on a100-sxm-40gb --dtype fp16 --density 0.25\n"
        "# decoding: graphs, fusion, weights in int8 and int4\n"
        "eyeroof improve llama-2-7b:new=1,context=100 --on a100-sxm-80gb --dtype bf16");
    add_step_options(app, options->step);
    app.add_option("--memory", options->memory,
                   "Bytes for tensors [the machine's, less 0.5 GB for a process]")
        ->type_name("SIZE");
    add_choice(app, "--mode", options->mode, {"eager", "stream"},
               "How it is run now: a framework's calls, or back-to-back launches");
    app.add_option("--batches", options->batches, "Multiples of the batch to try [1 2 4]")
        ->check(CLI::Range(model::Count{1}, model::Count{4096}))
        ->type_name("N")
        ->delimiter(',');
    app.add_option("--density", options->density,
                   "Inference: share of the weights, in blocks of 64 x 64, that pruning leaves")
        ->check(CLI::Range(0.01, 1.0))
        ->type_name("SHARE");
    app.add_option("--epoch-steps", options->epoch_steps,
                   "Steps of an epoch of training, for what a pruning schedule costs")
        ->check(CLI::Range(1.0, 1e12))
        ->type_name("N");
    add_output(app, options->step.output, {"text", "json"});
    frame.run(app, [options](Context& context) { return improve(context, *options); });
}

} // namespace eyeroof::cli
