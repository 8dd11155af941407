// eyeroof fuse: layers that run together so that what is between them stays on the chip.
#include "analysis/exam/words.hpp"
#include "analysis/program/lower.hpp"
#include "base/pattern.hpp"
#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/scenario_options.hpp"
#include "report/fuse/fuse_report.hpp"
#include "report/page/table_page.hpp"

namespace eyeroof::cli {

namespace {

struct FuseOptions {
    ScenarioOptions scenario;
    std::string aim = "traffic", buffer, bandwidth;
    bool curve = false;
    OutputOptions output;
};

// --buffer and --bandwidth stand in for what the machine says, or does not say.
Result<analysis::Chip> chosen_chip(const FuseOptions& options, const model::Machine& machine,
                                   model::DataType type) {
    auto chip = analysis::chip_of(machine, type);
    Diagnostics found;
    std::optional<double> buffer, bandwidth;
    if (!options.buffer.empty()) {
        const auto bytes = parse<Bytes>(options.buffer);
        found.append(bytes.diagnostics());
        buffer = bytes ? std::optional(bytes->value) : std::nullopt;
    }
    if (!options.bandwidth.empty()) {
        const auto rate = parse<BytesPerSec>(options.bandwidth);
        found.append(rate.diagnostics());
        bandwidth = rate ? std::optional(rate->value) : std::nullopt;
    }
    if (found.has_errors()) {
        return found;
    }
    if (!chip) {
        return chip.diagnostics();
    }
    chip->buffer_bytes = buffer.value_or(chip->buffer_bytes);
    chip->dram_bytes_per_s = bandwidth.value_or(chip->dram_bytes_per_s);
    if (chip->buffer_bytes < 1.0 || chip->buffer_bytes > 1e15 || bandwidth == 0.0) {
        return Result<analysis::Chip>::failure(
            "out-of-range", "the buffer has 1 B to 1 PB, and the link more than 0 B/s",
            "as in --buffer 512KiB --bandwidth '100 GB/s'");
    }
    return chip;
}

// The layers whose names match.
Result<model::Network> chosen_layers(model::Network network,
                                     const std::optional<std::string>& expression) {
    if (!expression) {
        return Result<model::Network>(std::move(network));
    }
    const auto pattern = Pattern::compile(*expression);
    if (!pattern) {
        return pattern.diagnostics();
    }
    std::erase_if(network.layers,
                  [&](const model::Layer& layer) { return !pattern->found_in(layer.name); });
    if (network.layers.empty()) {
        return Result<model::Network>::failure("no-layers",
                                               "no layer's name matches '" + *expression + "'",
                                               "`eyeroof net show` lists the names");
    }
    return Result<model::Network>(std::move(network));
}

Exit curve(Context& context, const FuseOptions& options, const model::Network& network,
           const analysis::Chip& chip, const std::optional<analysis::OnlyReaders>& readers,
           const std::string& words) {
    const auto points =
        analysis::fuse_curve(network, chip, context.stop(), context.progress(), readers);
    if (!points) {
        return context.fail(points.diagnostics());
    }
    const std::string& format = options.output.format;
    return context.write(
        format == "json"  ? report::fuse_curve_json(network.id, *points)
        : format == "csv" ? report::fuse_curve_csv(*points)
        : format == "svg" ? report::fuse_curve_svg(network.id, chip, *points)
        : format == "html"
            ? report::to_page({"Fusion of " + network.name,
                               words + "\n" + report::fuse_curve_text(network.id, *points),
                               report::fuse_curve_csv(*points),
                               report::fuse_curve_svg(network.id, chip, *points), ""})
            : with_words(words, report::fuse_curve_text(network.id, *points), format),
        options.output.file);
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
    const auto layers = analysis::forward_layers(*question);
    const auto chosen = layers ? chosen_layers(layers->network, question->scenario.layers)
                               : Result<model::Network>(layers.diagnostics());
    if (!chosen) {
        return context.fail(chosen.diagnostics());
    }
    const auto chip = chosen_chip(options, question->machine, chosen->layers.front().types.input);
    if (!chip) {
        return context.fail(chip.diagnostics());
    }
    const auto readers =
        layers->edges ? std::optional(analysis::only_readers(layers->network, *layers->edges))
                      : std::nullopt;
    const std::string words = analysis::scenario_words(*question);
    if (options.curve) {
        return curve(context, options, *chosen, *chip, readers, words);
    }
    const auto aim =
        options.aim == "latency" ? analysis::FuseAim::latency : analysis::FuseAim::traffic;
    const auto result =
        analysis::fuse_network(*chosen, *chip, aim, context.stop(), context.progress(), readers);
    if (!result) {
        return context.fail(result.diagnostics());
    }
    const std::string& format = options.output.format;
    return context.write(format == "json"  ? report::fuse_json(*result)
                         : format == "csv" ? report::fuse_csv(*result)
                         : format == "html"
                             ? report::to_page({"Fusion of " + chosen->name,
                                                words + "\n" + report::fuse_text(*result),
                                                report::fuse_csv(*result), "", "time_s"})
                             : with_words(words, report::fuse_text(*result), format),
                         options.output.file);
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
    add_scenario(app, options->scenario,
                 {{"phase",      "optimizer", "states",   "density",     "in-place",    "host",
                   "host-speed", "clocks",    "library",  "layout",      "compiled",    "launch",
                   "streams",    "copies",    "pageable", "mapping",     "dataflow",    "objective",
                   "time-limit", "factors",   "counting", "constraints", "search-nodes"}});
    add_choice(app, "--least", options->aim, {"traffic", "latency"},
               "Objective: least traffic or least latency");
    app.add_option("--buffer", options->buffer,
                   "Size of the on-chip buffer, such as 512KiB [the machine's]")
        ->type_name("SIZE");
    app.add_option("--bandwidth", options->bandwidth,
                   "Bandwidth of outer memory, such as 25GB/s [the machine's]")
        ->type_name("RATE");
    app.add_flag("--curve", options->curve,
                 "Show the least traffic for buffers from 1 KiB to 256 MiB");
    add_output(app, options->output, {"text", "json", "csv", "svg", "html"});
    frame.run(app, [options](Context& context) { return fuse(context, *options); });
}

} // namespace eyeroof::cli
