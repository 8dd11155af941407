// The flags of `eyeroof tune`; what they mean is said in cli/tune/wanted.cpp.
#include "cli/tune_options.hpp"

#include "cli/scenario_options.hpp"

namespace eyeroof::cli {

namespace {

void add_learning(CLI::App& app, TuneCommand& options) {
    add_choice(app, "--strategy", options.strategy,
               {"random", "grid", "genetic", "anneal", "analytic", "learned"},
               "Search strategy [learned]");
    add_choice(app, "--features", options.features,
               {"all", "knobs", "loops", "steps", "loops+steps", "knobs+loops", "knobs+steps"},
               "Features that the learned strategy uses [all]");
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
                   "Weight of the deviation among four fits in a score")
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

constexpr const char* kTuneExamples =
    "# the fastest kernels of a network's layers on this processor, 128 trials each\n"
    "eyeroof tune resnet18-c1-c12 --layers 'C6$' --log c6.jsonl\n"
    "# the same search on a closed-form model: seconds, no compiler\n"
    "eyeroof tune resnet18-c1-c12 --layers 'C[69]$' --target model --details\n"
    "# GPU kernels: measured on this GPU, or by closed form for another one\n"
    "eyeroof tune resnet18-c1-c12 --layers C2 --target gpu --log gpu.jsonl\n"
    "eyeroof tune resnet18-c1-c12 --layers C2 --target model --on a100-sxm-80gb --details\n"
    "# the whole network with tuned kernels beside oneDNN, in one run on this processor\n"
    "eyeroof tune resnet18 --end-to-end --trials 32 --log resnet18.jsonl\n"
    "# begin with what other layers have taught\n"
    "eyeroof tune resnet18-c1-c12 --layers C9 --log c9.jsonl --transfer c6.jsonl\n"
    "# best so far against trials, as a picture\n"
    "eyeroof tune resnet18-c1-c12 --layers C2 --target model --format svg -o c2.svg";

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
}

void add_tune_flags(CLI::App& app, TuneCommand& options) {
    add_measuring(app, options);
    add_learning(app, options);
}

void add_tune_command(Frame& frame, const TuneAction& action) {
    auto options = std::make_shared<TuneCommand>();
    CLI::App& app = frame.add(
        "tune", "Search for the fastest implementation of a layer: compile, time, and learn",
        kTuneExamples);
    add_tune_network(app, *options);
    add_tune_flags(app, *options);
    app.add_flag("--end-to-end", options->end_to_end,
                 "Run the whole network in the end, with the tuned kernels and with oneDNN, which "
                 "the compiler must find, turn about on this processor");
    app.add_flag("--details", options->details,
                 "Add the search space, the closed form's choice, and the bounds of the best "
                 "candidate (text)");
    add_output(app, options->output, {"text", "json", "csv", "md", "html", "svg"});
    frame.run(app, [options, action](Context& context) { return action(context, *options); });
}

} // namespace eyeroof::cli
