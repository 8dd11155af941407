#include "model/cores/pipeline.hpp"

#include "model/cores/shared_time.hpp"

#include <algorithm>

namespace eyeroof::model::cores {

namespace {

double transfer_of(double bytes, const Package& package) {
    return package.link_s + seconds_at(bytes, package.link_bytes_per_s);
}

double shared_of(const std::vector<LayerTimes>& layers, const Package& package) {
    double bytes = 0.0;
    for (const LayerTimes& layer : layers) {
        bytes += layer.outer_bytes;
    }
    return seconds_at(bytes, package.outer_bytes_per_s);
}

// Sums of the layers before each, for each number of cores.
class Sums {
  public:
    Sums(const std::vector<LayerTimes>& layers, const Package& package)
        : package_(package), layers_(layers) {
        for (std::size_t n = 0; n < package.counts.size(); ++n) {
            std::vector<double> sum{0.0};
            for (const LayerTimes& layer : layers) {
                sum.push_back(sum.back() + layer.seconds[n]);
            }
            before_.push_back(std::move(sum));
        }
    }

    Stage stage(std::size_t first, std::size_t last, std::size_t n) const {
        double seconds = 0.0;
        if (before_[n][last + 1] < kNever) {
            seconds = before_[n][last + 1] - before_[n][first];
        } else { // infinities have no difference
            for (std::size_t i = first; i <= last; ++i) {
                seconds += layers_[i].seconds[n];
            }
        }
        const bool hands_on = last + 1 < layers_.size();
        return {first, last, package_.counts[n], seconds,
                hands_on ? transfer_of(layers_[last].bytes_out, package_) : 0.0};
    }

  private:
    const Package& package_;
    const std::vector<LayerTimes>& layers_;
    std::vector<std::vector<double>> before_;
};

// The best way to have so many layers on at most so many cores.
struct Best {
    double value = kNever;
    std::size_t from = 0; // first layer of the last stage
    std::size_t choice = 0;
};

// The least of join(before, stage) over all divisions; `allowed`: stages that may be.
template <class Join, class Allowed>
std::vector<Stage> divided(const std::vector<LayerTimes>& layers, const Package& package, Join join,
                           Allowed allowed) {
    const Sums sums(layers, package);
    const std::size_t width = package.cores + 1;
    std::vector<Best> best((layers.size() + 1) * width);
    std::fill_n(best.begin(), width, Best{0.0, 0, 0});
    for (std::size_t last = 0; last < layers.size(); ++last) {
        for (std::size_t first = 0; first <= last; ++first) {
            for (std::size_t n = 0; n < package.counts.size(); ++n) {
                const Stage stage = sums.stage(first, last, n);
                if (!(stage.seconds < kNever) || !allowed(stage)) {
                    continue;
                }
                for (std::size_t c = package.counts[n]; c < width; ++c) {
                    const Best& before = best[first * width + c - package.counts[n]];
                    const double value = join(before.value, stage);
                    Best& at = best[(last + 1) * width + c];
                    if (before.value < kNever && value < at.value) {
                        at = {value, first, n};
                    }
                }
            }
        }
    }
    std::vector<Stage> stages;
    std::size_t c = package.cores;
    for (std::size_t end = layers.size(); end > 0;) {
        const Best& at = best[end * width + c];
        if (!(at.value < kNever)) {
            return {};
        }
        stages.push_back(sums.stage(at.from, end - 1, at.choice));
        c -= package.counts[at.choice];
        end = at.from;
    }
    std::reverse(stages.begin(), stages.end());
    return stages;
}

double interval_of(const Stage& stage) {
    return std::max(stage.seconds, stage.transfer_s);
}

} // namespace

Schedule parallel(const std::vector<LayerTimes>& layers, const Package& package) {
    Schedule schedule;
    Stage all{0, layers.empty() ? 0 : layers.size() - 1, package.cores, 0.0, 0.0};
    for (const LayerTimes& layer : layers) {
        double least = kNever;
        for (std::size_t n = 0; n < package.counts.size(); ++n) {
            least = package.counts[n] <= package.cores ? std::min(least, layer.seconds[n]) : least;
        }
        all.seconds += least;
    }
    schedule.shared_s = shared_of(layers, package);
    schedule.latency_s = std::max(all.seconds, schedule.shared_s);
    schedule.interval_s = schedule.latency_s;
    schedule.stages.push_back(all);
    return schedule;
}

std::optional<Schedule> pipelined(const std::vector<LayerTimes>& layers, const Package& package) {
    const auto slowest = divided(
        layers, package,
        [](double before, const Stage& stage) { return std::max(before, interval_of(stage)); },
        [](const Stage&) { return true; });
    if (slowest.empty()) {
        return std::nullopt;
    }
    double interval = shared_of(layers, package);
    const double shared = interval;
    for (const Stage& stage : slowest) {
        interval = std::max(interval, interval_of(stage));
    }
    Schedule schedule;
    schedule.stages = divided(
        layers, package,
        [](double before, const Stage& stage) { return before + stage.seconds + stage.transfer_s; },
        [&](const Stage& stage) { return interval_of(stage) <= interval * (1.0 + 1e-12); });
    schedule.interval_s = interval;
    schedule.shared_s = shared;
    for (const Stage& stage : schedule.stages) {
        schedule.latency_s += stage.seconds + stage.transfer_s;
    }
    schedule.latency_s = std::max(schedule.latency_s, shared);
    return schedule;
}

} // namespace eyeroof::model::cores
