#include "cli/tune/wanted.hpp"

#include "base/pattern.hpp"
#include "cli/own_library.hpp"
#include "cli/scenario_options.hpp"

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

} // namespace

tuning::StrategyOptions strategy_of(const TuneCommand& options) {
    tuning::StrategyOptions strategy;
    strategy.kind = *tuning::strategy_from_name(options.strategy);
    strategy.seed = options.seed;
    strategy.batch = options.batch;
    strategy.first = options.batch;
    strategy.features = *tuning::features_from_name(options.features);
    strategy.trees.loss = *tuning::loss_from_name(options.loss);
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
