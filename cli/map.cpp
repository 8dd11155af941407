#include "cli/command.hpp"
#include "cli/exam_options.hpp"
#include "hwdb/text_file.hpp"
#include "study/map_network.hpp"
#include "study/read/mapping_yaml.hpp"
#include "study/read/timeloop.hpp"

#include <fmt/format.h>

#include <map>

namespace eyeroof::cli {

namespace {

constexpr const char* kExamples =
    "# the mapping of each AlexNet layer on Eyeriss that no other beats, with the proof\n"
    "eyeroof map alexnet --on eyeriss-v1 --objective edp\n"
    "# one layer, the loop nest, sizes that need not divide\n"
    "eyeroof map resnet50 --on simba --layers conv1 --factors any --details\n"
    "# how the other searches do against the proven bound\n"
    "eyeroof map vgg16 --on eyeriss-v1 --layers conv3_1 --plot convergence.svg";

struct Options {
    std::string network;
    std::string machine;
    std::string objective = "edp";
    std::string strategy = "exact";
    std::string factors = "perfect";
    std::string counting = "eyeroof";
    std::string dataflow;
    std::string layers;
    std::string plot;
    std::string constraints;
    std::string save_mapping;
    std::string save_timeloop;
    double time_limit_s = 0.0;
    double min_utilization = 0.0;
    std::uint64_t seed = 1;
    int threads = 0;
    bool details = false;
    OutputOptions output;
};

study::MapOptions map_options(const Options& options) {
    static const std::map<std::string, mapper::Objective> objectives = {
        {"latency", mapper::Objective::latency()},
        {"energy", mapper::Objective::energy()},
        {"edp", mapper::Objective::edp()}};
    study::MapOptions wanted;
    wanted.objective = objectives.at(options.objective);
    wanted.factors = options.factors == "any" ? mapper::Factors::any : mapper::Factors::perfect;
    wanted.counting =
        options.counting == "timeloop" ? model::Counting::timeloop : model::Counting::eyeroof;
    wanted.search.strategy = *mapper::strategy_from_name(options.strategy);
    wanted.search.time_limit_s = options.time_limit_s;
    wanted.search.seed = options.seed;
    wanted.search.threads = options.threads;
    wanted.constraints.min_utilization = options.min_utilization;
    wanted.free_dataflow = options.dataflow == "free";
    if (!options.dataflow.empty() && !wanted.free_dataflow) {
        wanted.dataflow = model::dataflow_from_name(options.dataflow);
    }
    if (!options.layers.empty()) {
        wanted.layers = options.layers;
    }
    return wanted;
}

// Every strategy on the first layer, for the plot.
model::Result<std::string> plot_of(const model::Network& network, const model::Machine& machine,
                                   const study::MapOptions& base, const std::stop_token& stop) {
    std::vector<study::Convergence> runs;
    std::string layer;
    for (const char* name : {"exact", "random", "random-pruned", "annealing", "genetic"}) {
        study::MapOptions wanted = base;
        wanted.search.strategy = *mapper::strategy_from_name(name);
        auto report = study::map_network(network, machine, wanted, stop);
        if (!report) {
            return model::Result<std::string>(report.diagnostics());
        }
        layer = report->layers.front().name + " on " + machine.name;
        if (report->layers.front().found) {
            runs.push_back({name, *report->layers.front().found});
        }
    }
    return model::Result<std::string>(study::convergence_svg(layer, runs));
}

// --constraints, in Timeloop's form.
model::Result<mapper::Constraints> read_constraints(const std::string& file,
                                                    const model::Machine& machine) {
    const auto* accelerator = std::get_if<model::Accelerator>(&machine.kind);
    if (file.empty() || accelerator == nullptr) {
        return model::Result<mapper::Constraints>(mapper::Constraints{});
    }
    auto text = hwdb::read_text_file(file);
    if (!text) {
        return model::Result<mapper::Constraints>(text.diagnostics());
    }
    return study::read::parse_timeloop_constraints(*std::move(text), file, *accelerator);
}

// The files beside the result: plot and mapping of the first layer.
Exit write_files(Context& context, const Options& options, const study::MapReport& report,
                 const model::Accelerator& accelerator, const std::string& svg) {
    const auto& first = report.layers.front().found;
    Exit exit = Exit::done;
    if (!options.plot.empty()) {
        exit = context.write(svg, options.plot);
    }
    if (exit == Exit::done && !options.save_mapping.empty() && first) {
        exit = context.write(study::read::write_mapping_yaml(first->mapping, accelerator),
                             options.save_mapping);
    }
    if (exit == Exit::done && !options.save_timeloop.empty() && first) {
        exit = context.write(study::read::write_timeloop_mapping(first->mapping, accelerator),
                             options.save_timeloop);
    }
    return exit;
}

bool all_mapped(const study::MapReport& report, model::Diagnostics& why) {
    for (const study::MappedLayer& layer : report.layers) {
        if (!layer.same_as && !layer.found) {
            why.error("no-mapping", layer.name + ": " + layer.failure);
        }
    }
    return !why.has_errors();
}

Exit map(Context& context, const Options& options) {
    const auto network = load_workload(context, options.network);
    const auto machine = load_machine(context, options.machine);
    if (!network || !machine) {
        model::Diagnostics all = network.diagnostics();
        all.append(machine.diagnostics());
        return context.fail(all);
    }
    context.report(network.diagnostics());
    context.report(machine.diagnostics());
    study::MapOptions wanted = map_options(options);
    auto rules = read_constraints(options.constraints, *machine);
    if (!rules) {
        return context.fail(rules.diagnostics());
    }
    rules->min_utilization = std::max(rules->min_utilization, wanted.constraints.min_utilization);
    wanted.constraints = *std::move(rules);
    const auto report =
        study::map_network(*network, *machine, wanted, context.stop(), context.progress());
    if (!report) {
        return context.fail(report.diagnostics());
    }
    model::Diagnostics unmapped;
    if (!all_mapped(*report, unmapped)) {
        return context.fail(unmapped);
    }
    const auto svg = options.plot.empty() ? model::Result<std::string>(std::string())
                                          : plot_of(*network, *machine, wanted, context.stop());
    if (!svg) {
        return context.fail(svg.diagnostics());
    }
    const auto& accelerator = std::get<model::Accelerator>(machine->kind);
    const Exit files = write_files(context, options, *report, accelerator, *svg);
    if (files != Exit::done) {
        return files;
    }
    return context.write(options.output.format == "json"
                             ? study::map_to_json(*report, accelerator)
                             : study::map_to_text(*report, accelerator, options.details),
                         options.output.file);
}

void add_search_options(CLI::App& app, Options& options) {
    add_choice(app, "--objective", options.objective, {"edp", "energy", "latency"},
               "What to make least: energy-delay product, energy, or time [edp]");
    add_choice(app, "--strategy", options.strategy,
               {"exact", "random", "random-pruned", "exhaustive", "annealing", "genetic"},
               "How to search; only exact and exhaustive prove their answer [exact]");
    add_choice(app, "--factors", options.factors, {"perfect", "any"},
               "Loops that divide evenly, or any with a partial last trip [perfect]");
    add_choice(app, "--counting", options.counting, {"eyeroof", "timeloop"},
               "Rules for counting accesses [eyeroof]");
    add_choice(app, "--dataflow", options.dataflow,
               {"ws", "os", "is", "nlr", "rs", "rs-plus", "free"},
               "Whose rules the mapping keeps in space, or none [the machine's first]");
    app.add_option("--min-utilization", options.min_utilization,
                   "Only mappings that use at least this share of the units")
        ->check(CLI::Range(0.0, 1.0))
        ->type_name("SHARE");
    app.add_option("--time-limit", options.time_limit_s,
                   "Seconds a layer may take; the best so far is shown with its gap")
        ->check(CLI::Range(0.001, 1e6))
        ->type_name("S");
    app.add_option("--seed", options.seed, "Seed of the random strategies [1]")->type_name("N");
    app.add_option("--threads", options.threads,
                   "Threads to use; the mapping does not depend on it [all]")
        ->check(CLI::Range(0, 4096))
        ->type_name("N");
}

} // namespace

void add_map(Frame& frame) {
    auto options = std::make_shared<Options>();
    CLI::App& app =
        frame.add("map", "Find the best mapping of each layer, with a certificate", kExamples);
    app.add_option("NETWORK", options->network,
                   "Name in the catalog (eyeroof net list), a network YAML, a CSV of layers, or a "
                   "Timeloop problem")
        ->required()
        ->type_name("NETWORK|FILE");
    app.add_option("--on", options->machine,
                   "Name in the catalog (eyeroof hw list), a machine YAML, or systolic:ROWSxCOLS")
        ->required()
        ->type_name("MACHINE|FILE");
    add_search_options(app, *options);
    app.add_option("--layers", options->layers, "Only layers whose name matches")
        ->type_name("REGEX");
    app.add_option("--constraints", options->constraints,
                   "What the mapping must keep to, as Timeloop writes it")
        ->type_name("FILE");
    app.add_option("--save-mapping", options->save_mapping,
                   "Write the first layer's mapping, as exam --mapping takes it")
        ->type_name("FILE");
    app.add_option("--save-timeloop", options->save_timeloop,
                   "Write the first layer's mapping as Timeloop reads it")
        ->type_name("FILE");
    app.add_option("--plot", options->plot,
                   "Also run the other strategies on the first layer and draw how they converge")
        ->type_name("FILE");
    app.add_flag("--details", options->details, "In text output also the loop nest of every layer");
    add_output(app, options->output, {"text", "json"});
    frame.run(app, [options](Context& context) { return map(context, *options); });
}

} // namespace eyeroof::cli
