// The flags of `eyeroof tune`, and what they mean.
#include "cli/tune_options.hpp"

#include "base/pattern.hpp"
#include "cli/own_library.hpp"

#include <fmt/format.h>

namespace eyeroof::cli {

namespace {

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        if (end > at) {
            words.push_back(text.substr(at, end - at));
        }
        at = end + 1;
    }
    return words;
}

void add_learning(CLI::App& app, TuneCommand& options) {
    add_choice(app, "--strategy", options.strategy, tuning::strategy_names(),
               "Search strategy [learned]");
    add_choice(app, "--features", options.features,
               {"all", "knobs", "loops", "steps", "loops+steps", "knobs+loops", "knobs+steps"},
               "Features of a candidate that the learned strategy uses [all]");
    add_tune_trees(app, options);
    app.add_option("--fit-every", options.batch, "Trials between two fits of the model")
        ->check(CLI::Range(1, 4096))
        ->capture_default_str();
    app.add_option("--epsilon", options.epsilon, "Share of a batch that is chosen at random")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--diversity", options.diversity,
                   "Weight of parameter values that are new in a batch")
        ->check(CLI::Range(0.0, 100.0))
        ->capture_default_str();
    app.add_option("--uncertainty", options.uncertainty,
                   "Weight of the deviation among four fits in a candidate's score")
        ->check(CLI::Range(0.0, 10.0));
    app.add_flag("--residual,!--no-residual", options.residual,
                 "Learn only the residual of the closed form [yes]");
    app.add_option("--transfer", options.transfer,
                   "Log of another layer or machine to learn from first (repeatable)")
        ->type_name("FILE")
        ->allow_extra_args(false);
}

void add_measuring(CLI::App& app, TuneCommand& options) {
    add_choice(app, "--target", options.target, {"cpu", "model", "gpu"},
               "Target that measures candidates: this processor, an NVIDIA GPU, or a closed-form "
               "model [cpu]");
    app.add_option("--log", options.log, "Log of every trial; a later run resumes from it")
        ->type_name("FILE");
    app.add_option("--cpu", options.cpu, "Processor to pin kernels to [the last one]")
        ->check(CLI::Range(0, 4095));
    app.add_option("--compiler", options.compiler, "C++ compiler [c++, g++ or clang++]")
        ->type_name("PROGRAM");
    app.add_option("--flags", options.flags,
                   "Compiler flags [-O2 -march=native; none with --target gpu]")
        ->type_name("TEXT");
    add_choice(app, "--time", options.time, {"median", "least"},
               "Statistic of the repeated runs [median]");
    app.add_option("--repeat-time", options.repeat_s, "Seconds of repeated runs of a candidate")
        ->check(CLI::Range(0.0, 3600.0))
        ->capture_default_str();
    app.add_option("--limit", options.limit_s,
                   "Seconds after which a candidate, a compiler or a reference is ended")
        ->check(CLI::Range(0.01, 86400.0))
        ->capture_default_str();
    app.add_option("--time-limit", options.time_limit_s, "Seconds for each layer's search")
        ->check(CLI::PositiveNumber);
    app.add_option("--again", options.again, "Best candidates that are measured again at the end")
        ->check(CLI::Range(0, 1000))
        ->capture_default_str();
    app.add_option("--gpu", options.gpu, "With --target gpu: index of the GPU [0]")
        ->check(CLI::Range(0, 1023));
    app.add_option("--nvrtc", options.nvrtc, "With --target gpu: libnvrtc.so [found by name]")
        ->type_name("FILE");
    app.add_option("--on", options.machine,
                   "With --target model: a GPU, whose kernels are computed")
        ->type_name("MACHINE|FILE");
    add_tune_synthetic(app, options);
}

} // namespace

void add_tune_network(CLI::App& app, TuneCommand& options) {
    app.add_option("NETWORK", options.network, "Catalog name or file")->type_name("NETWORK|FILE");
    app.add_option("--layers", options.layers, "Regular expression over layer names")
        ->type_name("REGEX");
    add_sizes(app, options.dims);
    app.add_option("--trials", options.trials, "Candidates to measure for each layer")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    app.add_option("--seed", options.seed, "Seed of the search")->capture_default_str();
}

void add_tune_synthetic(CLI::App& app, TuneCommand& options) {
    app.add_option("--kernel-threads", options.threads, "Threads of a kernel")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    app.add_option("--noise", options.noise, "Standard deviation of the synthetic target's noise")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--machine-seed", options.machine_seed, "Which synthetic target");
}

void add_tune_trees(CLI::App& app, TuneCommand& options) {
    add_choice(app, "--loss", options.loss, {"regression", "rank"},
               "Loss of the boosted trees [regression]");
    add_choice(app, "--trees", options.trees, {"auto", "xgboost", "own"},
               "Boosted trees: XGBoost where it is installed, or eyeroof's own [auto]");
}

void add_tune_flags(CLI::App& app, TuneCommand& options) {
    add_measuring(app, options);
    add_learning(app, options);
}

tuning::StrategyOptions strategy_of(const TuneCommand& options) {
    tuning::StrategyOptions strategy;
    strategy.kind = *tuning::strategy_from_name(options.strategy);
    strategy.seed = options.seed;
    strategy.batch = options.batch;
    strategy.first = options.batch;
    strategy.features = *tuning::features_from_name(options.features);
    strategy.trees.loss = *tuning::loss_from_name(options.loss);
    strategy.trees.maker = options.trees == "auto"  ? tuning::usual_trees()
                           : options.trees == "own" ? tuning::TreeMaker::own
                                                    : tuning::TreeMaker::xgboost;
    strategy.epsilon = options.epsilon;
    strategy.diversity = options.diversity;
    strategy.uncertainty = options.uncertainty;
    strategy.prior = options.residual;
    return strategy;
}

tuning::TuneOptions tune_options(const TuneCommand& options) {
    tuning::TuneOptions wanted;
    wanted.plan.strategy = strategy_of(options);
    wanted.plan.trials = options.trials;
    wanted.plan.limit_s = options.time_limit_s;
    wanted.target = options.target == "cpu"   ? tuning::TargetKind::cpu
                    : options.target == "gpu" ? tuning::TargetKind::gpu
                                              : tuning::TargetKind::model;
    wanted.gpu.nvrtc = options.nvrtc;
    wanted.gpu.device = options.gpu;
    wanted.gpu.flags = words_of(options.flags);
    wanted.gpu.time_s = options.repeat_s;
    wanted.gpu.limit_s = options.limit_s;
    wanted.cpu.compiler = options.compiler;
    if (!options.flags.empty()) {
        wanted.cpu.flags = words_of(options.flags);
    }
    wanted.cpu.cpu = options.cpu;
    wanted.cpu.time_s = options.repeat_s;
    wanted.cpu.limit_s = options.limit_s;
    wanted.cpu.compile_limit_s = options.limit_s;
    wanted.cpu.statistic =
        options.time == "least" ? tuning::Statistic::least : tuning::Statistic::median;
    wanted.gpu.statistic = wanted.cpu.statistic;
    wanted.noise = {options.noise, options.seed};
    wanted.machine_seed = options.machine_seed;
    wanted.threads = options.threads;
    wanted.again = options.again;
    wanted.date = utc_now();
    return wanted;
}

Result<std::vector<tuning::TrialLine>> load_logs(Context& context,
                                                 const std::vector<std::string>& files) {
    std::vector<std::vector<tuning::TrialLine>> logs;
    Diagnostics found;
    for (const std::string& file : files) {
        auto log = tuning::load_trials(file);
        found.append(log.diagnostics());
        if (log) {
            logs.push_back(*std::move(log));
        }
    }
    if (found.has_errors()) {
        return found;
    }
    context.report(found);
    return tuning::merged(logs);
}

// The network's layers that --layers names.
Result<tuning::NetPlan> whole_network(Context& context, const TuneCommand& options) {
    using Made = Result<tuning::NetPlan>;
    const auto loaded = analysis::load_workload(options.network, options.dims, folders_of(context));
    if (!loaded) {
        return Made(loaded.diagnostics());
    }
    const auto graph = analysis::step::make_graph(loaded->network, loaded->edges);
    return graph ? tuning::net_plan(*graph) : Made(graph.diagnostics());
}

Result<model::Network> chosen_layers(Context& context, const TuneCommand& options) {
    auto loaded = analysis::load_workload(options.network, options.dims, folders_of(context));
    const auto pattern = Pattern::compile(options.layers);
    if (!loaded || !pattern) {
        Diagnostics all = loaded.diagnostics();
        all.append(pattern.diagnostics());
        return all;
    }
    model::Network network = std::move(loaded->network);
    std::erase_if(network.layers,
                  [&](const model::Layer& layer) { return !pattern->found_in(layer.name); });
    if (network.layers.empty()) {
        return Result<model::Network>::failure(
            "no-layers", fmt::format("no layer's name matches '{}'", options.layers),
            "eyeroof net show lists them");
    }
    return network;
}

} // namespace eyeroof::cli
