// eyeroof sparse: what zeros gain on machines that skip them.
#include "cli/command.hpp"
#include "cli/exam_options.hpp"
#include "model/base/pattern.hpp"
#include "study/exam/examine.hpp"
#include "study/sparse/densities.hpp"
#include "study/sparse/sparse_report.hpp"

namespace eyeroof::cli {

namespace {

struct SparseOptions {
    std::string network, machine, densities, layers;
    std::optional<double> input, weight, output;
    std::optional<std::int64_t> batch;
    bool curve = false, details = false;
    EffortOptions effort; // of searches, on machines of levels
    OutputOptions output_file;
};

using Shares = std::vector<model::sparse::Densities>;

model::Result<Shares> shares_of(Context& context, const SparseOptions& options,
                                const model::Network& network) {
    if (options.densities.empty()) {
        if (!options.input || !options.weight) {
            return model::Result<Shares>::failure(
                "usage", "the densities are not known",
                "name a file with --densities, or one share for all layers with --inputs and "
                "--weights; --curve goes through them");
        }
        return Shares(network.layers.size(),
                      {*options.input, *options.weight, options.output.value_or(*options.input)});
    }
    const auto file = study::find_sparse_file(options.densities, context.machine_dirs(),
                                              "densities", "density table");
    if (!file) {
        return file.diagnostics();
    }
    const auto table = study::load_densities(*file);
    return table ? study::densities_of(*table, network)
                 : model::Result<Shares>(table.diagnostics());
}

Exit curve(Context& context, const SparseOptions& options, const study::SparseMachine& machine,
           const model::Network& network, const model::Pattern& only) {
    const auto points = study::density_curve(machine, network, only);
    if (!points) {
        return context.fail(points.diagnostics());
    }
    const std::string& name = network.id;
    const std::string& format = options.output_file.format;
    return context.write(format == "json"  ? study::density_curve_json(machine, name, *points)
                         : format == "csv" ? study::density_curve_csv(*points)
                                           : study::density_curve_text(machine, name, *points),
                         options.output_file.file);
}

Exit sparse(Context& context, const SparseOptions& options) {
    const auto network = load_workload(context, options.network);
    const auto machine = study::load_sparse_machine(options.machine, context.machine_dirs());
    model::Diagnostics all = network.diagnostics();
    all.append(machine.diagnostics());
    if (all.has_errors()) {
        return context.fail(all);
    }
    study::StudyOptions wanted; // all layers: what pools a layer's outputs is among them
    wanted.batch = options.batch;
    const auto only = model::Pattern::compile(options.layers);
    if (!only) {
        return context.fail(only.diagnostics());
    }
    const auto chosen = study::prepared(*network, wanted);
    if (!chosen) {
        return context.fail(chosen.diagnostics());
    }
    if (options.curve) {
        return curve(context, options, *machine, *chosen, *only);
    }
    const auto shares = shares_of(context, options, *chosen);
    if (!shares) {
        return context.fail(shares.diagnostics());
    }
    context.report(shares.diagnostics());
    study::StudyOptions searched;
    set_effort(options.effort, "auto", searched);
    const auto exam = study::sparse_exam(*machine, *chosen, *shares, *only, searched,
                                         context.stop(), context.progress());
    if (!exam) {
        return context.fail(exam.diagnostics());
    }
    const std::string& format = options.output_file.format;
    return context.write(format == "json"  ? study::sparse_json(*exam)
                         : format == "csv" ? study::sparse_csv(*exam)
                                           : study::sparse_text(*exam, options.details),
                         options.output_file.file);
}

} // namespace

void add_sparse(Frame& frame) {
    auto options = std::make_shared<SparseOptions>();
    CLI::App& app = frame.add(
        "sparse", "What zeros gain on machines that skip them, and which constraint eats the gain",
        "eyeroof sparse alexnet --on scnn --densities alexnet-pruned\n"
        "eyeroof sparse vgg16 --on scnn --inputs 0.5 --weights 0.3 --layers CONV3 --details\n"
        "# from which density on does it pay?\n"
        "eyeroof sparse googlenet --on scnn --curve\n"
        "eyeroof sparse alexnet --on eie --densities alexnet-pruned --layers FC\n"
        "# time and energy beside the same chip on dense tensors\n"
        "eyeroof sparse alexnet --on eyeriss-v2 --densities alexnet-pruned --layers CONV --nodes "
        "500");
    app.add_option("NETWORK", options->network, "Name in the catalog, or a file")
        ->required()
        ->type_name("NETWORK|FILE");
    app.add_option("--on", options->machine,
                   "Sparse machine: scnn, eie, eyeriss-v2, sparse-tensor-core, or a file")
        ->required()
        ->type_name("NAME|FILE");
    app.add_option("--densities", options->densities,
                   "Shares of words that are not zero, by layer: alexnet-pruned, vgg16-pruned, or "
                   "a file")
        ->type_name("NAME|FILE");
    const auto share = [&](const char* name, std::optional<double>& value, const char* what) {
        app.add_option(name, value, what)->check(CLI::Range(0.0, 1.0))->type_name("SHARE");
    };
    share("--inputs", options->input, "Share of inputs that are not zero, in every layer");
    share("--weights", options->weight, "Share of weights that are not zero, in every layer");
    share("--outputs", options->output, "Share of outputs; as the inputs without it");
    app.add_flag("--curve", options->curve, "Speed-up at densities from 1 to 0.1");
    app.add_option("--layers", options->layers, "Only layers whose name matches")
        ->type_name("REGEX");
    app.add_option("--batch", options->batch, "Multiply the network's batch by N")
        ->check(CLI::PositiveNumber);
    app.add_flag("--details", options->details, "The chain of every layer");
    add_effort(app, options->effort);
    add_output(app, options->output_file, {"text", "json", "csv"});
    frame.run(app, [options](Context& context) { return sparse(context, *options); });
}

} // namespace eyeroof::cli
