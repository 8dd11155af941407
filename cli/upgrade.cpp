// eyeroof upgrade: does another GPU pay off for this network?
#include "report/upgrade/upgrade.hpp"

#include "analysis/program/lower.hpp"
#include "analysis/upgrade/offload.hpp"
#include "analysis/upgrade/surroundings.hpp"
#include "analysis/upgrade/upgrade.hpp"
#include "analysis/what_if/knobs.hpp"
#include "cli/fail_if.hpp"
#include "cli/measurements.hpp"
#include "cli/origin.hpp"
#include "cli/scenario_options.hpp"
#include "formats/trace_gpu.hpp"
#include "formats/trace_network.hpp"
#include "profiles/device_time.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <map>

namespace eyeroof::cli {

namespace {

// Fields that may differ between the two GPUs: --from-dtype, --to-dtype …
constexpr std::array<const char*, 8> kOfASide = {"dtype",   "host",   "host-speed", "set",
                                                 "library", "layout", "compiled",   "launch"};

struct UpgradeOptions {
    ScenarioOptions scenario;
    std::vector<std::string> networks; // NAME, or NAME@WEIGHT
    std::vector<Count> sweep_batch;
    std::vector<std::string> sweep_dtype; // OLD:NEW
    std::string from, to;
    std::map<std::string, ScenarioOptions::Value> of_sides; // "from-dtype"
    analysis::UpgradeOptions study;
    std::string fail_if;
    OutputOptions output;
};

// The scenario as one side has it.
Result<analysis::Scenario> side_of(const UpgradeOptions& options, analysis::Scenario scenario,
                                   const std::string& side) {
    scenario.machine = side == "from" ? options.from : options.to;
    Diagnostics found;
    for (const char* name : kOfASide) {
        const auto& value = options.of_sides.at(side + "-" + name);
        const auto texts = value.flag ? std::vector<std::string>{"1"} : value.texts;
        if (value.option->count() > 0) {
            found.append(analysis::find_field(name)->set(scenario, texts));
        }
    }
    if (found.has_errors()) {
        return found;
    }
    return {std::move(scenario), std::move(found)};
}

Result<model::Machine> machine_of(Context& context, const analysis::Scenario& scenario) {
    auto machine = load_machine(context, scenario.machine);
    return machine ? analysis::changed(*machine, scenario.changes) : machine;
}

// Of a trace that was taken on the old GPU: what it measured there.
std::optional<analysis::MeasuredStep> measured_step(Context& context, const std::string& name,
                                                    const formats::TraceNetwork& trace,
                                                    const analysis::Scenario& from) {
    const auto time = profiles::device_time(trace.step);
    analysis::Scenario asked = from;
    asked.network = name;
    if (!time || !(time->total_s > 0.0) || !is_its_own(context, trace, asked)) {
        return std::nullopt;
    }
    analysis::MeasuredStep step;
    step.step_s = time->total_s;
    step.idle_s = time->idle_s;
    step.unknown_s = model::uncosted_seconds(trace.network);
    step.what = trace.step_name + " of " + name;
    for (std::size_t i = 0; i < trace.layers.size(); ++i) {
        const model::Layer& layer = trace.network.layers[i];
        const double runs = static_cast<double>(std::max<Count>(layer.count, 1));
        if (trace.layers[i].measured_s > 0.0) {
            step.layer_s[layer.name] = trace.layers[i].measured_s / runs;
        }
    }
    return step;
}

Result<analysis::FleetMember> traced_member(Context& context, const std::string& name,
                                            double weight, const analysis::Scenario& from) {
    auto trace = formats::load_trace_network(name);
    if (!trace) {
        return trace.diagnostics();
    }
    auto measured = measured_step(context, name, *trace, from);
    Diagnostics found = trace.diagnostics();
    found.append(model::uncosted_warning(trace->network, name));
    return {analysis::FleetMember{std::move(trace->network), weight, {}, std::move(measured)},
            std::move(found)};
}

// "resnet50@3" -> the network and its weight.
Result<analysis::FleetMember> member_of(const std::string& text, Context& context,
                                        const analysis::Scenario& scenario) {
    const std::vector<std::string>& sizes = scenario.sizes;
    const auto at = text.rfind('@');
    std::string name = text;
    double weight = 1.0;
    if (at != std::string::npos) {
        const char* begin = text.data() + at + 1;
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(begin, end, weight);
        const bool whole =
            error == std::errc{} && stop == end && weight > 0.0 && std::isfinite(weight);
        if (!whole) {
            return Result<analysis::FleetMember>::failure(
                "bad-weight", "'" + text.substr(at + 1) + "' is not a positive weight",
                "as in resnet50@3");
        }
        name = text.substr(0, at);
    }
    if (formats::is_trace_file(name)) {
        return traced_member(context, name, weight, scenario);
    }
    auto network = analysis::load_workload(name, sizes, folders_of(context));
    if (!network) {
        return network.diagnostics();
    }
    return analysis::FleetMember{
        std::move(network->network), weight, std::move(network->wiring), {}};
}

// "fp16:tf32"; "fp16" stands for both sides.
Result<analysis::DtypePair> pair_of(const std::string& text) {
    const auto colon = text.find(':');
    const std::string from = text.substr(0, colon);
    const std::string to = colon == std::string::npos ? from : text.substr(colon + 1);
    analysis::DtypePair pair{model::data_type_from_name(from), model::data_type_from_name(to)};
    if (!pair.from || !pair.to) {
        return Result<analysis::DtypePair>::failure(
            "bad-dtype", "'" + text + "' does not name two data types", "as in fp16:tf32");
    }
    return pair;
}

Result<std::vector<analysis::SweepPoint>> swept(const UpgradeOptions& options,
                                                const analysis::UpgradeOptions& wanted,
                                                const std::vector<analysis::FleetMember>& fleet,
                                                const model::Machine& from,
                                                const model::Machine& to) {
    std::vector<analysis::DtypePair> pairs;
    for (const std::string& text : options.sweep_dtype) {
        const auto pair = pair_of(text);
        if (!pair) {
            return pair.diagnostics();
        }
        pairs.push_back(*pair);
    }
    if (pairs.empty()) {
        pairs.push_back({});
    }
    const std::vector<Count> batches = options.sweep_batch.empty()
                                           ? std::vector<Count>{wanted.from.batch.value_or(
                                                 analysis::own_batch(fleet.front().network))}
                                           : options.sweep_batch;
    return analysis::sweep_upgrade(fleet, from, to, wanted, batches, pairs);
}

std::string rendered(const analysis::Upgrade& result, const std::string& format) {
    return format == "json"   ? report::upgrade_json(result)
           : format == "csv"  ? report::upgrade_csv(result)
           : format == "md"   ? report::upgrade_markdown(result)
           : format == "svg"  ? report::upgrade_svg(result)
           : format == "html" ? report::upgrade_html(result)
                              : report::upgrade_text(result);
}

Result<std::vector<analysis::FleetMember>> fleet_of(Context& context, const UpgradeOptions& options,
                                                    const analysis::Scenario& scenario) {
    std::vector<analysis::FleetMember> fleet;
    Diagnostics all;
    for (const std::string& text : options.networks) {
        auto member = member_of(text, context, scenario);
        all.append(member.diagnostics());
        if (member) {
            fleet.push_back(*std::move(member));
        }
    }
    if (all.has_errors()) {
        return all;
    }
    return {std::move(fleet), std::move(all)};
}

// From a host processor: is a layer worth sending?
Exit offload(Context& context, const UpgradeOptions& options, const analysis::Scenario& to,
             const model::Machine& host, const std::string& command) {
    if (options.networks.size() > 1) {
        return context.fail_usage("from a host processor to a GPU, one network at a time",
                                  "run it once for each network");
    }
    const auto fail_if = FailIf::parse(options.fail_if, gate_figures(analysis::Offload{}).keys);
    analysis::Scenario scenario = to;
    scenario.network = options.networks.front();
    const auto question = analysis::resolve(scenario, folders_of(context));
    Diagnostics all = fail_if.diagnostics();
    all.append(question.diagnostics());
    if (all.has_errors()) {
        return context.fail(all);
    }
    const auto result = analysis::offload(*question, host);
    if (!result) {
        return context.fail(result.diagnostics());
    }
    const std::string& format = options.output.format;
    if (format == "svg" || format == "html") {
        return context.fail_usage("from a host processor the answer has no picture",
                                  "choose text, json, csv, or md");
    }
    return fail_if->write(context,
                          format == "json"  ? analysis::offload_json(*result)
                          : format == "csv" ? analysis::offload_csv(*result)
                          : format == "md"  ? with_origin(analysis::offload_markdown(*result),
                                                          format, command, {host, question->machine})
                                            : analysis::offload_text(*result),
                          options.output.file, gate_figures(*result));
}

// What the answer is asked again by: the network, where it is one, on the new GPU, without what is
// of one side alone.
void remember(Context& context, const UpgradeOptions& options, analysis::Scenario scenario) {
    scenario.machine = options.to;
    if (options.networks.size() == 1) {
        scenario.network = options.networks.front().substr(0, options.networks.front().rfind('@'));
    }
    context.remember(scenario);
}

struct Sides {
    analysis::Scenario from, to;
    model::Machine from_machine, to_machine;
};

// What the line leaves out and the document of --scenario has: its network, its machine as the new
// one.
Diagnostics complete(Context& context, UpgradeOptions& options,
                     const analysis::Scenario& scenario) {
    Diagnostics found;
    if (options.networks.empty() && !scenario.network.empty()) {
        options.networks = {scenario.network};
    }
    if (options.to.empty()) {
        options.to = scenario.machine;
    }
    if (options.from.empty() && options.networks.size() == 1 &&
        formats::is_trace_file(options.networks.front())) {
        auto gpu = formats::gpu_of_trace(options.networks.front(), context.machine_dirs());
        found.append(gpu.diagnostics());
        options.from = gpu ? *std::move(gpu) : "";
    }
    if (options.from.empty() && !found.has_errors()) {
        found.error("usage", "--from MACHINE is missing",
                    "a name in the catalog (eyeroof hw list), or a file; a trace says it itself");
    }
    if (options.networks.empty()) {
        found.error("usage", "NETWORK is missing",
                    "a name in the catalog (eyeroof net list), or a file");
    }
    if (options.to.empty()) {
        found.error("usage", "--to MACHINE is missing",
                    "a name in the catalog (eyeroof hw list), or a file");
    }
    return found;
}

Result<Sides> sides_of(Context& context, UpgradeOptions& options) {
    const auto scenario = scenario_of(context, options.scenario);
    if (!scenario) {
        return scenario.diagnostics();
    }
    if (const auto absent = complete(context, options, *scenario); absent.has_errors()) {
        return absent;
    }
    remember(context, options, *scenario);
    const auto from = side_of(options, *scenario, "from");
    const auto to = side_of(options, *scenario, "to");
    Diagnostics all = from.diagnostics();
    all.append(to.diagnostics());
    if (all.has_errors()) {
        return all;
    }
    auto from_machine = machine_of(context, *from);
    auto to_machine = machine_of(context, *to);
    all.append(from_machine.diagnostics());
    all.append(to_machine.diagnostics());
    if (all.has_errors()) {
        return all;
    }
    return Sides{*from, *to, *std::move(from_machine), *std::move(to_machine)};
}

Exit upgrade(Context& context, UpgradeOptions& options, const std::string& command) {
    const auto sides = sides_of(context, options);
    if (!sides) {
        return context.fail(sides.diagnostics());
    }
    const auto* old = std::get_if<model::Gpu>(&sides->from_machine.kind);
    if (old != nullptr && old->arch == model::GpuArch::host) {
        return offload(context, options, sides->to, sides->from_machine, command);
    }
    const auto fail_if = FailIf::parse(options.fail_if, gate_figures(analysis::Upgrade{}).keys);
    const auto read = fleet_of(context, options, sides->from);
    Diagnostics all = fail_if.diagnostics();
    all.append(read.diagnostics());
    if (all.has_errors()) {
        return context.fail(all);
    }
    const std::vector<analysis::FleetMember>& fleet = *read;
    const model::Machine* from = &sides->from_machine;
    const model::Machine* to = &sides->to_machine;
    const bool sweeps = !options.sweep_batch.empty() || !options.sweep_dtype.empty();
    if (sweeps && fleet.size() > 1) {
        return context.fail_usage("a sweep is of one network", "run it once for each network");
    }
    analysis::UpgradeOptions asked = options.study;
    asked.from = sides->from;
    asked.to = sides->to;
    const auto wanted = analysis::with_surroundings(
        asked, *from, *to, {asked.from.host, asked.to.host}, context.machine_dirs());
    if (!wanted) {
        return context.fail(wanted.diagnostics());
    }
    auto result = analysis::upgrade_fleet(fleet, *from, *to, *wanted);
    if (!result) {
        return context.fail(result.diagnostics());
    }
    if (sweeps) {
        auto points = swept(options, *wanted, fleet, *from, *to);
        if (!points) {
            return context.fail(points.diagnostics());
        }
        result->sweep = *std::move(points);
    }
    const std::string& format = options.output.format;
    return fail_if->write(context,
                          with_origin(rendered(*result, format), format, command, {*from, *to}),
                          options.output.file, gate_figures(*result));
}

void add_price_options(CLI::App& app, UpgradeOptions& options) {
    analysis::UpgradePrices& prices = options.study.prices;
    app.add_option("--from-per-hour", prices.from_usd_per_hour, "Price of the old GPU, USD an hour")
        ->check(CLI::PositiveNumber);
    app.add_option("--to-per-hour", prices.to_usd_per_hour, "Price of the new GPU, USD an hour")
        ->check(CLI::PositiveNumber);
    app.add_option("--buy", prices.to_buy_usd, "Price of the new GPU, USD")
        ->check(CLI::PositiveNumber);
    app.add_option("--resale", prices.from_resale_usd, "What the old GPU brings, USD")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--utilization", prices.utilization,
                   "Share of the month that a bought GPU works, 0 to 1 [1]")
        ->check(CLI::Range(0.001, 1.0));
    app.add_option("--power-price", prices.power_usd_per_kwh, "Electricity, USD a kWh")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--host-per-month", prices.host_usd_per_month,
                   "A bought GPU's share of its server, room and people, USD a month")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--years", prices.years, "A bought GPU is written off after so many years")
        ->check(CLI::Range(0.1, 100.0))
        ->capture_default_str();
    app.add_option("--threshold", options.study.threshold,
                   "Speed-up that must be passed (default: the ratio of the hourly prices)")
        ->check(CLI::PositiveNumber);
}

void add_side_options(CLI::App& app, UpgradeOptions& options) {
    for (const std::string side : {"from", "to"}) {
        for (const char* name : kOfASide) {
            const analysis::ScenarioField& field = *analysis::find_field(name);
            auto& value = options.of_sides[side + "-" + name];
            const std::string which = side == "from" ? "the old GPU alone" : "the new GPU alone";
            const std::string help = fmt::format("--{} of {}", name, which);
            CLI::Option* option = field.kind == analysis::FieldKind::flag
                                      ? app.add_flag("--" + side + "-" + name, value.flag, help)
                                      : app.add_option("--" + side + "-" + name, value.texts, help)
                                            ->type_name(field.value)
                                            ->allow_extra_args(false);
            value.option = option->group("One of the two GPUs");
        }
    }
}

} // namespace

void add_upgrade(Frame& frame) {
    auto options = std::make_shared<UpgradeOptions>();
    CLI::App& app =
        frame.add("upgrade", "Whether another GPU pays off for a network, and why",
                  "eyeroof upgrade resnet50 --from v100-sxm2-16gb --to a100-sxm-40gb\n"
                  "# from a trace of what runs now: the old GPU measured, only ratios predicted\n"
                  "eyeroof upgrade trace.json.gz --to h200-sxm-141gb\n"
                  "# training, fp16 before and bf16 after\n"
                  "eyeroof upgrade bert-base --from t4 --to l4 --phase training "
                  "--from-dtype fp16 --to-dtype bf16\n"
                  "# a longer context, both in bf16\n"
                  "eyeroof upgrade llama-3-8b --from a100-sxm-80gb --to h100-sxm-80gb "
                  "--dim context=8192 --dtype bf16\n"
                  "# two networks that share the GPU, three hours to one\n"
                  "eyeroof upgrade resnet50@3 bert-large@1 --from v100-sxm2-16gb --to "
                  "a100-sxm-40gb\n"
                  "# where it begins to pay: batch sizes, and fp16 against bf16\n"
                  "eyeroof upgrade resnet50 --from t4 --to l4 --sweep-batch 1,8,64 "
                  "--sweep-dtype fp16:bf16\n"
                  "# at prices of your own\n"
                  "eyeroof upgrade bert-base --from t4 --to l4 --from-per-hour 0.53 "
                  "--to-per-hour 0.80\n"
                  "# is a layer worth sending from a host processor to a GPU?\n"
                  "eyeroof upgrade mlp-2layer --from laptop-quad-3.1ghz --to k80-die --dtype fp32\n"
                  "# fail a build when it does not\n"
                  "eyeroof upgrade resnet50 --from t4 --to l4 --fail-if 'net.speedup < 1'");
    app.add_option(
           "network", options->networks,
           "Names in the catalog, or files; several make a fleet, NAME@WEIGHT gives each its "
           "share of the old GPU's time")
        ->type_name("NETWORK[@WEIGHT]");
    app.add_option("--from", options->from,
                   "The GPU that runs it now; of a trace the one that it was taken on")
        ->type_name("MACHINE");
    app.add_option("--to", options->to, "The GPU in question")->type_name("MACHINE");
    add_scenario(app, options->scenario,
                 {{"on", "energies", "density", "mapping", "dataflow", "objective", "time-limit",
                   "factors", "counting", "constraints", "search-nodes", "copies", "pageable"},
                  false,
                  false});
    add_side_options(app, *options);
    app.add_option("--sweep-batch", options->sweep_batch, "Also at these batches, such as 1,8,64")
        ->delimiter(',')
        ->check(CLI::PositiveNumber);
    app.add_option("--sweep-dtype", options->sweep_dtype,
                   "Also at these data types, old:new, such as fp16:tf32,fp16:bf16")
        ->delimiter(',')
        ->type_name("OLD:NEW");
    add_price_options(app, *options);
    add_fail_if(app, options->fail_if);
    add_output(app, options->output, {"text", "json", "csv", "md", "svg", "html"});
    frame.run(app, [options, &app](Context& context) {
        return upgrade(context, *options, command_line(app));
    });
}

} // namespace eyeroof::cli
