// An exam on the cores of a package: one, some and all of equal ones; a placement on unequal ones.
#include "analysis/cores/cores.hpp"
#include "analysis/cores/heterogeneous.hpp"
#include "analysis/exam/words.hpp"
#include "base/units.hpp"
#include "cli/answer.hpp"
#include "cli/exam_options.hpp"
#include "report/cores/cores_answer.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace eyeroof::cli {

namespace {

// A time or a rate; 0 where it is not given.
template <class Quantity> double given(const std::string& text, Diagnostics& found) {
    if (text.empty()) {
        return 0.0;
    }
    const auto value = parse<Quantity>(text);
    found.append(value.diagnostics());
    return value ? value->value : 0.0;
}

// A rate that words cross at: no limit is the option left out, not 0.
double given_rate(const char* option, const std::string& text, Diagnostics& found) {
    const double rate = given<BytesPerSec>(text, found);
    if (!text.empty() && rate == 0.0 && !found.has_errors()) {
        found.error("zero", fmt::format("{}: nothing moves at {}", option, text),
                    "leave it out for no limit");
    }
    return rate;
}

analysis::PackageOptions package_options(const CoresOptions& options, Diagnostics& found) {
    analysis::PackageOptions package;
    package.hop_s = given<Seconds>(options.hop, found);
    package.link_bytes_per_s = given_rate("--link", options.link, found);
    package.memory_bytes_per_s = given_rate("--shared-memory", options.memory, found);
    return package;
}

// What the command line says of the package stands above its file.
void change(analysis::CorePackage& package, const analysis::PackageOptions& given,
            const CoresOptions& options) {
    package.link_s = options.hop.empty() ? package.link_s : given.hop_s;
    package.link_bytes_per_s =
        options.link.empty() ? package.link_bytes_per_s : given.link_bytes_per_s;
    package.memory_bytes_per_s =
        options.memory.empty() ? package.memory_bytes_per_s : given.memory_bytes_per_s;
}

Exit heterogeneous_cores(Context& context, const ExamOptions& options,
                         const analysis::Scenario& scenario, const std::filesystem::path& file) {
    const auto network =
        analysis::load_workload(scenario.network, scenario.sizes, folders_of(context));
    auto package = analysis::load_package(file, context.machine_dirs());
    Diagnostics all = network.diagnostics();
    all.append(package.diagnostics());
    const analysis::PackageOptions given = package_options(options.cores, all);
    if (all.has_errors()) {
        return context.fail(all);
    }
    change(*package, given, options.cores);
    analysis::Question question;
    question.scenario = scenario;
    question.network = network->network;
    question.edges = network->edges;
    question.machine = package->kinds.front().machine;
    const analysis::PlacementOptions usual;
    const auto report = analysis::heterogeneous_report(
        question, *package, {options.cores.parts.value_or(usual.parts), usual.max_nodes},
        context.stop(), context.progress());
    if (!report) {
        return context.fail(report.diagnostics());
    }
    context.report(report.diagnostics());
    question.machine.name = package->name; // in words, the package
    report::Answer answer = report::placement_answer(*report);
    answer.question = analysis::scenario_words(question);
    return write_answer(context, answer, options.output);
}

} // namespace

void add_cores_options(CLI::App& app, CoresOptions& options) {
    const std::string group = "Cores of a package";
    app.add_flag("--cores", options.asked,
                 "Scale from one to all of a machine's outermost instances, such as Simba's "
                 "chiplets; a package of unequal cores needs no option")
        ->group(group);
    app.add_option("--hop", options.hop, "Latency of a hop between neighboring cores [0]")
        ->type_name("TIME")
        ->group(group);
    app.add_option("--link", options.link,
                   "Bandwidth between groups of cores in a pipeline [no limit]")
        ->type_name("RATE")
        ->group(group);
    app.add_option("--shared-memory", options.memory,
                   "Bandwidth of the memory that all cores share [no limit]")
        ->type_name("RATE")
        ->group(group);
    app.add_option("--parts", options.parts,
                   "Unequal cores: most equal parts that a layer is divided into [4]")
        ->check(CLI::Range(1, 16))
        ->type_name("N")
        ->group(group);
}

bool is_package(const Context& context, const std::string& machine) {
    return analysis::find_package(machine, context.machine_dirs()).has_value();
}

Exit exam_cores(Context& context, const ExamOptions& options, const analysis::Scenario& scenario) {
    if (const auto file = analysis::find_package(scenario.machine, context.machine_dirs())) {
        return heterogeneous_cores(context, options, scenario, *file);
    }
    if (options.cores.parts) {
        return context.fail_usage("--parts needs a package of unequal cores",
                                  "equal cores share each layer as the mapper divides it");
    }
    const auto question = analysis::resolve(scenario, folders_of(context));
    Diagnostics all = question.diagnostics();
    const analysis::PackageOptions package = package_options(options.cores, all);
    if (all.has_errors()) {
        return context.fail(all);
    }
    const auto report =
        analysis::cores_report(*question, package, context.stop(), context.progress());
    if (!report) {
        return context.fail(report.diagnostics());
    }
    report::Answer answer = report::cores_answer(*report);
    answer.question = analysis::scenario_words(*question);
    return write_answer(context, answer, options.output);
}

} // namespace eyeroof::cli
