// eyeroof cores: a network on one, some and all cores of a chip or package.
#include "study/cores/cores.hpp"

#include "cli/command.hpp"
#include "cli/exam_options.hpp"
#include "model/base/units.hpp"
#include "study/cores/mixed.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace eyeroof::cli {

namespace {

struct CoresOptions {
    std::string network, machine, layers, hop, link, memory, objective = "latency";
    std::vector<std::string> dims;
    std::optional<std::int64_t> batch;
    EffortOptions effort;
    std::optional<std::size_t> parts;
    int threads = 0;
    OutputOptions output;
};

// A time or a rate; 0 where it is not given.
template <class Quantity> double given(const std::string& text, model::Diagnostics& found) {
    if (text.empty()) {
        return 0.0;
    }
    const auto value = model::parse<Quantity>(text);
    found.append(value.diagnostics());
    return value ? value->value : 0.0;
}

// A rate that words cross at: "no limit" is not to give the option, not 0.
double given_rate(const char* option, const std::string& text, model::Diagnostics& found) {
    const double rate = given<model::BytesPerSec>(text, found);
    if (!text.empty() && rate == 0.0 && !found.has_errors()) {
        found.error("zero", fmt::format("{}: nothing moves at {}", option, text),
                    "leave it out for no limit");
    }
    return rate;
}

study::StudyOptions study_of(const CoresOptions& options) {
    study::StudyOptions wanted;
    wanted.batch = options.batch;
    wanted.threads = options.threads;
    wanted.objective =
        options.objective == "latency" ? mapper::Objective::latency() : mapper::Objective::edp();
    set_effort(options.effort, "auto", wanted);
    if (!options.layers.empty()) {
        wanted.layers = options.layers;
    }
    return wanted;
}

study::PackageOptions package_options(const CoresOptions& options, model::Diagnostics& found) {
    study::PackageOptions package;
    package.hop_s = given<model::Seconds>(options.hop, found);
    package.link_bytes_per_s = given_rate("--link", options.link, found);
    package.memory_bytes_per_s = given_rate("--memory", options.memory, found);
    return package;
}

// What the command line says of the package stands above its file.
void change(study::CorePackage& package, const study::PackageOptions& given,
            const CoresOptions& options) {
    package.link_s = options.hop.empty() ? package.link_s : given.hop_s;
    package.link_bytes_per_s =
        options.link.empty() ? package.link_bytes_per_s : given.link_bytes_per_s;
    package.memory_bytes_per_s =
        options.memory.empty() ? package.memory_bytes_per_s : given.memory_bytes_per_s;
}

Exit mixed_cores(Context& context, const CoresOptions& options, const std::filesystem::path& file) {
    const auto network = load_workload(context, options.network, options.dims);
    auto package = study::load_package(file, context.machine_dirs());
    model::Diagnostics all = network.diagnostics();
    all.append(package.diagnostics());
    const study::PackageOptions given = package_options(options, all);
    if (all.has_errors()) {
        return context.fail(all);
    }
    change(*package, given, options);
    const auto report =
        study::mixed_report(*network, *package, study_of(options),
                            {options.parts.value_or(study::PlacementOptions{}.parts),
                             study::PlacementOptions{}.max_nodes},
                            context.stop(), context.progress());
    if (!report) {
        return context.fail(report.diagnostics());
    }
    context.report(report.diagnostics());
    const std::string& format = options.output.format;
    return context.write(format == "json"  ? study::mixed_json(*report)
                         : format == "csv" ? study::mixed_csv(*report)
                                           : study::mixed_text(*report),
                         options.output.file);
}

Exit cores(Context& context, const CoresOptions& options) {
    if (const auto file = study::find_package(options.machine, context.machine_dirs())) {
        return mixed_cores(context, options, *file);
    }
    if (options.parts) {
        return context.fail_usage("--parts goes with a package of unequal cores",
                                  "equal cores share each layer as the mapper divides it");
    }
    const auto network = load_workload(context, options.network, options.dims);
    const auto machine = load_machine(context, options.machine);
    model::Diagnostics all = network.diagnostics();
    all.append(machine.diagnostics());
    const study::PackageOptions package = package_options(options, all);
    if (all.has_errors()) {
        return context.fail(all);
    }
    const auto report = study::cores_report(*network, *machine, study_of(options), package,
                                            context.stop(), context.progress());
    if (!report) {
        return context.fail(report.diagnostics());
    }
    const std::string& format = options.output.format;
    return context.write(format == "json"  ? study::cores_json(*report)
                         : format == "csv" ? study::cores_csv(*report)
                                           : study::cores_text(*report),
                         options.output.file);
}

} // namespace

void add_cores(Frame& frame) {
    auto options = std::make_shared<CoresOptions>();
    CLI::App& app =
        frame.add("cores",
                  "How far a network scales over the cores of one chip, and which step "
                  "stops it",
                  "eyeroof cores alexnet --on simba --hop 20ns --link 100GB/s\n"
                  "# what a shared memory takes away\n"
                  "eyeroof cores alexnet --on simba --layers CONV --memory 100GB/s\n"
                  "eyeroof cores mobilenet-v1 --on eyeriss-v2 --format csv -o scaling.csv\n"
                  "# cores that are not equal: which layer goes where\n"
                  "eyeroof cores alexnet --on one-large-four-small --nodes 500");
    app.add_option("NETWORK", options->network, "Name in the catalog, or a file")
        ->required()
        ->type_name("NETWORK|FILE");
    app.add_option("--on", options->machine,
                   "Accelerator: its outermost axes, such as Simba's chiplets, count the cores; or "
                   "a package of unequal cores, by name or file")
        ->required()
        ->type_name("MACHINE|FILE");
    app.add_option("--hop", options->hop, "Time of a hop between neighbouring cores [0]")
        ->type_name("TIME");
    app.add_option("--link", options->link, "Rate between groups of cores in a pipeline [no limit]")
        ->type_name("RATE");
    app.add_option("--memory", options->memory,
                   "Rate of the memory that all cores share [no limit]")
        ->type_name("RATE");
    app.add_option("--parts", options->parts,
                   "Of unequal cores: equal parts that a layer is shared out in, at most [4]")
        ->check(CLI::Range(1, 16))
        ->type_name("N");
    app.add_option("--layers", options->layers, "Only layers whose name matches")
        ->type_name("REGEX");
    app.add_option("--batch", options->batch, "Multiply the network's batch by N")
        ->check(CLI::Range(std::int64_t{1}, model::kMaxDimension))
        ->type_name("N");
    add_dims(app, options->dims);
    add_choice(app, "--objective", options->objective, {"latency", "edp"},
               "What searched mappings minimise");
    add_effort(app, options->effort);
    app.add_option("--threads", options->threads,
                   "Threads to use; the answer does not depend on it [all]")
        ->check(CLI::Range(0, 4096))
        ->type_name("N");
    add_output(app, options->output, {"text", "json", "csv"});
    frame.run(app, [options](Context& context) { return cores(context, *options); });
}

} // namespace eyeroof::cli
