// eyeroof net: what networks there are, what is in one, and whether a file is one.
#include "analysis/program/lower.hpp"
#include "base/lines.hpp"
#include "cli/answer.hpp"
#include "cli/command.hpp"
#include "cli/scenario_options.hpp"
#include "formats/catalog.hpp"
#include "formats/layer_csv.hpp"
#include "report/catalog/network.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

namespace eyeroof::cli {

namespace {

struct ListOptions {
    OutputOptions output;
};

struct ShowOptions {
    std::string network;
    std::vector<std::string> dims;
    std::optional<Count> batch;
    OutputOptions output;
};

struct ConvertOptions {
    std::string network;
    std::vector<std::string> dims;
    bool fused = false;
    std::string file;
};

struct CheckOptions {
    std::vector<std::string> networks;
};

std::size_t runs_of(const model::Network& network) {
    std::size_t runs = 0;
    for (const model::Layer& layer : network.layers) {
        runs += static_cast<std::size_t>(layer.count);
    }
    return runs;
}

Exit list(Context& context, const ListOptions& options) {
    const auto folders = context.network_dirs();
    auto heads = formats::list_networks(folders);
    if (!heads) {
        return context.fail(heads.diagnostics());
    }
    context.report(heads.diagnostics());
    std::vector<report::NetworkRow> rows;
    for (formats::NetworkHead& head : *heads) {
        const auto network = formats::load_network(head.id, folders);
        const auto totals =
            network ? totals_of(*network) : Result<model::NetworkTotals>(network.diagnostics());
        if (!totals) {
            context.report(totals.diagnostics());
            continue;
        }
        rows.push_back({std::move(head), runs_of(*network), *totals});
    }
    return write_answer(context, report::networks_answer(rows), options.output);
}

Exit show(Context& context, const ShowOptions& options) {
    auto loaded = analysis::load_workload(options.network, options.dims, folders_of(context));
    if (!loaded) {
        return context.fail(loaded.diagnostics());
    }
    context.report(loaded.diagnostics());
    analysis::Question question;
    question.scenario.batch = options.batch;
    question.scenario.operators = analysis::Operators::all;
    question.scenario.allow_uncosted = true; // the page lists them
    question.network = std::move(loaded->network);
    const auto layers = analysis::forward_layers(question);
    if (!layers) {
        return context.fail(layers.diagnostics());
    }
    const model::Network* network = &layers->network;
    const auto totals = totals_of(*network);
    if (!totals) {
        return context.fail(totals.diagnostics());
    }
    const std::string& format = options.output.format;
    if (format == "yaml" || format == "csv") { // files to edit
        return context.write(format == "yaml" ? formats::write_network_yaml(*network)
                                              : formats::write_layer_csv(network->layers),
                             options.output.file);
    }
    return write_answer(context, report::network_answer(*network, *totals), options.output);
}

// The network as a file of eyeroof's own, by its ending.
Exit convert(Context& context, const ConvertOptions& options) {
    std::vector<std::string> sizes = options.dims;
    if (options.fused) {
        sizes.emplace_back("fused=1");
    }
    const auto read = analysis::load_workload(options.network, sizes, folders_of(context));
    if (!read) {
        return context.fail(read.diagnostics());
    }
    context.report(read.diagnostics());
    const model::Network& network = read->network;
    const auto yaml = [&] {
        return formats::write_network_yaml(network) +
               (read->edges ? formats::write_edges(*read->edges, network.layers) : "");
    };
    const bool csv = std::filesystem::path(options.file).extension() == ".csv";
    return context.write(csv ? formats::write_layer_csv(network.layers) : yaml(), options.file);
}

Exit check(Context& context, const CheckOptions& options) {
    const auto folders = context.network_dirs();
    std::string text;
    Diagnostics errors;
    for (const std::string& reference : options.networks) {
        auto network = formats::load_network(reference, folders);
        const auto totals =
            network ? totals_of(*network) : Result<model::NetworkTotals>(network.diagnostics());
        if (!totals) {
            errors.append(totals.diagnostics());
            continue;
        }
        context.report(network.diagnostics());
        text += fmt::format("{}: {}, {} MACs\n", reference,
                            counted(network->layers.size(), "layer"), totals->macs);
    }
    if (errors.has_errors()) {
        return context.fail(errors);
    }
    return context.write(text);
}

void add_list(Frame& frame, CLI::App& parent) {
    auto options = std::make_shared<ListOptions>();
    CLI::App& app = frame.add("list", "List the networks of the catalog, with MACs and parameters",
                              "eyeroof net list\neyeroof net list --format json", &parent);
    add_output(app, options->output, answer_formats());
    frame.run(app, [options](Context& context) { return list(context, *options); });
}

void add_show(Frame& frame, CLI::App& parent) {
    auto options = std::make_shared<ShowOptions>();
    CLI::App& app =
        frame.add("show", "Show the layers of a network: shapes, MACs, and compulsory traffic",
                  "eyeroof net show alexnet --batch 4\n"
                  "# a narrower MobileNet on smaller images, in two notations\n"
                  "eyeroof net show mobilenet-v1:width=0.5,resolution=128\n"
                  "eyeroof net show mobilenet-v1 --dim width=0.5 --dim resolution=128\n"
                  "# a file to edit\n"
                  "eyeroof net show resnet50 --format csv -o mine.csv",
                  &parent);
    app.add_option("NETWORK", options->network, "A name of `net list`, or a file")
        ->required()
        ->type_name("NETWORK");
    add_sizes(app, options->dims);
    app.add_option("--batch", options->batch, "Batch size of a step [the network's own]")
        ->check(CLI::Range(std::int64_t{1}, model::kMaxDimension))
        ->type_name("N");
    add_output(app, options->output, {"text", "json", "yaml", "csv", "md", "html"});
    frame.run(app, [options](Context& context) { return show(context, *options); });
}

void add_convert(Frame& frame, CLI::App& parent) {
    auto options = std::make_shared<ConvertOptions>();
    CLI::App& app = frame.add("convert", "Convert another tool's model into a network file to edit",
                              "eyeroof net convert model.onnx -o model.yaml\n"
                              "# sizes that the model leaves open, attention as one kernel\n"
                              "eyeroof net convert bert.onnx --dim batch=8 --dim seq=128 "
                              "--fuse-attention -o bert.yaml",
                              &parent);
    app.add_option("NETWORK", options->network, "ONNX model, or any other network file")
        ->required()
        ->type_name("FILE");
    add_sizes(app, options->dims);
    app.add_flag("--fuse-attention", options->fused,
                 "Merge two GEMMs and the softmax between them into one attention layer");
    app.add_option("-o,--output", options->file, "Network YAML, or CSV by its ending [stdout]")
        ->type_name("FILE");
    frame.run(app, [options](Context& context) { return convert(context, *options); });
}

void add_check(Frame& frame, CLI::App& parent) {
    auto options = std::make_shared<CheckOptions>();
    CLI::App& app = frame.add("check", "Check network files, and list every error",
                              "eyeroof net check mine.yaml layers.csv", &parent);
    app.add_option("NETWORK", options->networks, "Network YAML, layer CSV or SCALE-Sim topology")
        ->required()
        ->type_name("FILE");
    frame.run(app, [options](Context& context) { return check(context, *options); });
}

} // namespace

void add_net(Frame& frame) {
    CLI::App& app = frame.add("net", "List, show, check, and convert networks",
                              "eyeroof net list\neyeroof net show alexnet");
    add_list(frame, app);
    add_show(frame, app);
    add_check(frame, app);
    add_convert(frame, app);
}

} // namespace eyeroof::cli
