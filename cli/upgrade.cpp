// eyeroof upgrade: does another GPU pay off for this network?
#include "study/upgrade.hpp"

#include "cli/command.hpp"
#include "cli/gpu_options.hpp"
#include "hwdb/catalog.hpp"
#include "study/read/catalog.hpp"
#include "study/training.hpp"

namespace eyeroof::cli {

namespace {

struct Options {
    std::string network, from, to;
    std::string phase = "inference", launch = "stream", optimizer = "sgd_momentum";
    std::string from_dtype, to_dtype;
    std::optional<std::int64_t> batch;
    study::UpgradeOptions study;
    OutputOptions output;
};

std::optional<model::DataType> type_of(const std::string& name) {
    return name.empty() ? std::nullopt : model::data_type_from_name(name);
}

study::LaunchMode mode_of(const std::string& name) {
    return static_cast<study::LaunchMode>(launch_from_name(name));
}

study::UpgradeOptions study_options(const Options& options) {
    study::UpgradeOptions wanted = options.study;
    wanted.from.launch = wanted.to.launch = mode_of(options.launch);
    wanted.from.data_type = type_of(options.from_dtype);
    wanted.to.data_type = type_of(options.to_dtype);
    wanted.from.batch = wanted.to.batch = options.batch;
    return wanted;
}

Exit upgrade(Context& context, const Options& options) {
    auto network = study::read::load_network(options.network, context.network_dirs());
    const auto from = hwdb::load_machine(options.from, context.machine_dirs());
    const auto to = hwdb::load_machine(options.to, context.machine_dirs());
    if (!network || !from || !to) {
        model::Diagnostics all = network.diagnostics();
        all.append(from.diagnostics());
        all.append(to.diagnostics());
        return context.fail(all);
    }
    if (options.phase == "training") {
        const bool mixed = options.from_dtype == "fp16" || options.to_dtype == "fp16" ||
                           options.to_dtype == "bf16";
        network = study::training_step(*network, {options.optimizer, mixed});
        if (!network) {
            return context.fail(network.diagnostics());
        }
    }
    const auto result = study::upgrade(*network, *from, *to, study_options(options));
    if (!result) {
        return context.fail(result.diagnostics());
    }
    const std::string& format = options.output.format;
    return context.write(format == "json"  ? study::upgrade_json(*result)
                         : format == "csv" ? study::upgrade_csv(*result)
                         : format == "md"  ? study::upgrade_markdown(*result)
                                           : study::upgrade_text(*result),
                         options.output.file);
}

void add_price_options(CLI::App& app, Options& options) {
    study::UpgradePrices& prices = options.study.prices;
    app.add_option("--from-per-hour", prices.from_usd_per_hour, "Price of the old GPU, USD an hour")
        ->check(CLI::PositiveNumber);
    app.add_option("--to-per-hour", prices.to_usd_per_hour, "Price of the new GPU, USD an hour")
        ->check(CLI::PositiveNumber);
    app.add_option("--buy", prices.to_buy_usd, "Price of the new GPU, USD")
        ->check(CLI::PositiveNumber);
    app.add_option("--resale", prices.from_resale_usd, "What the old GPU brings, USD")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--threshold", options.study.threshold,
                   "Speed-up that must be passed (default: the ratio of the hourly prices)")
        ->check(CLI::PositiveNumber);
}

} // namespace

void add_upgrade(Frame& frame) {
    auto options = std::make_shared<Options>();
    CLI::App& app = frame.add("upgrade", "Whether another GPU pays off for a network, and why",
                              "eyeroof upgrade resnet50 --from v100-sxm2-16gb --to a100-sxm-40gb\n"
                              "# training, fp16 before and bf16 after\n"
                              "eyeroof upgrade bert-base --from t4 --to l4 --phase training "
                              "--from-dtype fp16 --to-dtype bf16\n"
                              "# at prices of your own\n"
                              "eyeroof upgrade bert-base --from t4 --to l4 --from-per-hour 0.53 "
                              "--to-per-hour 0.80");
    std::vector<std::string> types;
    for (const std::string_view name : model::data_type_names()) {
        types.emplace_back(name);
    }
    app.add_option("network", options->network, "Name in the catalog, or a file")
        ->required()
        ->type_name("NETWORK");
    app.add_option("--from", options->from, "The GPU that runs it now")
        ->required()
        ->type_name("MACHINE");
    app.add_option("--to", options->to, "The GPU in question")->required()->type_name("MACHINE");
    add_choice(app, "--phase", options->phase, {"inference", "training"}, "What is run");
    add_launch(app, options->launch);
    add_choice(app, "--optimizer", options->optimizer, {"sgd", "sgd_momentum", "adam"},
               "Update of the weights in training");
    add_choice(app, "--from-dtype", options->from_dtype, types, "Data type on the old GPU");
    add_choice(app, "--to-dtype", options->to_dtype, types, "Data type on the new GPU");
    app.add_option("--batch", options->batch, "Multiplies the network's batch")
        ->check(CLI::PositiveNumber);
    add_price_options(app, *options);
    add_output(app, options->output, {"text", "json", "csv", "md"});
    frame.run(app, [options](Context& context) { return upgrade(context, *options); });
}

} // namespace eyeroof::cli
