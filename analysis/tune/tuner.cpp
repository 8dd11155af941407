#include "analysis/tune/tuner.hpp"

#include "analysis/tune/strategy_parts.hpp"
#include "base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace eyeroof::analysis::tune {

namespace {

// "transfer of 864 trials 3f21": which, as far as a log can tell.
std::string transfer_text(const std::vector<TrialLine>& lines) {
    std::uint64_t sum = 0;
    for (const TrialLine& line : lines) {
        std::uint64_t one = mixed(line.origin.seed) ^ static_cast<std::uint64_t>(line.trial);
        for (const char letter : line.origin.command + line.work.name) {
            one = mixed(one ^ static_cast<unsigned char>(letter));
        }
        sum += one;
    }
    return lines.empty()
               ? std::string{}
               : fmt::format(", transfer of {} trials {:04x}", lines.size(), sum & 0xffffU);
}

// Where all layers of a run are tuned.
struct Site {
    CpuMachine cpu;
    std::optional<GpuMachine> gpu; // instead
    Toolchain toolchain;

    SearchTask search_task(const Workload& work, int threads) const {
        return gpu ? gpu_task(work, *gpu) : cpu_task(work, cpu, threads);
    }
    std::string name() const { return gpu ? gpu->name : cpu.name; }
};

TrialOrigin origin_of(const Site& site, const TuneOptions& options) {
    const CpuMachine& machine = site.cpu;
    TrialOrigin origin;
    origin.target = target_name(options.target);
    origin.machine =
        options.target != TargetKind::model
            ? site.name()
            : fmt::format("synthetic target {} with noise {}{}", options.machine_seed,
                          options.noise.deviation, site.gpu ? " of " + site.name() : "");
    origin.gpu = site.gpu;
    if (!site.gpu) {
        origin.cores = machine.cores;
        origin.l1_bytes = static_cast<Count>(machine.l1_bytes);
        origin.l2_bytes = static_cast<Count>(machine.l2_bytes);
        origin.l3_bytes = static_cast<Count>(machine.l3_bytes);
        origin.lanes = machine.lanes;
        origin.registers = machine.registers;
    }
    origin.compiler = site.toolchain.compiler;
    origin.flags = site.toolchain.flags;
    origin.date = options.target == TargetKind::model ? "" : options.date;
    origin.command = search_text(options.plan.strategy) + transfer_text(options.transfer);
    if (options.threads > 1) {
        origin.command += fmt::format(", up to {} threads", options.threads);
    }
    origin.seed = options.plan.strategy.seed;
    return origin;
}

// Layers do not begin with the same points: what one teaches another is then no repetition.
std::uint64_t seed_of(std::uint64_t seed, const Workload& work) {
    for (const Count size : {work.rows, work.cols, work.depth, work.taps(), work.stride.w}) {
        seed = mixed(seed ^ static_cast<std::uint64_t>(size));
    }
    return seed >> 16U;
}

// Trials of the same search that a log holds, by their number.
class Memory {
  public:
    Memory(const std::vector<TrialLine>& lines, const SearchTask& search_task, const Workload& work,
           const TrialOrigin& origin) {
        for (const TrialLine& line : lines) {
            const bool same =
                line.template_name == search_task.template_name && line.work.same_shape(work) &&
                line.origin.target == origin.target && line.origin.machine == origin.machine &&
                line.origin.compiler == origin.compiler && line.origin.flags == origin.flags &&
                line.origin.command == origin.command && line.origin.seed == origin.seed;
            if (const auto point = same ? point_of(search_task.space, line) : std::nullopt) {
                known_[line.trial] = {*point, line.outcome};
            }
        }
    }
    std::optional<Outcome> recall(const Point& point, std::size_t trial) const {
        const auto at = known_.find(static_cast<Count>(trial));
        return at != known_.end() && at->second.first == point ? std::optional(at->second.second)
                                                               : std::nullopt;
    }

  private:
    std::map<Count, std::pair<Point, Outcome>> known_;
};

class Tuner {
  public:
    Tuner(const TuneOptions& options, TrialLog* log, std::stop_token stop,
          const ProgressCallback& progress)
        : options_(options), log_(log), stop_(std::move(stop)), progress_(progress) {
        site_.cpu = options.target == TargetKind::model ? synthetic_machine() : host_machine();
        result_.target = target_name(options.target);
        result_.search = search_text(options.plan.strategy);
    }

    Result<TuneResult> run(const std::vector<Workload>& layers) {
        if (const auto opened = open(); !opened) {
            return Result<TuneResult>(opened.diagnostics());
        }
        result_.toolchain = site_.toolchain;
        result_.machine = site_.name();
        result_.clock_hz = site_.gpu ? site_.gpu->clock_hz : site_.cpu.clock_hz;
        GlobalModel global =
            learn_global(options_.transfer, options_.plan.strategy.features,
                         options_.plan.strategy.trees, site_.gpu ? kGpuTemplate : kCpuTemplate);
        for (std::size_t n = 0; n < layers.size() && !result_.stopped; ++n) {
            const auto done = tune_one(layers[n], n, layers.size(), global);
            if (!done) {
                return Result<TuneResult>(done.diagnostics());
            }
        }
        if (result_.layers.empty()) {
            return Result<TuneResult>::failure("cancelled", "stopped before the first trial");
        }
        if (options_.network && !result_.stopped) {
            if (const auto done = run_whole(*options_.network); !done) {
                return Result<TuneResult>(done.diagnostics());
            }
        }
        return std::move(result_);
    }

  private:
    // What measures, where something does.
    Result<Done> open() {
        if (options_.target == TargetKind::cpu) {
            auto session = CpuSession::open(options_.cpu, stop_);
            if (!session) {
                return Result<Done>(session.diagnostics());
            }
            session_ = *std::move(session);
            site_.toolchain = session_->toolchain();
            if (options_.network) {
                if (const auto built = build_network(*session_); !built) {
                    return built;
                }
            }
        }
        if (options_.target == TargetKind::gpu) {
            auto session = GpuSession::open(options_.gpu, stop_);
            if (!session) {
                return Result<Done>(session.diagnostics());
            }
            gpu_session_ = *std::move(session);
            site_.gpu = gpu_session_->machine();
            site_.toolchain = {gpu_session_->compiler(), gpu_session_->flags()};
        }
        if (options_.target == TargetKind::model) {
            site_.gpu = options_.computed_gpu;
        }
        return Done{};
    }

    Result<Done> tune_one(const Workload& work, std::size_t n, std::size_t all,
                          const GlobalModel& global) {
        const auto start = std::chrono::steady_clock::now();
        const auto seconds = [start] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        };
        limit_processes(start);
        const SearchTask search_task = site_.search_task(work, options_.threads);
        auto target = target_of(work, search_task);
        if (!target) {
            return Result<Done>(target.diagnostics());
        }
        const TrialOrigin origin = origin_of(site_, options_);
        const Memory memory(log_ == nullptr ? std::vector<TrialLine>{} : log_->before(),
                            search_task, work, origin);
        SearchPlan plan = options_.plan;
        plan.strategy.global = global;
        plan.timed = options_.target != TargetKind::model;
        plan.strategy.seed = seed_of(plan.strategy.seed, work);
        Count number = 0;
        Result<Done> kept = Done{};
        const Keep keep = [&](const Trial& trial) {
            if (log_ != nullptr) {
                kept = log_->append(line_of(search_task, work, origin, trial, number));
            }
            ++number;
            return kept.ok();
        };
        const Recall recall = [&](const Point& point, std::size_t trial) {
            number = static_cast<Count>(trial);
            auto known = memory.recall(point, trial);
            number += known ? 1 : 0;
            return known;
        };
        if (plan.limit_s > 0.0) { // the reference result was part of it
            constexpr double kLeast_s = 1e-9;
            plan.limit_s = std::max(kLeast_s, plan.limit_s - seconds());
        }
        SearchEnd end = run_search(search_task, **target, plan, keep, recall, stop_, tell(n, all));
        if (!kept) {
            return kept;
        }
        add(work, search_task, **target, std::move(end), plan.timed ? seconds() : 0.0);
        tell_again(search_task, static_cast<double>(n + 1) / static_cast<double>(all));
        return Done{};
    }

    Result<Done> run_whole(const NetPlan& plan) {
        constexpr double kTurns_s = 5.0; // for the network's repeats
        std::vector<CpuPlan> kernels;
        for (const Workload& work : plan.works) {
            const auto tuned =
                std::find_if(result_.layers.begin(), result_.layers.end(),
                             [&](const Tuned& t) { return t.work.same_shape(work); });
            if (tuned == result_.layers.end() || !tuned->best) {
                return Result<Done>::failure(
                    "failed", fmt::format("no kernel of '{}' worked", printable(work.name)),
                    "raise --trials or --limit");
            }
            const Space space = cpu_space(work, site_.cpu, options_.threads);
            kernels.push_back(cpu_plan(space, tuned->best->point));
        }
        if (progress_) {
            progress_({1.0, "the whole network", 0.0, -1.0});
        }
        session_->end_by({});
        auto found = run_network(*session_, plan, kernels, options_.threads, kTurns_s);
        if (!found) {
            return Result<Done>(found.diagnostics());
        }
        result_.network = *std::move(found);
        return Done{};
    }

    // Nothing that is started for a layer outlives the layer's time.
    void limit_processes(std::chrono::steady_clock::time_point start) {
        constexpr double kMost_s = 1e9;
        Deadline deadline;
        if (options_.plan.limit_s > 0.0) {
            deadline = start +
                       std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                           std::chrono::duration<double>(std::min(options_.plan.limit_s, kMost_s)));
        }
        if (session_) {
            session_->end_by(deadline);
        }
        if (gpu_session_) {
            gpu_session_->end_by(deadline);
        }
    }

    Result<std::unique_ptr<Target>> target_of(const Workload& work, const SearchTask& search_task) {
        if (session_) {
            return session_->target(work, search_task.space);
        }
        if (gpu_session_) {
            return gpu_session_->target(work, search_task.space);
        }
        return site_.gpu ? synthetic_target(work, *site_.gpu, search_task, options_.machine_seed,
                                            options_.noise)
                         : synthetic_target(work, site_.cpu, search_task, options_.machine_seed,
                                            options_.noise);
    }

    // One line of progress for all layers.
    ProgressCallback tell(std::size_t n, std::size_t all) const {
        if (!progress_) {
            return {};
        }
        return [this, n, all](const Progress& one) {
            Progress whole = one;
            whole.fraction = (static_cast<double>(n) + one.fraction) / static_cast<double>(all);
            progress_(whole);
        };
    }

    // The best trial was also the luckiest: the last line of a layer has the figure of its report.
    void tell_again(const SearchTask& search_task, double fraction) const {
        const double again_s = result_.layers.back().again_s;
        if (progress_ && again_s > 0.0) {
            progress_({fraction, search_task.name + ": measured again, GFLOP/s",
                       search_task.flops / again_s / 1e9});
        }
    }

    void add(const Workload& work, const SearchTask& search_task, Target& target, SearchEnd end,
             double seconds) {
        Tuned tuned;
        tuned.work = work;
        tuned.template_name = search_task.template_name;
        tuned.space = search_task.space.size();
        tuned.valid = search_task.space.valid_size();
        tuned.recalled = end.recalled;
        tuned.stopped = end.stopped;
        tuned.exhausted = end.exhausted;
        tuned.seconds = seconds;
        result_.stopped = result_.stopped || stop_.stop_requested();
        tuned.trials = std::move(end.trials);
        choose_best(search_task, target, tuned);
        AnnealOptions how;
        how.keep = 1;
        std::vector<Point> chains;
        Rng rng(1);
        const auto first = anneal_on(search_task.space,
                                     [&](std::span<const Point> points) {
                                         std::vector<double> scores;
                                         for (const Point& point : points) {
                                             scores.push_back(-search_task.predicted(point));
                                         }
                                         return scores;
                                     },
                                     History(search_task.space), how, chains, rng, {});
        if (!first.empty()) {
            tuned.preferred = search_task.described(first.front().point);
            tuned.preferred_knobs = knobs_of(search_task.space, first.front().point);
        }
        if (tuned.best) {
            tuned.what = search_task.described(tuned.best->point);
            tuned.knobs = knobs_of(search_task.space, tuned.best->point);
        }
        result_.layers.push_back(std::move(tuned));
    }

    // The best few are measured together again: the best of many was also the luckiest.
    void choose_best(const SearchTask&, Target& target, Tuned& tuned) {
        std::vector<Trial> sorted;
        for (const Trial& trial : tuned.trials) {
            if (trial.outcome.ok()) {
                sorted.push_back(trial);
            }
        }
        std::stable_sort(sorted.begin(), sorted.end(), [](const Trial& a, const Trial& b) {
            return a.outcome.cost < b.outcome.cost;
        });
        if (sorted.empty()) {
            return;
        }
        tuned.best = sorted.front();
        const std::size_t few =
            options_.target == TargetKind::model ? 0 : std::min(options_.again, sorted.size());
        std::vector<double> costs(few, kNoCost);
        for (int turn = 0; turn < 2; ++turn) {
            for (std::size_t i = 0; i < few && !stop_.stop_requested(); ++i) {
                const Outcome again = target.measure(sorted[i].point);
                costs[i] = again.ok() ? std::min(costs[i], again.cost) : costs[i];
            }
        }
        const auto least = std::min_element(costs.begin(), costs.end());
        if (least != costs.end() && *least < kNoCost && !stop_.stop_requested()) {
            tuned.best = sorted[static_cast<std::size_t>(least - costs.begin())];
            tuned.again_s = *least;
        }
    }

    const TuneOptions& options_;
    TrialLog* log_;
    std::stop_token stop_;
    const ProgressCallback& progress_;
    std::unique_ptr<CpuSession> session_;
    std::unique_ptr<GpuSession> gpu_session_;
    Site site_;
    TuneResult result_;
};

} // namespace

std::string_view target_name(TargetKind kind) {
    return kind == TargetKind::cpu ? "cpu" : kind == TargetKind::gpu ? "gpu" : "model";
}

std::string search_text(const StrategyOptions& options) {
    std::string text = fmt::format("{}, batch {}", strategy_name(options.kind), options.batch);
    if (options.kind == StrategyKind::learned) {
        text += fmt::format(", features {}, {} by XGBoost", features_name(options.features),
                            loss_name(options.trees.loss));
        text += options.prior ? ", residual" : "";
        text +=
            options.uncertainty > 0.0 ? fmt::format(", {} deviations", options.uncertainty) : "";
        text += options.epsilon != StrategyOptions{}.epsilon
                    ? fmt::format(", epsilon {}", options.epsilon)
                    : "";
        text += options.diversity != StrategyOptions{}.diversity
                    ? fmt::format(", diversity {}", options.diversity)
                    : "";
    }
    return text;
}

Result<TuneResult> tune_layers(const std::vector<Workload>& layers, const TuneOptions& options,
                               TrialLog* log, std::stop_token stop,
                               const ProgressCallback& progress) {
    return Tuner(options, log, std::move(stop), progress).run(layers);
}

} // namespace eyeroof::analysis::tune
