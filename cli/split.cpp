// eyeroof split: one network, or its training step, over devices that differ.
#include "cli/command.hpp"
#include "cli/exam_options.hpp"
#include "cli/gpu_options.hpp"
#include "hwdb/fabric_reader.hpp"
#include "model/gpu/served.hpp"
#include "study/exam/run.hpp"
#include "study/formats/catalog.hpp"
#include "study/scale/mixed.hpp"

#include <fmt/format.h>

#include <map>

namespace eyeroof::cli {

namespace {

struct SplitOptions {
    std::string network, fabric, dtype;
    std::vector<std::string> machines, dims;
    std::optional<std::int64_t> batch;
    std::uint64_t nodes = 200'000;
    std::int64_t microbatches = 8;
    PhaseOptions phase;
    OutputOptions output;
};

// Each with the name that the answer tells it by: a machine named twice is two devices.
model::Result<std::vector<study::MixedDevice>> devices_of(Context& context,
                                                          const std::vector<std::string>& names) {
    model::Diagnostics all;
    std::vector<study::MixedDevice> devices;
    std::map<std::string, int> seen;
    for (const std::string& name : names) {
        const auto machine = load_machine(context, name);
        all.append(machine.diagnostics());
        if (!machine) {
            continue;
        }
        const auto* gpu = std::get_if<model::Gpu>(&machine->kind);
        if (gpu == nullptr) {
            all.error("not-a-gpu",
                      machine->id + " is an accelerator; GPUs and host processors share a network",
                      "`eyeroof hw list` names them");
            continue;
        }
        const int number = ++seen[machine->id];
        devices.push_back(
            {number > 1 ? fmt::format("{} #{}", machine->id, number) : machine->id, *gpu});
    }
    if (all.has_errors()) {
        return all;
    }
    return {std::move(devices), std::move(all)};
}

Exit split(Context& context, const SplitOptions& options) {
    const auto wired = load_wired_workload(context, options.network, options.dims);
    const auto devices = devices_of(context, options.machines);
    study::MixedOptions wanted;
    wanted.nodes = options.nodes;
    wanted.microbatches = static_cast<std::size_t>(options.microbatches);
    model::Diagnostics all = wired.diagnostics();
    all.append(devices.diagnostics());
    if (!options.fabric.empty()) {
        auto fabric = hwdb::load_fabric(options.fabric, context.machine_dirs());
        all.append(fabric.diagnostics());
        if (fabric) {
            wanted.fabric = *std::move(fabric);
        }
    }
    if (all.has_errors()) {
        return context.fail(all);
    }
    study::StudyOptions prepare;
    prepare.batch = options.batch;
    prepare.data_type = model::data_type_from_name(options.dtype);
    const auto network = study::prepared(wired->network, prepare);
    if (!network) {
        return context.fail(network.diagnostics());
    }
    for (const study::MixedDevice& device : *devices) {
        all.append(model::check_served(*network, device.id, device.gpu));
    }
    if (all.has_errors()) {
        return context.fail(all);
    }
    study::step::GraphOptions graph_options;
    graph_options.batch = options.batch.value_or(1);
    graph_options.training = training_of(options.phase);
    context.report(all);
    const auto graph = study::step::make_graph(*network, wired->wiring, graph_options);
    if (!graph) {
        return context.fail(graph.diagnostics());
    }
    const auto answer = study::split_network(*graph, *devices, wanted);
    if (!answer) {
        return context.fail(answer.diagnostics());
    }
    return context.write(options.output.format == "json" ? study::mixed_json(*answer)
                                                         : study::mixed_text(*answer),
                         options.output.file);
}

} // namespace

void add_split(Frame& frame) {
    auto options = std::make_shared<SplitOptions>();
    CLI::App& app = frame.add(
        "split",
        "One network over devices that differ: a request or training step divided, and a pipeline",
        "# an old GPU beside a new one: does it help?\n"
        "eyeroof split resnet50 --batch 32 --on a100-sxm-40gb --on v100-sxm2-16gb\n"
        "# a model that neither holds alone\n"
        "eyeroof split llama-2-13b --on rtx-4090 --on rtx-3090 --format json\n"
        "# a training step, and eight microbatches of it in a pipeline\n"
        "eyeroof split bert-large --phase training --on a100-sxm-40gb --on v100-sxm2-32gb\n"
        "# over a fabric instead of the host's PCIe\n"
        "eyeroof split googlenet --on a100-sxm-40gb --on v100-sxm2-32gb --fabric roce-100g");
    app.add_option("NETWORK", options->network, "Name in the catalog, or a file")
        ->required()
        ->type_name("NETWORK|FILE");
    app.add_option("--on", options->machines, "A GPU or host processor; name each device")
        ->required()
        ->allow_extra_args(false)
        ->type_name("MACHINE|FILE");
    app.add_option("--fabric", options->fabric,
                   "What joins the devices: a name of hwdb/fabrics, or a file [each GPU's PCIe, "
                   "through the host]")
        ->type_name("FABRIC|FILE");
    app.add_option("--batch", options->batch, "Multiply the network's batch by N")
        ->check(CLI::Range(std::int64_t{1}, model::kMaxDimension))
        ->type_name("N");
    add_dtype(app, options->dtype);
    add_dims(app, options->dims);
    add_choice(app, "--phase", options->phase.phase, {"inference", "training"},
               "What is run: the layers, or a training step: they, their gradients, the update");
    add_choice(app, "--optimizer", options->phase.optimizer, {"sgd", "sgd_momentum", "adam"},
               "Update of the weights in training");
    app.add_option(
           "--microbatches", options->microbatches,
           "Batches of a training step that a pipeline runs before the update, each as large "
           "as the network's")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{4096}))
        ->type_name("N");
    app.add_option("--nodes", options->nodes,
                   "Nodes that the search for one request's or step's division looks at, at most")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
        ->type_name("N");
    add_output(app, options->output, {"text", "json"});
    frame.run(app, [options](Context& context) { return split(context, *options); });
}

} // namespace eyeroof::cli
