// eyeroof tune: searches the fastest program of a layer by measuring.
#include "cli/command.hpp"
#include "cli/exam_options.hpp"
#include "cli/own_library.hpp"
#include "model/base/pattern.hpp"
#include "model/machine/machine.hpp"
#include "study/tune/compare.hpp"
#include "study/tune/report.hpp"

#include <fmt/format.h>

namespace eyeroof::cli {

namespace {

namespace tuning = study::tune;

struct Options {
    std::string network, layers, target = "cpu", machine;
    std::vector<std::string> dims, transfer, from;
    std::string log, compiler, flags, strategy = "learned", features = "all";
    std::string loss = "regression", trees = "auto", time = "median";
    std::size_t trials = 128, batch = 16;
    std::uint64_t seed = 1, machine_seed = 1;
    int threads = 1, cpu = -1, seeds = 5, jobs = 1;
    double epsilon = 0.05, diversity = 0.3, uncertainty = 0.0, noise = 0.05;
    double repeat_s = 0.25, limit_s = 20.0, time_limit_s = 0.0;
    bool residual = false, compare = false, ablation = false, details = false;
    OutputOptions output;
};

tuning::StrategyOptions strategy_of(const Options& options) {
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

tuning::TuneOptions tune_options(const Options& options) {
    tuning::TuneOptions wanted;
    wanted.plan.strategy = strategy_of(options);
    wanted.plan.trials = options.trials;
    wanted.plan.limit_s = options.time_limit_s;
    wanted.on_cpu = options.target == "cpu";
    wanted.cpu.compiler = options.compiler;
    if (!options.flags.empty()) {
        wanted.cpu.flags = words_of(options.flags);
    }
    wanted.cpu.cpu = options.cpu;
    wanted.cpu.time_s = options.repeat_s;
    wanted.cpu.limit_s = options.limit_s;
    wanted.cpu.statistic =
        options.time == "least" ? tuning::Statistic::least : tuning::Statistic::median;
    wanted.noise = {options.noise, options.seed};
    wanted.machine_seed = options.machine_seed;
    wanted.threads = options.threads;
    wanted.date = utc_now();
    return wanted;
}

model::Result<std::vector<tuning::TrialLine>> load_logs(Context& context,
                                                        const std::vector<std::string>& files) {
    std::vector<std::vector<tuning::TrialLine>> logs;
    model::Diagnostics found;
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
model::Result<model::Network> chosen_layers(Context& context, const Options& options) {
    auto network = load_workload(context, options.network, options.dims);
    const auto pattern = model::Pattern::compile(options.layers);
    if (!network || !pattern) {
        model::Diagnostics all = network.diagnostics();
        all.append(pattern.diagnostics());
        return all;
    }
    std::erase_if(network->layers,
                  [&](const model::Layer& layer) { return !pattern->found_in(layer.name); });
    if (network->layers.empty()) {
        return model::Result<model::Network>::failure(
            "no-layers", fmt::format("no layer's name matches '{}'", options.layers),
            "eyeroof net show lists them");
    }
    return network;
}

// Wrong together, or not to be had here.
std::optional<model::Diagnostic> refusal(const Options& options) {
    const auto error = [](std::string code, std::string text, std::string hint) {
        return model::Diagnostic{
            model::Severity::error, std::move(code), std::move(text), std::move(hint), {}, {}};
    };
    if (options.target == "gpu") {
        return error("unavailable",
                     "--target gpu is not built: there is no template that NVRTC compiles yet",
                     "tune on the processor (--target cpu), or ask the GPU model: eyeroof exam");
    }
    if (options.trees == "xgboost" && !tuning::has_xgboost()) {
        return error("unavailable", "XGBoost was not found when this was built",
                     "install libxgboost-dev and build again, or use --trees own");
    }
    if (!options.machine.empty() && options.target != "model") {
        return error("usage", "--on is for --target model", "--target cpu measures this host");
    }
    if (!options.from.empty() && !options.compare) {
        return error("usage", "--from replays logs for --compare", "add --compare");
    }
    if (options.compare && options.from.empty() && options.target == "cpu") {
        return error("usage", "--compare measures nothing new",
                     "it replays what logs hold (--from LOG) or computes (--target model)");
    }
    if (options.network.empty() && options.from.empty()) {
        return error("usage", "which network? NETWORK is missing", "as in: eyeroof tune alexnet");
    }
    return std::nullopt;
}

Exit write_comparison(Context& context, const Options& options, const tuning::Comparison& made) {
    const std::string& format = options.output.format;
    if (made.stopped) {
        model::Diagnostics found;
        found.error("cancelled", "stopped before all runs were there");
        return context.fail(found);
    }
    return context.write(format == "json"  ? tuning::comparison_json(made)
                         : format == "csv" ? tuning::comparison_csv(made)
                         : format == "svg" ? tuning::comparison_svg(made)
                                           : tuning::comparison_text(made),
                         options.output.file);
}

Exit run_comparison(Context& context, const Options& options, std::vector<tuning::Arena> arenas) {
    if (arenas.empty()) {
        model::Diagnostics found;
        found.error("too-few", "no layer of the logs has 32 different measured points");
        return context.fail(found);
    }
    const bool pools = !options.from.empty();
    const auto contenders =
        options.ablation ? tuning::feature_contenders(pools) : tuning::usual_contenders(pools);
    auto made = tuning::compare(arenas, contenders, options.seeds, options.trials, options.jobs,
                                context.stop(), context.progress());
    if (pools && options.ablation && !made.stopped) {
        tuning::TreeOptions trees = strategy_of(options).trees;
        tuning::hold_out(arenas, trees, made, context.stop());
    }
    return write_comparison(context, options, made);
}

// Layers on an accelerator: their optimum is the mapper's.
model::Result<std::vector<tuning::Arena>> mappings(Context& context, const Options& options) {
    using Made = model::Result<std::vector<tuning::Arena>>;
    const auto network = chosen_layers(context, options);
    const auto machine = load_machine(context, options.machine);
    model::Diagnostics found = network.diagnostics();
    found.append(machine.diagnostics());
    if (found.has_errors()) {
        return found;
    }
    const auto* accelerator = std::get_if<model::Accelerator>(&machine->kind);
    if (accelerator == nullptr) {
        return Made::failure("unsupported", "--on takes an accelerator",
                             "without --on a stand-in for a processor is tuned");
    }
    constexpr std::uint64_t kNodes = 2'000'000;
    std::vector<tuning::Arena> arenas;
    for (const model::Layer& layer : network->layers) {
        auto subject =
            tuning::mapping_subject(layer, *accelerator, {0.0, 1}, kNodes, context.stop());
        if (!subject) {
            for (model::Diagnostic diagnostic : subject.diagnostics()) {
                diagnostic.severity = model::Severity::warning;
                found.add(std::move(diagnostic));
            }
            continue;
        }
        tuning::Arena arena;
        arena.subject = std::move(subject->subject);
        arena.target = std::move(subject->target);
        arena.best_known = subject->optimum;
        arena.proved = subject->proved;
        arenas.push_back(std::move(arena));
    }
    context.report(found);
    return arenas;
}

Exit compare(Context& context, const Options& options) {
    if (!options.from.empty()) {
        const auto lines = load_logs(context, options.from);
        return lines ? run_comparison(context, options, tuning::pools_of(*lines))
                     : context.fail(lines.diagnostics());
    }
    if (!options.machine.empty()) {
        auto arenas = mappings(context, options);
        return arenas ? run_comparison(context, options, *std::move(arenas))
                      : context.fail(arenas.diagnostics());
    }
    const auto network = chosen_layers(context, options);
    const auto layers = network
                            ? tuning::workloads_of(*network)
                            : model::Result<std::vector<tuning::Workload>>(network.diagnostics());
    if (!layers) {
        return context.fail(layers.diagnostics());
    }
    context.report(layers.diagnostics());
    return run_comparison(context, options, tuning::stand_ins_of(*layers, tune_options(options)));
}

std::string rendered(const tuning::TuneResult& result, const Options& options) {
    const std::string& format = options.output.format;
    return format == "json"  ? tuning::tune_json(result)
           : format == "csv" ? tuning::tune_csv(result)
           : format == "svg" ? tuning::tune_svg(result)
                             : tuning::tune_text(result, options.details);
}

Exit search(Context& context, const Options& options) {
    const auto network = chosen_layers(context, options);
    auto layers = network ? tuning::workloads_of(*network)
                          : model::Result<std::vector<tuning::Workload>>(network.diagnostics());
    const auto transfer = load_logs(context, options.transfer);
    model::Diagnostics found = layers.diagnostics();
    found.append(transfer.diagnostics());
    if (found.has_errors()) {
        return context.fail(found);
    }
    tuning::TuneOptions wanted = tune_options(options);
    wanted.transfer = *transfer;
    std::optional<tuning::TrialLog> log;
    if (!options.log.empty()) {
        auto opened = tuning::TrialLog::open(options.log);
        if (!opened) {
            return context.fail(opened.diagnostics());
        }
        found.append(opened.diagnostics());
        log.emplace(*std::move(opened));
    }
    context.report(found);
    context.take_time_to_stop(std::chrono::milliseconds(2000)); // to end a candidate and clean up
    const auto result = tuning::tune_layers(*layers, wanted, log ? &*log : nullptr, context.stop(),
                                            context.progress(true));
    if (!result) {
        return context.fail(result.diagnostics());
    }
    return context.write(rendered(*result, options), options.output.file,
                         result->stopped ? Exit::cancelled : Exit::done);
}

Exit tune(Context& context, const Options& options) {
    if (const auto refused = refusal(options)) {
        model::Diagnostics found;
        found.add(*refused);
        return context.fail(found);
    }
    if (!options.machine.empty() && !options.compare) {
        return context.fail_usage("mappings of an accelerator are compared, not tuned",
                                  "eyeroof map finds the best one; add --compare");
    }
    return options.compare ? compare(context, options) : search(context, options);
}

constexpr const char* kExamples =
    "# the fastest kernels of a network's layers on this processor, 128 trials each\n"
    "eyeroof tune resnet18-c1-c12 --layers 'C6$' --log c6.jsonl\n"
    "# the same search on a stand-in that computes: seconds, no compiler\n"
    "eyeroof tune resnet18-c1-c12 --layers 'C[69]$' --target model --details\n"
    "# begin with what other layers have taught\n"
    "eyeroof tune resnet18-c1-c12 --layers C9 --log c9.jsonl --transfer c6.jsonl\n"
    "# best so far against trials, as a picture\n"
    "eyeroof tune resnet18-c1-c12 --layers C2 --target model --format svg -o c2.svg\n"
    "# which strategy needs how many trials: on stand-ins, on logs, against a proved optimum\n"
    "eyeroof tune resnet18-c1-c12 --layers 'C[69]$' --target model --compare --trials 32 "
    "--seeds 3\n"
    "eyeroof tune --compare --from c6.jsonl --from c9.jsonl\n"
    "eyeroof tune alexnet --layers CONV3 --target model --on eyeriss-v1 --compare "
    "--trials 16 --seeds 2";

void add_learning(CLI::App& app, Options& options) {
    add_choice(app, "--strategy", options.strategy, tuning::strategy_names(),
               "How candidates are chosen [learned]");
    add_choice(app, "--features", options.features,
               {"all", "knobs", "loops", "steps", "loops+steps", "knobs+loops", "knobs+steps"},
               "What the learned strategy sees of a candidate [all]");
    add_choice(app, "--loss", options.loss, {"regression", "rank"}, "Of the trees [regression]");
    add_choice(app, "--trees", options.trees, {"auto", "xgboost", "own"},
               "XGBoost's where it was found, or eyeroof's own [auto]");
    app.add_option("--batch", options.batch, "Trials between two fits")
        ->check(CLI::Range(1, 4096))
        ->capture_default_str();
    app.add_option("--epsilon", options.epsilon, "Share of a batch that is drawn at random")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--diversity", options.diversity, "Worth of knob values new to a batch")
        ->check(CLI::Range(0.0, 100.0))
        ->capture_default_str();
    app.add_option("--uncertainty", options.uncertainty,
                   "Deviations of four fits that are added to a score")
        ->check(CLI::Range(0.0, 10.0));
    app.add_flag("--residual", options.residual, "Trees learn only what the closed form misses");
    app.add_option("--transfer", options.transfer, "Log to learn from before (repeatable)")
        ->type_name("FILE")
        ->allow_extra_args(false);
}

void add_measuring(CLI::App& app, Options& options) {
    add_choice(app, "--target", options.target, {"cpu", "model", "gpu"},
               "What measures: this processor, or a closed form as a stand-in [cpu]");
    app.add_option("--log", options.log, "Keeps every trial, and goes on from there when run again")
        ->type_name("FILE");
    app.add_option("--threads", options.threads, "Threads that a kernel may use")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    app.add_option("--cpu", options.cpu, "Processor to pin kernels to [the last one]")
        ->check(CLI::Range(0, 4095));
    app.add_option("--compiler", options.compiler, "C++ compiler [c++, g++ or clang++]")
        ->type_name("PROGRAM");
    app.add_option("--flags", options.flags, "Its flags [-O2 -march=native]")->type_name("TEXT");
    add_choice(app, "--time", options.time, {"median", "least"},
               "Which of the repeats counts [median]");
    app.add_option("--repeat-time", options.repeat_s, "Seconds for a candidate's repeats")
        ->check(CLI::Range(0.0, 3600.0))
        ->capture_default_str();
    app.add_option("--limit", options.limit_s, "Seconds after which a candidate is ended")
        ->check(CLI::Range(0.01, 86400.0))
        ->capture_default_str();
    app.add_option("--time-limit", options.time_limit_s, "Seconds for each layer's search")
        ->check(CLI::PositiveNumber);
    app.add_option("--on", options.machine,
                   "With --target model --compare: an accelerator, whose mappings are tuned")
        ->type_name("MACHINE|FILE");
    app.add_option("--noise", options.noise, "Deviation of a stand-in's measurements")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--machine-seed", options.machine_seed, "Which stand-in");
}

void add_comparing(CLI::App& app, Options& options) {
    app.add_flag("--compare", options.compare,
                 "All strategies against each other instead of one search");
    app.add_flag("--ablation", options.ablation,
                 "With --compare: groups of features instead of strategies");
    app.add_option("--from", options.from, "With --compare: log to replay (repeatable)")
        ->type_name("FILE")
        ->allow_extra_args(false);
    app.add_option("--seeds", options.seeds, "With --compare: runs of each")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--jobs", options.jobs, "With --compare: threads; the answer is the same")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
}

} // namespace

void add_tune(Frame& frame) {
    auto options = std::make_shared<Options>();
    CLI::App& app = frame.add(
        "tune", "Learned search: compiles and times kernels of a layer until the best is found",
        kExamples);
    app.add_option("NETWORK", options->network, "Name in the catalog, or a file")
        ->type_name("NETWORK|FILE");
    app.add_option("--layers", options->layers, "Regular expression over layer names")
        ->type_name("REGEX");
    add_dims(app, options->dims);
    app.add_option("--trials", options->trials, "Candidates to measure, of each layer")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    app.add_option("--seed", options->seed, "Of the search")->capture_default_str();
    add_measuring(app, *options);
    add_learning(app, *options);
    add_comparing(app, *options);
    app.add_flag("--details", options->details,
                 "In text output, the space, the closed form's choice, the bounds of the best");
    add_output(app, options->output, {"text", "json", "csv", "svg"});
    frame.run(app, [options](Context& context) { return tune(context, *options); });
}

} // namespace eyeroof::cli
