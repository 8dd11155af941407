// eyeroof upgrade: does another GPU pay off for this network?
#include "report/upgrade/upgrade.hpp"

#include "analysis/measured/traced.hpp"
#include "analysis/upgrade/asked.hpp"
#include "analysis/upgrade/offload.hpp"
#include "analysis/upgrade/purchase.hpp"
#include "analysis/upgrade/question.hpp"
#include "analysis/upgrade/upgrade.hpp"
#include "cli/fail_if.hpp"
#include "cli/measurements.hpp"
#include "cli/origin.hpp"
#include "cli/scenario_options.hpp"
#include "cli/upgrade_options.hpp"
#include "formats/trace_network.hpp"
#include "profiles/device_time.hpp"
#include "report/answer/write.hpp"
#include "report/upgrade/offload_answer.hpp"
#include "report/upgrade/purchase_answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace eyeroof::cli {

namespace {

Result<std::vector<analysis::SweepPoint>> swept(const UpgradeOptions& options,
                                                const analysis::PurchaseQuestion& question,
                                                std::size_t candidate) {
    const std::string types = fmt::format("{}", fmt::join(options.sweep_dtype, ","));
    const auto pairs = analysis::read_types(types);
    if (!pairs) {
        return Result<std::vector<analysis::SweepPoint>>::failure(
            "bad-dtype", "'" + types + "' does not name two data types each", "as in fp16:tf32");
    }
    return analysis::sweep_of(question, question.candidates[candidate], options.sweep_batch,
                              *pairs);
}

std::string rendered(const analysis::Purchase& result, const std::string& format, bool details) {
    return format == "json"   ? report::to_json(report::purchase_answer(result))
           : format == "csv"  ? report::to_csv(report::purchase_answer(result))
           : format == "md"   ? report::to_markdown(report::purchase_answer(result, details))
           : format == "svg"  ? report::upgrade_svg(result.answers.at(result.best).upgrade)
           : format == "html" ? report::purchase_html(result, details)
                              : report::purchase_text(result, details);
}

// From a host processor: is a layer worth sending?
Exit offload(Context& context, const UpgradeOptions& options, const analysis::FleetQuestion& asked,
             const analysis::Scenario& from, const analysis::Scenario& to,
             const model::Machine& host, const std::string& command) {
    if (asked.runs.size() > 1) {
        return context.fail_usage("from a host processor to a GPU, one network at a time",
                                  "run it once for each network");
    }
    const auto fail_if = FailIf::parse(options.fail_if, gate_figures(analysis::Offload{}).keys);
    analysis::Scenario scenario = to;
    scenario.network = asked.runs.front().network;
    context.remember(scenario);
    const auto question = analysis::resolve(scenario, folders_of(context));
    Diagnostics all = fail_if.diagnostics();
    all.append(question.diagnostics());
    if (all.has_errors()) {
        return context.fail(all);
    }
    const auto result = analysis::offload(*question, host, from.data_type);
    if (!result) {
        return context.fail(result.diagnostics());
    }
    const std::string& format = options.output.format;
    if (format == "svg") {
        return context.fail_usage("from a host processor the answer has no picture",
                                  "choose text, json, csv, md, or html");
    }
    std::string text = report::written(report::offload_answer(*result), format,
                                       context.columns(options.output.file));
    return fail_if->write(context,
                          with_origin(std::move(text), format, command, {host, question->machine}),
                          options.output.file, gate_figures(*result));
}

// What the answer is asked again by: the network, where it is one, on the new GPU as it ran there,
// without what is of one side alone.
void remember(Context& context, const analysis::FleetQuestion& asked, analysis::Scenario scenario,
              const analysis::PurchaseQuestion& question, const analysis::Purchase& result) {
    const analysis::PurchaseCandidate& best = question.candidates.at(result.best);
    const analysis::PurchaseAnswer& answer = result.answers.at(result.best);
    const analysis::FleetMember& member = question.fleet.front();
    const analysis::Scenario from = member.from.value_or(best.options.from);
    const analysis::Scenario to = member.to.value_or(best.options.to);
    scenario.machine = best.machine.id;
    if (std::holds_alternative<model::Accelerator>(best.machine.kind)) {
        scenario.policy = analysis::MappingPolicy::dataflow;
    }
    if (question.fleet.size() == 1) {
        scenario.network = asked.runs.front().network;
        scenario.training = to.training;
        scenario.data_type = from.data_type == to.data_type ? to.data_type : scenario.data_type;
        if (!answer.sharded && !answer.then.server) {
            scenario.batch = answer.upgrade.to_batch;
        }
    }
    context.remember(scenario);
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
        step.layers.push_back({layer.name, trace.layers[i].measured_s / runs,
                               analysis::traced_category(layer),
                               trace.layers[i].found != formats::Found::exact});
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

struct Loaded {
    analysis::AskedUpgrade asked;
    analysis::PurchaseQuestion question; // without what runs: see with_runs()
};

Result<std::vector<analysis::FleetMember>> networks_of(Context& context,
                                                       const analysis::FleetQuestion& asked,
                                                       const analysis::Scenario& from) {
    std::vector<analysis::FleetMember> fleet;
    Diagnostics all;
    for (const analysis::FleetRun& run : asked.runs) {
        if (formats::is_trace_file(run.network)) {
            auto member = traced_member(context, run.network, run.share, from);
            all.append(member.diagnostics());
            if (member) {
                fleet.push_back(*std::move(member));
            }
            continue;
        }
        auto member = analysis::member_of(run, from, folders_of(context));
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

Exit answer(Context& context, const UpgradeOptions& options, const Loaded& loaded,
            const analysis::Scenario& scenario, const FailIf& fail_if, const std::string& command) {
    const auto question = analysis::with_runs(loaded.asked, loaded.question);
    if (!question) {
        return context.fail(question.diagnostics());
    }
    auto result = analysis::purchase(*question);
    if (!result) {
        return context.fail(result.diagnostics());
    }
    remember(context, loaded.asked.fleet, scenario, *question, *result);
    analysis::Upgrade& best = result->answers[result->best].upgrade;
    if (!options.sweep_batch.empty() || !options.sweep_dtype.empty()) {
        auto points = swept(options, *question, result->best);
        if (!points) {
            return context.fail(points.diagnostics());
        }
        best.sweep = *std::move(points);
    }
    const std::string& format = options.output.format;
    if (format != "csv" && format != "svg") {
        result->unbought = analysis::without_buying(*question, result->answers[result->best],
                                                    context.stop(), context.progress());
    }
    std::vector<model::Machine> machines = {question->from};
    for (const analysis::PurchaseCandidate& candidate : question->candidates) {
        machines.push_back(candidate.machine);
    }
    return fail_if.write(
        context, with_origin(rendered(*result, format, options.details), format, command, machines),
        options.output.file, gate_figures(best));
}

// What options say of the whole fleet.
void take_options(const UpgradeOptions& options, analysis::FleetQuestion& fleet) {
    if (options.count) {
        fleet.terms.count = options.count;
    }
    fleet.terms.kg_co2_per_kwh = options.co2.value_or(fleet.terms.kg_co2_per_kwh);
    for (analysis::FleetRun& run : fleet.runs) {
        run.largest = run.largest || (options.largest_batch && !run.has("batch"));
    }
}

Result<analysis::AskedUpgrade> whole_of(Context& context, const UpgradeOptions& options,
                                        const analysis::Scenario& scenario) {
    auto fleet = asked_of(context, options, scenario);
    if (!fleet) {
        return fleet.diagnostics();
    }
    const auto from = side_of(options, scenario, "from", fleet->gpu);
    const auto to = side_of(options, scenario, "to", fleet->offers.front().gpu);
    Diagnostics found = from.diagnostics();
    found.append(to.diagnostics());
    if (found.has_errors()) {
        return found;
    }
    analysis::AskedUpgrade asked{*std::move(fleet),
                                 *from,
                                 *to,
                                 leaves_open(options),
                                 options.threshold,
                                 options.measured_old,
                                 options.measured_new,
                                 options.from_fabric,
                                 options.to_fabric,
                                 {}};
    take_options(options, asked.fleet);
    asked.open = asked.open && std::ranges::none_of(asked.fleet.runs, [](const auto& run) {
                     return formats::is_trace_file(run.network); // it says what runs
                 });
    return {std::move(asked), std::move(found)};
}

// Fills in machines, candidates, and networks; all that is wrong with them in one pass.
Diagnostics load(Context& context, Loaded& loaded) {
    analysis::PurchaseQuestion& question = loaded.question;
    auto fleet = networks_of(context, loaded.asked.fleet, loaded.asked.from);
    Diagnostics all = fleet.diagnostics();
    for (const analysis::FleetOffer& offer : loaded.asked.fleet.offers) {
        auto candidate =
            analysis::candidate_of(loaded.asked, offer, question.from, folders_of(context));
        all.append(candidate.diagnostics());
        if (candidate) {
            question.candidates.push_back(*std::move(candidate));
        }
    }
    if (fleet) {
        question.fleet = *std::move(fleet);
    }
    return all;
}

Exit upgrade(Context& context, const CLI::App& app, UpgradeOptions& options,
             const std::string& command) {
    if (const auto refused = take_served(context, app, options); refused.has_errors()) {
        return context.fail(refused);
    }
    auto scenario = scenario_of(context, options.scenario);
    if (!scenario) {
        return context.fail(scenario.diagnostics());
    }
    if (options.serves && !options.scenario.given("launch")) {
        scenario->launch = model::Launch::graph; // as servers replay a decoding step
    }
    if (options.largest_batch && scenario->batch) {
        return context.fail_usage("--batch and --largest-batch conflict", "leave one of them out");
    }
    auto asked = whole_of(context, options, *scenario);
    if (!asked) {
        return context.fail(asked.diagnostics());
    }
    auto prices = hwdb::own_prices(options.prices, context.machine_dirs());
    if (!prices) {
        return context.fail(prices.diagnostics());
    }
    context.report(prices.diagnostics());
    asked->prices = *std::move(prices);
    Loaded loaded{*std::move(asked), {}};
    const analysis::FleetQuestion& fleet = loaded.asked.fleet;
    auto from = analysis::old_machine(loaded.asked, folders_of(context));
    if (!from) {
        return context.fail(from.diagnostics());
    }
    loaded.question.from = *std::move(from);
    const auto* old = std::get_if<model::Gpu>(&loaded.question.from.kind);
    if (old != nullptr && old->arch == model::GpuArch::host) {
        return offload(context, options, fleet, loaded.asked.from, loaded.asked.to,
                       loaded.question.from, command);
    }
    const auto fail_if = FailIf::parse(options.fail_if, gate_figures(analysis::Upgrade{}).keys);
    Diagnostics all = fail_if.diagnostics();
    all.append(load(context, loaded));
    if (!all.has_errors()) {
        all.append(analysis::unused_prices(options.prices, loaded.question));
    }
    if (all.has_errors()) {
        return context.fail(all);
    }
    const bool single = fleet.runs.size() == 1;
    if ((!single || options.serves) &&
        (!options.sweep_batch.empty() || !options.sweep_dtype.empty())) {
        return context.fail_usage(single ? "a sweep is of steps, not of a service"
                                         : "a sweep is of one network",
                                  "run it once for each network, or number of --requests");
    }
    if (fleet.terms.power_w && !fleet.terms.count) {
        return context.fail_usage("--power-limit is of a number of GPUs", "add --count");
    }
    if (!single && (options.measured_old || options.measured_new)) {
        return context.fail_usage("a measured throughput is of one network",
                                  "run it once for each network");
    }
    if (options.measured_new && fleet.offers.size() > 1) {
        return context.fail_usage("--measured-new is of one GPU", "name one --to");
    }
    return answer(context, options, loaded, *scenario, *fail_if, command);
}

constexpr const char* kUpgradeExamples =
    "eyeroof upgrade resnet50 --from v100-sxm2-16gb --to a100-sxm-80gb\n"
    "# 16 GPUs, two candidates: one bought, one rented\n"
    "eyeroof upgrade resnet50 --from t4 --count 16 --to l4@2.5k --to l40s@0.79/h\n"
    "# owned GPUs with a resale price of 200 dollars\n"
    "eyeroof upgrade resnet50 --from t4 --owned --resale '$200' --to l4@2.5k "
    "--power-price 0.15/kWh\n"
    "# with your own throughput as evidence\n"
    "eyeroof upgrade resnet50 --from v100-sxm2-16gb --to a100-sxm-80gb "
    "--measured-old 820/s\n"
    "# from a trace of what runs now: the old GPU measured, which narrows the prediction\n"
    "eyeroof upgrade trace.json.gz --to h200-sxm-141gb,mi300x\n"
    "# training, fp16 before and bf16 after\n"
    "eyeroof upgrade bert-base --from t4 --to l4 --phase training "
    "--from-dtype fp16 --to-dtype bf16\n"
    "# a longer context, both in bf16\n"
    "eyeroof upgrade llama-3-8b --from a100-sxm-80gb --to h100-sxm-80gb "
    "--dim context=8192 --dtype bf16\n"
    "# inference at the largest batch that fits both\n"
    "eyeroof upgrade resnet50 --from t4 --to l4 --phase inference --largest-batch\n"
    "# a decoder that one GPU does not hold, divided over 16\n"
    "eyeroof upgrade llama-3-8b --from v100-sxm2-16gb --count 16 --to "
    "a100-sxm-80gb\n"
    "# a service: prompts of 2,000 tokens, 50 ms a token at most\n"
    "eyeroof upgrade llama-3-8b --from a10 --to l4 --phase serving --prompt 2000 "
    "--tpot '50 ms'\n"
    "# one sheet of paper to sign\n"
    "eyeroof upgrade resnet50 --from t4 --count 16 --to l4@2.5k -o sheet.html\n"
    "# two networks that share the GPU, three hours to one\n"
    "eyeroof upgrade resnet50@3 bert-large@1 --from v100-sxm2-16gb --to "
    "a100-sxm-40gb\n"
    "# where it begins to pay: batch sizes, and fp16 against bf16\n"
    "eyeroof upgrade resnet50 --from t4 --to l4 --sweep-batch 1,8,64 "
    "--sweep-dtype fp16:bf16\n"
    "# at prices of your own\n"
    "eyeroof upgrade bert-base --from t4 --to l4 --from-per-hour 0.53 "
    "--to-per-hour 0.80\n"
    "# at a table of prices of your own\n"
    "eyeroof upgrade bert-base --from t4 --to l4,a10 --prices mine.yaml\n"
    "# is a layer worth sending from a host processor to a GPU?\n"
    "eyeroof upgrade mlp-2layer --from laptop-quad-3.1ghz --to k80-die --dtype fp32\n"
    "# fail a build when it does not\n"
    "eyeroof upgrade resnet50 --from t4 --to l4 --fail-if 'net.speedup < 1'";

} // namespace

void add_upgrade(Frame& frame) {
    auto options = std::make_shared<UpgradeOptions>();
    CLI::App& app =
        frame.add("upgrade", "Decide whether another GPU pays off for a network or a fleet",
                  kUpgradeExamples);
    app.add_option(
           "network", options->networks,
           "Names in the catalog, or files; several make a fleet, NAME@WEIGHT gives each its "
           "share of the old GPU's time")
        ->type_name("NETWORK[@WEIGHT]");
    app.add_option("--from", options->from,
                   "GPU that runs the network now [of a trace: the GPU that it was taken on]")
        ->type_name("MACHINE");
    app.add_option("--to", options->to,
                   "Candidate GPU (repeatable, or with commas), with an optional purchase price, "
                   "as in a100-sxm-80gb@16k, or rent, as in a100-sxm-80gb@1.39/h")
        ->type_name("MACHINE[@PRICE]")
        ->allow_extra_args(false);
    app.add_option("--count", options->count, "Number of old GPUs")
        ->check(CLI::Range(1, 1'000'000))
        ->type_name("N");
    app.add_option("--fleet", options->fleet,
                   "The whole question as a file: fleet, workloads, candidates, and terms; - reads "
                   "standard input; options change it")
        ->type_name("FILE");
    for (const auto& [name, value, gpu] :
         {std::tuple{"--from-fabric", &options->from_fabric, "old"},
          std::tuple{"--to-fabric", &options->to_fabric, "new"}}) {
        app.add_option(name, *value,
                       fmt::format("Fabric of the {} GPUs, where one does not hold the network "
                                   "[the usual node of such GPUs]",
                                   gpu))
            ->type_name("FABRIC|FILE");
    }
    add_scenario(
        app, options->scenario,
        {{analysis::kFieldsOfNoUpgrade.begin(), analysis::kFieldsOfNoUpgrade.end()},
         false,
         false,
         {{"phase", "training in mixed precision where no option says what runs; else inference; "
                    "serving: requests to a decoder"},
          {"batch", "the largest that fits both where no option says what runs; else the "
                    "network's own"}}});
    app.add_flag("--largest-batch", options->largest_batch,
                 "Use the largest batch, a power of two, that fits both GPUs");
    add_served_options(app, *options);
    add_side_options(app, *options);
    app.add_option("--sweep-batch", options->sweep_batch, "Also at these batches, such as 1,8,64")
        ->delimiter(',')
        ->check(CLI::PositiveNumber);
    app.add_option("--sweep-dtype", options->sweep_dtype,
                   "Also at these data types, old:new, such as fp16:tf32,fp16:bf16")
        ->delimiter(',')
        ->type_name("OLD:NEW");
    add_price_options(app, *options);
    app.add_flag("--details", options->details,
                 "Add layers and assumptions (text, Markdown, HTML)");
    add_fail_if(app, options->fail_if);
    add_output(app, options->output, {"text", "json", "csv", "md", "svg", "html"});
    frame.run(app, [options, &app](Context& context) {
        return upgrade(context, app, *options, command_line(app));
    });
}

} // namespace eyeroof::cli
