// eyeroof serve: a decoder that answers requests.
#include "analysis/exam/words.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/scale/serving.hpp"
#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/fabric.hpp"
#include "cli/option_values.hpp"
#include "cli/scenario_options.hpp"
#include "report/scale/serving_write.hpp"

#include <algorithm>

namespace eyeroof::cli {

namespace {

struct ServeOptions {
    ScenarioOptions scenario;
    std::string fabric, ttft, tpot;
    analysis::ServingOptions serving;
    OutputOptions output;
};

Result<analysis::ServingOptions> wanted(const ServeOptions& options) {
    analysis::ServingOptions serving = options.serving;
    Diagnostics found;
    const auto limit = [&](const char* option, const std::string& text, double& seconds) {
        if (!text.empty()) {
            const auto read = parse<Seconds>(text);
            refuse(found, option, read.diagnostics());
            seconds = read ? read->value : 0.0;
        }
    };
    limit("--ttft", options.ttft, serving.ttft_limit_s);
    limit("--tpot", options.tpot, serving.tpot_limit_s);
    if (found.has_errors()) {
        return found;
    }
    return serving;
}

// One device joins nothing; more must say what joins them.
Result<model::Fabric> joined_by(Context& context, const ServeOptions& options) {
    const auto& degrees = options.serving.tensor;
    if (!options.fabric.empty() || options.serving.expert > 1 ||
        std::any_of(degrees.begin(), degrees.end(), [](Count t) { return t > 1; })) {
        return load_fabric(context, options.fabric);
    }
    return one_device_alone();
}

Exit serve(Context& context, ServeOptions& options) {
    const auto question = question_of(context, options.scenario);
    const auto fabric = joined_by(context, options);
    auto serving = wanted(options);
    Diagnostics all = question.diagnostics();
    all.append(fabric.diagnostics());
    all.append(serving.diagnostics());
    if (all.has_errors()) {
        return context.fail(all);
    }
    if (const auto refused = analysis::check_costed(*question); refused.has_errors()) {
        return context.fail(refused);
    }
    const auto decoder = analysis::transformer_of(question->network);
    if (!decoder) {
        return context.fail(decoder.diagnostics());
    }
    serving->type = question->scenario.data_type.value_or(model::DataType::bf16);
    serving->exam = question->scenario;
    serving->host = question->host;
    const auto result = analysis::serve(*decoder, question->machine, *fabric, *serving,
                                        context.stop(), context.progress());
    if (!result) {
        return context.fail(result.diagnostics());
    }
    const std::string& format = options.output.format;
    return context.write(format == "json"  ? report::serving_json(*result)
                         : format == "csv" ? report::serving_csv(*result)
                         : format == "svg" ? report::serving_svg(*result)
                                           : with_words(analysis::scenario_words(*question),
                                                        report::serving_text(*result), format),
                         options.output.file, result->best ? Exit::done : Exit::says_no);
}

} // namespace

void add_serve(Frame& frame) {
    auto options = std::make_shared<ServeOptions>();
    CLI::App& app = frame.add(
        "serve", "Serve a decoder: first token, time per token, tokens a second and device",
        "# one GPU: how many requests at once?\n"
        "eyeroof serve llama-3-8b --on h100-sxm-80gb\n"
        "# batch against latency on 1 to 8 GPUs, and the most within two limits\n"
        "eyeroof serve llama-3-8b --on h100-sxm-80gb --fabric dgx-h100-ndr --tensor 1,2,4,8\n"
        "eyeroof serve llama-3-8b --on h100-sxm-80gb --fabric dgx-h100-ndr --ttft '500 ms'\n"
        "eyeroof serve mixtral-8x7b --on a100-sxm-80gb --fabric dgx-a100-hdr --tensor 2,4,8 "
        "--format svg");
    options->scenario.usual.launch = model::Launch::graph; // as servers replay a decoding step
    options->scenario.usual.data_type = model::DataType::bf16;
    options->scenario.usual.settled_clocks = true;
    add_scenario(app, options->scenario,
                 {{"batch", "phase", "optimizer", "states", "operators", "density", "in-place",
                   "layers", "copies", "pageable", "mapping", "dataflow", "objective", "time-limit",
                   "factors", "counting", "constraints", "search-nodes", "energies"}});
    app.add_option("--fabric", options->fabric,
                   "What joins devices: a name of hwdb/fabrics, or a file; one device needs none")
        ->type_name("FABRIC|FILE");
    analysis::ServingOptions& serving = options->serving;
    app.add_option("--prompt", serving.prompt, "Tokens of a prompt")
        ->check(CLI::Range(1, 10'000'000))
        ->capture_default_str();
    app.add_option("--answer", serving.answer, "Tokens of an answer")
        ->check(CLI::Range(1, 10'000'000))
        ->capture_default_str();
    app.add_option("--tensor", serving.tensor, "Devices that share every product: degrees to try")
        ->delimiter(',')
        ->check(CLI::Range(1, 4096))
        ->type_name("N,M,…");
    app.add_option("--expert", serving.expert, "Devices that share the experts")
        ->check(CLI::Range(1, 4096));
    app.add_option("--requests", serving.batch, "Requests at once [powers of two up to what fits]")
        ->check(CLI::PositiveNumber);
    app.add_option("--ttft", options->ttft, "Most time to the first token")->type_name("TIME");
    app.add_option("--tpot", options->tpot, "Most time per token after it")->type_name("TIME");
    app.add_option("--memory-share", serving.memory_share,
                   "Of a device's memory, for weights and cache")
        ->check(CLI::Range(0.1, 1.0))
        ->capture_default_str();
    add_output(app, options->output, {"text", "json", "csv", "svg"});
    frame.run(app, [options](Context& context) { return serve(context, *options); });
}

} // namespace eyeroof::cli
