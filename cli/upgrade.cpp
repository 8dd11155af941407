// eyeroof upgrade: does another GPU pay off for this network?
#include "study/report/upgrade.hpp"

#include "cli/exam_options.hpp"
#include "cli/fail_if.hpp"
#include "cli/gpu_options.hpp"
#include "cli/origin.hpp"
#include "cli/phase.hpp"
#include "hwdb/catalog.hpp"
#include "study/upgrade/surroundings.hpp"
#include "study/upgrade/upgrade.hpp"

#include <charconv>
#include <cmath>

namespace eyeroof::cli {

namespace {

struct UpgradeOptions {
    std::vector<std::string> networks; // NAME, or NAME@WEIGHT
    std::vector<std::string> dims;
    std::vector<model::Count> sweep_batch;
    std::vector<std::string> sweep_dtype; // OLD:NEW
    std::string from, to;
    PhaseOptions phase;
    std::string launch = "eager";
    std::string host, from_host, to_host;
    std::string dtype, from_dtype, to_dtype; // the first on both sides
    std::optional<std::int64_t> batch;
    study::UpgradeOptions study;
    std::string fail_if;
    OutputOptions output;
};

std::optional<model::DataType> type_of(const std::string& name) {
    return name.empty() ? std::nullopt : model::data_type_from_name(name);
}

study::LaunchMode mode_of(const std::string& name) {
    return name == "compiled" ? study::LaunchMode::compiled
                              : static_cast<study::LaunchMode>(launch_from_name(name));
}

study::UpgradeOptions study_options(const UpgradeOptions& options) {
    study::UpgradeOptions wanted = options.study;
    wanted.from.launch = wanted.to.launch = mode_of(options.launch);
    wanted.from.data_type =
        type_of(options.from_dtype.empty() ? options.dtype : options.from_dtype);
    wanted.to.data_type = type_of(options.to_dtype.empty() ? options.dtype : options.to_dtype);
    wanted.from.batch = wanted.to.batch = options.batch;
    wanted.from.operators = wanted.to.operators = operators_of(options.phase);
    wanted.training = training_of(options.phase);
    return wanted;
}

// "resnet50@3" -> the network and its weight.
model::Result<study::FleetMember> member_of(const std::string& text, Context& context,
                                            const std::vector<std::string>& dims) {
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
            return model::Result<study::FleetMember>::failure(
                "bad-weight", "'" + text.substr(at + 1) + "' is no positive weight",
                "as in resnet50@3");
        }
        name = text.substr(0, at);
    }
    auto network = load_wired_workload(context, name, dims);
    if (!network) {
        return network.diagnostics();
    }
    return study::FleetMember{std::move(network->network), weight, std::move(network->wiring)};
}

// "fp16:tf32"; "fp16" stands for both sides.
model::Result<study::DtypePair> pair_of(const std::string& text) {
    const auto colon = text.find(':');
    const std::string from = text.substr(0, colon);
    const std::string to = colon == std::string::npos ? from : text.substr(colon + 1);
    study::DtypePair pair{model::data_type_from_name(from), model::data_type_from_name(to)};
    if (!pair.from || !pair.to) {
        return model::Result<study::DtypePair>::failure(
            "bad-dtype", "'" + text + "' does not name two data types", "as in fp16:tf32");
    }
    return pair;
}

model::Result<std::vector<study::SweepPoint>> swept(const UpgradeOptions& options,
                                                    const study::UpgradeOptions& wanted,
                                                    const std::vector<study::FleetMember>& fleet,
                                                    const model::Machine& from,
                                                    const model::Machine& to) {
    std::vector<study::DtypePair> pairs;
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
    const std::vector<model::Count> batches =
        options.sweep_batch.empty() ? std::vector<model::Count>{options.batch.value_or(1)}
                                    : options.sweep_batch;
    return study::sweep_upgrade(fleet, from, to, wanted, batches, pairs);
}

std::string rendered(const study::Upgrade& result, const std::string& format) {
    return format == "json"   ? study::upgrade_json(result)
           : format == "csv"  ? study::upgrade_csv(result)
           : format == "md"   ? study::upgrade_markdown(result)
           : format == "svg"  ? study::upgrade_svg(result)
           : format == "html" ? study::upgrade_html(result)
                              : study::upgrade_text(result);
}

Exit upgrade(Context& context, const UpgradeOptions& options, const std::string& command) {
    const auto fail_if = FailIf::parse(options.fail_if, gate_figures(study::Upgrade{}).keys);
    if (!fail_if) {
        return context.fail(fail_if.diagnostics());
    }
    std::vector<study::FleetMember> fleet;
    model::Diagnostics all;
    for (const std::string& text : options.networks) {
        auto member = member_of(text, context, options.dims);
        all.append(member.diagnostics());
        if (member) {
            fleet.push_back(*std::move(member));
        }
    }
    const auto from = hwdb::load_machine(options.from, context.machine_dirs());
    const auto to = hwdb::load_machine(options.to, context.machine_dirs());
    all.append(from.diagnostics());
    all.append(to.diagnostics());
    if (all.has_errors()) {
        return context.fail(all);
    }
    const bool sweeps = !options.sweep_batch.empty() || !options.sweep_dtype.empty();
    if (sweeps && fleet.size() > 1) {
        return context.fail_usage("a sweep is of one network", "run it once for each network");
    }
    const auto named = [&](const std::string& own) { return own.empty() ? options.host : own; };
    const auto wanted = study::with_surroundings(study_options(options), *from, *to,
                                                 {named(options.from_host), named(options.to_host)},
                                                 context.machine_dirs());
    if (!wanted) {
        return context.fail(wanted.diagnostics());
    }
    auto result = study::upgrade_fleet(fleet, *from, *to, *wanted);
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
    study::UpgradePrices& prices = options.study.prices;
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

} // namespace

void add_upgrade(Frame& frame) {
    auto options = std::make_shared<UpgradeOptions>();
    CLI::App& app =
        frame.add("upgrade", "Whether another GPU pays off for a network, and why",
                  "eyeroof upgrade resnet50 --from v100-sxm2-16gb --to a100-sxm-40gb\n"
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
                  "# fail a build when it does not\n"
                  "eyeroof upgrade resnet50 --from t4 --to l4 --fail-if 'net.speedup < 1'");
    std::vector<std::string> types;
    for (const std::string_view name : model::data_type_names()) {
        types.emplace_back(name);
    }
    app.add_option(
           "network", options->networks,
           "Names in the catalog, or files; several make a fleet, NAME@WEIGHT gives each its "
           "share of the old GPU's time")
        ->required()
        ->type_name("NETWORK[@WEIGHT]");
    app.add_option("--from", options->from, "The GPU that runs it now")
        ->required()
        ->type_name("MACHINE");
    app.add_option("--to", options->to, "The GPU in question")->required()->type_name("MACHINE");
    add_phase(app, options->phase);
    add_network_launch(app, options->launch);
    add_dims(app, options->dims);
    add_dtype(app, options->dtype);
    add_choice(app, "--from-dtype", options->from_dtype, types, "Data type on the old GPU alone");
    add_choice(app, "--to-dtype", options->to_dtype, types, "Data type on the new GPU alone");
    app.add_option("--host", options->host,
                   "The host on both sides (default: the server of each GPU's years)")
        ->type_name("MACHINE");
    app.add_option("--from-host", options->from_host, "The old GPU's host")->type_name("MACHINE");
    app.add_option("--to-host", options->to_host, "The new GPU's host")->type_name("MACHINE");
    app.add_option("--batch", options->batch, "Multiplies the network's batch")
        ->check(CLI::PositiveNumber);
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
