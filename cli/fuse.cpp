// eyeroof fuse: layers that run together so that what is between them stays on the chip.
#include "analysis/exam/words.hpp"
#include "analysis/fuse/task.hpp"
#include "base/units.hpp"
#include "cli/answer.hpp"
#include "cli/scenario_options.hpp"
#include "report/fuse/fuse_answer.hpp"

namespace eyeroof::cli {

namespace {

struct FuseOptions {
    ScenarioOptions scenario;
    std::string aim = "traffic", buffer, bandwidth;
    bool curve = false;
    OutputOptions output;
};

// --buffer and --bandwidth stand in for what the machine says, or does not say.
Result<analysis::FuseOptions> wanted_of(const FuseOptions& options) {
    analysis::FuseOptions wanted;
    wanted.aim = options.aim == "latency" ? analysis::FuseAim::latency : analysis::FuseAim::traffic;
    Diagnostics found;
    if (!options.buffer.empty()) {
        const auto bytes = parse<Bytes>(options.buffer);
        found.append(bytes.diagnostics());
        wanted.buffer_bytes = bytes ? std::optional(bytes->value) : std::nullopt;
    }
    if (!options.bandwidth.empty()) {
        const auto rate = parse<BytesPerSec>(options.bandwidth);
        found.append(rate.diagnostics());
        wanted.dram_bytes_per_s = rate ? std::optional(rate->value) : std::nullopt;
    }
    return found.has_errors() ? Result<analysis::FuseOptions>(std::move(found))
                              : Result<analysis::FuseOptions>(wanted);
}

Result<report::Answer> answer_to(Context& context, const analysis::FuseTask& task, bool curve) {
    if (curve) {
        const auto points = analysis::fuse_curve(task, context.stop(), context.progress());
        return points ? Result<report::Answer>(
                            report::fuse_curve_answer(task.network.id, task.chip, *points))
                      : Result<report::Answer>(points.diagnostics());
    }
    const auto result = analysis::fuse_network(task, context.stop(), context.progress());
    return result ? Result<report::Answer>(report::fuse_answer(*result))
                  : Result<report::Answer>(result.diagnostics());
}

Exit fuse(Context& context, FuseOptions& options) {
    if (options.output.format == "svg" && !options.curve) {
        return context.fail_usage("--format svg is a picture of the curve",
                                  "add --curve, or take text, json or csv");
    }
    const auto question = question_of(context, options.scenario);
    if (!question) {
        return context.fail(question.diagnostics());
    }
    context.report(question.diagnostics());
    const auto chosen = wanted_of(options);
    const auto task = chosen ? analysis::fuse_task(*question, *chosen)
                             : Result<analysis::FuseTask>(chosen.diagnostics());
    auto answer = task ? answer_to(context, *task, options.curve)
                       : Result<report::Answer>(task.diagnostics());
    if (!answer) {
        return context.fail(answer.diagnostics());
    }
    answer->question = analysis::scenario_words(*question);
    return write_answer(context, *answer, options.output);
}

} // namespace

void add_fuse(Frame& frame) {
    auto options = std::make_shared<FuseOptions>();
    CLI::App& app = frame.add(
        "fuse", "Find which layers to fuse, so that the tensors between them stay on chip",
        "eyeroof fuse mobilenet-v1 --on eyeriss-v1\n"
        "eyeroof fuse vgg16 --on tpu-v1 --layers CONV --least latency\n"
        "# how large must the buffer be?\n"
        "eyeroof fuse vgg16 --on eyeriss-v1 --layers '^CONV|POOL' --curve\n"
        "eyeroof fuse vgg16 --on eyeriss-v1 --curve --format svg -o curve.svg\n"
        "eyeroof fuse bert-base --on simba --buffer 1MiB --format json");
    add_scenario(
        app, options->scenario,
        {{"phase",      "optimizer",  "states",    "density",  "in-place",    "host",
          "host-speed", "clocks",     "power-cap", "library",  "layout",      "compiled",
          "launch",     "streams",    "copies",    "pageable", "mapping",     "dataflow",
          "objective",  "time-limit", "factors",   "counting", "constraints", "search-nodes"}});
    add_choice(app, "--least", options->aim, {"traffic", "latency"},
               "Objective: least traffic or least latency");
    app.add_option("--buffer", options->buffer,
                   "Size of the on-chip buffer, such as 512KiB [the machine's]")
        ->type_name("SIZE");
    app.add_option("--bandwidth", options->bandwidth,
                   "Bandwidth of outer memory, such as 25GB/s [the machine's]")
        ->type_name("RATE");
    app.add_flag("--curve", options->curve, "Show the least traffic of buffers, 1 KiB to 256 MiB");
    add_output(app, options->output, answer_formats(true));
    frame.run(app, [options](Context& context) { return fuse(context, *options); });
}

} // namespace eyeroof::cli
