// eyeroof offload: host, GPU, and GPU with copies each time.
#include "study/upgrade/offload.hpp"

#include "cli/command.hpp"
#include "cli/exam_options.hpp"
#include "cli/fail_if.hpp"
#include "cli/gpu_options.hpp"
#include "cli/origin.hpp"
#include "hwdb/catalog.hpp"

namespace eyeroof::cli {

namespace {

struct OffloadOptions {
    std::string network, host, gpu, dtype, layers, launch = "stream", fail_if;
    std::optional<std::int64_t> batch;
    OutputOptions output;
};

Exit offload(Context& context, const OffloadOptions& options, const std::string& command) {
    const auto fail_if = FailIf::parse(options.fail_if, gate_figures(study::Offload{}).keys);
    if (!fail_if) {
        return context.fail(fail_if.diagnostics());
    }
    const auto network = load_workload(context, options.network);
    const auto host = hwdb::load_machine(options.host, context.machine_dirs());
    const auto gpu = hwdb::load_machine(options.gpu, context.machine_dirs());
    model::Diagnostics all = network.diagnostics();
    all.append(host.diagnostics());
    all.append(gpu.diagnostics());
    if (all.has_errors()) {
        return context.fail(all);
    }
    study::StudyOptions wanted;
    wanted.launch = static_cast<study::LaunchMode>(launch_from_name(options.launch));
    wanted.batch = options.batch;
    wanted.data_type = model::data_type_from_name(options.dtype);
    if (!options.layers.empty()) {
        wanted.layers = options.layers;
    }
    const auto result = study::offload(*network, *host, *gpu, wanted);
    if (!result) {
        return context.fail(result.diagnostics());
    }
    const std::string& format = options.output.format;
    return fail_if->write(context,
                          format == "json"  ? study::offload_json(*result)
                          : format == "csv" ? study::offload_csv(*result)
                          : format == "md"  ? with_origin(study::offload_markdown(*result), format,
                                                          command, {*host, *gpu})
                                            : study::offload_text(*result),
                          options.output.file, gate_figures(*result));
}

} // namespace

void add_offload(Frame& frame) {
    auto options = std::make_shared<OffloadOptions>();
    CLI::App& app = frame.add(
        "offload", "Host, GPU, and GPU with copies each time: is a layer worth sending?",
        "eyeroof offload mlp-2layer --host laptop-quad-3.1ghz --gpu k80-die --dtype fp32\n"
        "eyeroof offload layers.csv --host server-2x20 --gpu v100-sxm2-16gb "
        "--format md");
    app.add_option("NETWORK", options->network, "Name in the catalog, or a file")
        ->required()
        ->type_name("NETWORK|FILE");
    app.add_option("--host", options->host, "The processor that has the data")
        ->required()
        ->type_name("MACHINE");
    app.add_option("--gpu", options->gpu, "The GPU behind PCIe")->required()->type_name("MACHINE");
    app.add_option("--layers", options->layers, "Only layers whose name matches")
        ->type_name("REGEX");
    add_dtype(app, options->dtype);
    add_launch(app, options->launch);
    app.add_option("--batch", options->batch, "Multiply the network's batch by N")
        ->check(CLI::PositiveNumber);
    add_fail_if(app, options->fail_if);
    add_output(app, options->output, {"text", "json", "csv", "md"});
    frame.run(app, [options, &app](Context& context) {
        return offload(context, *options, command_line(app));
    });
}

} // namespace eyeroof::cli
