#include "profiles/host/measure_host.hpp"

#include "profiles/host/host_gemm.hpp"
#include "profiles/host/host_layers.hpp"
#include "profiles/host/host_loops.hpp"
#include "profiles/host/host_machine.hpp"
#include "profiles/host/host_team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <system_error>

namespace eyeroof::profiles {

namespace {

constexpr std::size_t kBlockDoubles = 128;           // one unrolled round of the widest loop
constexpr std::size_t kPiece = 8192 * kBlockDoubles; // doubles between two looks for a stop

// Memory of one thread, written by that thread before it is read: pages that no one wrote would all
// be the one page of zeros.
struct Arena {
    std::vector<double> a, b, c;

    // Piece by piece, so that a stop need not wait for gigabytes. true: all are written.
    bool fill(std::size_t doubles, bool three, const std::stop_token& stop) {
        const auto grown = [&](std::vector<double>& values, double value) {
            values.reserve(doubles);
            while (values.size() < doubles && !stop.stop_requested()) {
                values.resize(std::min(doubles, values.size() + kPiece), value);
            }
            return values.size() == doubles;
        };
        return grown(a, 1.0) && (!three || (grown(b, 2.0) && grown(c, 3.0)));
    }
};

constexpr std::size_t kArrays = 3;      // of the triad
constexpr std::size_t kLayerCaches = 6; // last caches that the longest layer's tensors fill

// A cache may be as large as a small machine's memory: what is measured must not be pushed out, nor
// push out others.
std::size_t usual_most() {
    constexpr std::size_t kUnknown = std::size_t{1} << 40U;
    const std::size_t available = available_bytes();
    return available > 0 ? available / 2 : kUnknown;
}

class HostMeasurement {
  public:
    HostMeasurement(const HostOptions& options, std::stop_token stop,
                    const ProgressCallback& progress)
        : options_(options), stop_(std::move(stop)), progress_(progress),
          threads_(options.threads > 0 ? options.threads : host_threads()), caches_(host_caches()),
          most_bytes_(options.most_bytes > 0 ? options.most_bytes : usual_most()) {}

    Result<Profile> run() {
        describe();
        std::vector<HostLayer> layers;
        if (options_.layers) {
            layers = host_layers(threads_,
                                 std::min(caches_.back().bytes, most_bytes_ / kLayerCaches), stop_);
        }
        const std::size_t ceilings = 2 + caches_.size() + 2;
        steps_ = 2 * ceilings + layers.size();
        // Before the layers and behind them: what else runs on the machine comes and goes.
        measure_ceilings();
        for (const HostLayer& layer : layers) {
            measure_layer(layer);
        }
        measure_ceilings();
        if (stop_.stop_requested()) {
            return cut_off();
        }
        conclude();
        return std::move(built_.profile);
    }

  private:
    struct Measured {
        Ceiling ceiling;
        double amount = 0.0; // of one repeat, all threads together
        TrialTimes times;
    };

    // What was measured until it was asked to stop: whole trials only.
    Result<Profile> cut_off() {
        if (measured_.empty()) {
            return Result<Profile>::failure("cancelled", "the measurement was cancelled");
        }
        conclude();
        const std::string what = fmt::format("cut off after {} of {} parts", done_, steps_);
        built_.profile.notes.push_back(what + ": this is what was measured until then");
        Diagnostics said;
        said.warning("cancelled", "the measurement was " + what + ", which are kept");
        return Result<Profile>(std::move(built_.profile), std::move(said));
    }

    void measure_ceilings() {
        for (const CacheSize& cache : caches_) {
            measure_read(cache.level);
        }
        measure_read("dram");
        measure_triad();
        measure_fma();
    }

    // A rate is its amount over the time of the fastest trial that another confirms.
    void conclude() {
        bool calm = true;
        for (Measured& m : measured_) {
            m.ceiling.value = m.amount / m.times.confirmed();
            m.ceiling.median = m.amount / m.times.median();
            m.ceiling.spread = 1.0 - m.times.confirmed() / m.times.worst();
            m.ceiling.trials = static_cast<std::int64_t>(m.times.seconds.size());
            calm = calm && m.times.is_confirmed() && m.times.median() < 1.1 * m.times.confirmed();
            built_.profile.ceilings.push_back(std::move(m.ceiling));
        }
        if (!calm) {
            built_.profile.notes.emplace_back(
                "not calm: half of the trials of a ceiling came more than 10 % below its best; "
                "measure again when nothing else runs");
        }
    }

    void describe() {
        RunInfo& run = built_.profile.run;
        run.tool = "eyeroof-measure-cpu";
        run.gpu = host_name();
        run.date = options_.date;
        run.command = options_.command;
        built_.source("measure cpu");
        built_.profile.notes.push_back(
            fmt::format("{} threads, loops for {}, best of 2 x {} trials and more; load before: {}",
                        threads_, host_loops().name, options_.trials, host_load()));
    }

    void tell(const std::string& activity) {
        if (progress_) {
            progress_({static_cast<double>(done_) / static_cast<double>(steps_), activity});
        }
        ++done_;
    }

    TrialTimes time(const std::string& activity, const TeamWork& work) {
        if (stop_.stop_requested()) {
            return {};
        }
        tell(activity);
        return time_team(threads_, options_.trials, options_.trial_s, work, stop_);
    }

    void add_ceiling(Ceiling ceiling, double amount, const TrialTimes& times) {
        if (times.seconds.empty()) {
            return;
        }
        const auto same = [&](const Measured& m) { return m.ceiling.name == ceiling.name; };
        const auto known = std::ranges::find_if(measured_, same);
        if (known == measured_.end()) {
            measured_.push_back({std::move(ceiling), amount, times});
        } else {
            auto& seconds = known->times.seconds;
            seconds.insert(seconds.end(), times.seconds.begin(), times.seconds.end());
        }
    }

    std::size_t doubles_for(const std::string& level) const {
        const std::size_t most = most_bytes_ / kArrays / static_cast<std::size_t>(threads_);
        const std::size_t bytes = std::min(walk_bytes(caches_, level, threads_), most);
        const std::size_t doubles = bytes / sizeof(double);
        return std::max(doubles / kBlockDoubles, std::size_t{1}) * kBlockDoubles;
    }

    void measure_read(const std::string& level) {
        const std::size_t doubles = doubles_for(level);
        std::vector<Arena> arenas(static_cast<std::size_t>(threads_));
        std::vector<double> sums(arenas.size() * kBlockDoubles); // apart, so that no line is shared
        const auto times = time("reading " + level, [&](int thread, std::size_t repeats) {
            const auto index = static_cast<std::size_t>(thread);
            const bool filled = arenas[index].fill(doubles, false, stop_);
            double sum = 0.0;
            for (std::size_t i = 0; filled && i < repeats; ++i) {
                sum += read_all(arenas[index].a.data(), doubles);
            }
            sums[index * kBlockDoubles] = sum;
        });
        const double bytes = static_cast<double>(doubles * sizeof(double)) * threads_;
        add_ceiling(
            {.name = level + " read",
             .level = level,
             .how = fmt::format("sum over {} KiB a thread, {} threads, {}",
                                doubles * sizeof(double) / 1024, threads_, host_loops().name)},
            bytes, times);
    }

    // In pieces where it is long, so that a stop need not wait for gigabytes.
    double read_all(const double* values, std::size_t doubles) const {
        double sum = 0.0;
        for (std::size_t at = 0; at < doubles && !stop_.stop_requested(); at += kPiece) {
            sum += host_loops().read(values + at, std::min(kPiece, doubles - at));
        }
        return sum;
    }

    // STREAM's triad with STREAM's counting: 24 bytes an element, no write-allocate.
    void measure_triad() {
        const std::size_t doubles = doubles_for("dram");
        std::vector<Arena> arenas(static_cast<std::size_t>(threads_));
        const auto times = time("triad on dram", [&](int thread, std::size_t repeats) {
            Arena& arena = arenas[static_cast<std::size_t>(thread)];
            const bool filled = arena.fill(doubles, true, stop_);
            for (std::size_t i = 0; filled && i < repeats; ++i) {
                for (std::size_t at = 0; at < doubles && !stop_.stop_requested(); at += kPiece) {
                    host_loops().triad(arena.a.data() + at, arena.b.data() + at,
                                       arena.c.data() + at, 3.0, std::min(kPiece, doubles - at));
                }
            }
        });
        add_ceiling({.name = "dram triad",
                     .level = "dram",
                     .how = fmt::format("a = b + s c over 3 x {} KiB a thread, {} threads, 24 B an "
                                        "element",
                                        doubles * sizeof(double) / 1024, threads_)},
                    24.0 * static_cast<double>(doubles) * threads_, times);
    }

    void measure_fma() {
        constexpr std::size_t kRounds = 20'000;
        const HostLoops& loops = host_loops();
        struct Kind {
            const char* precision;
            double (*loop)(std::size_t, double);
            double flops_per_round;
        };
        const Kind kinds[] = {{"fp64", loops.fma_fp64, loops.fp64_flops_per_round},
                              {"fp32", loops.fma_fp32, loops.fp32_flops_per_round}};
        std::vector<double> sums(static_cast<std::size_t>(threads_) * kBlockDoubles);
        for (const Kind& kind : kinds) {
            const auto times = time(std::string("multiply-add ") + kind.precision,
                                    [&](int thread, std::size_t repeats) {
                                        sums[static_cast<std::size_t>(thread) * kBlockDoubles] =
                                            kind.loop(kRounds * repeats, 1.0 + thread);
                                    });
            add_ceiling({.name = std::string("fma ") + kind.precision,
                         .precision = kind.precision,
                         .pipe = "fma",
                         .how = fmt::format("12 independent chains of {} B vectors, {} threads",
                                            loops.vector_bytes, threads_)},
                        kind.flops_per_round * static_cast<double>(kRounds) * threads_, times);
        }
    }

    // A layer's tensors stay where they fit between repeats: its bytes are counted at that level.
    void measure_layer(const HostLayer& layer) {
        const auto times = time(layer.name, layer.work);
        if (times.seconds.empty()) {
            return;
        }
        Launch launch;
        launch.kernel = built_.kernel(layer.name);
        launch.op = built_.op(layer.op);
        launch.op_call = static_cast<std::int64_t>(built_.profile.launches.size());
        launch.block = {threads_, 1, 1};
        launch.duration_ns = times.median() * 1e9;
        launch.counters["flops." + layer.precision + ".fma"] = layer.flops;
        launch.counters["bytes." + level_holding(caches_, layer.bytes, threads_)] = layer.bytes;
        launch.counters["best_ns"] = times.best() * 1e9;
        launch.counters["trials"] = static_cast<double>(times.seconds.size());
        built_.profile.launches.push_back(std::move(launch));
    }

    const HostOptions& options_;
    std::stop_token stop_;
    const ProgressCallback& progress_;
    int threads_;
    std::vector<CacheSize> caches_;
    std::size_t most_bytes_;
    ProfileBuilder built_;
    std::vector<Measured> measured_;
    std::size_t steps_ = 1;
    std::size_t done_ = 0;
};

} // namespace

Result<Profile> measure_host(const HostOptions& options, std::stop_token stop,
                             const ProgressCallback& progress) {
    constexpr int kMostThreads = 4096;
    if (options.threads < 0 || options.threads > kMostThreads || options.trials < 1 ||
        !(options.trial_s > 0.0)) {
        return Result<Profile>::failure("usage", "threads, trials and trial time must be sensible",
                                        "up to 4096 threads, at least one trial");
    }
    try {
        return HostMeasurement(options, std::move(stop), progress).run();
    } catch (const std::bad_alloc&) {
        return Result<Profile>::failure("unavailable", "there is not enough memory to measure in",
                                        "end other programs, or measure a smaller machine");
    } catch (const std::system_error& error) {
        return Result<Profile>::failure("unavailable",
                                        std::string("threads cannot be started: ") + error.what());
    }
}

} // namespace eyeroof::profiles
