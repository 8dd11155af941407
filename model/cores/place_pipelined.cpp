#include "model/cores/placement.hpp"
#include "model/cores/shared_time.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace eyeroof::model::cores {

namespace {

constexpr double kSame = 1.0 + 1e-12;    // sums in another order are not another value
constexpr std::size_t kMostMoves = 4096; // layers times cores that one round of moves may try

// Seconds of each layer on each kind, and on the memory that all share.
struct Work {
    std::vector<std::vector<double>> core, memory; // [layer][kind]
    std::vector<double> link, crossing;            // [layer]: the link's time, and the image's
};

Work work_of(const std::vector<PlacedLayer>& layers, const HeterogeneousCores& cores) {
    Work work;
    for (const PlacedLayer& layer : layers) {
        work.core.emplace_back();
        work.memory.emplace_back();
        for (const OnKind& on : layer.whole) {
            const double memory = seconds_at(on.outer_bytes, cores.outer_bytes_per_s);
            work.core.back().push_back(std::max(on.seconds, memory));
            work.memory.back().push_back(memory);
        }
        work.link.push_back(seconds_at(layer.bytes_out, cores.link_bytes_per_s));
        work.crossing.push_back(work.link.back() + cores.link_s);
    }
    return work;
}

// Weights of the kinds and the memory. Every placement's interval T has each core's work <= T and
// the memory's <= T, so that with weights of which sum(counts * weight) + memory = 1
//   T >= sum over layers of min over kinds (weight[kind] * core + memory * its memory time).
struct Weights {
    std::vector<double> kind;
    double memory = 0.0;

    double least(const Work& work, std::size_t layer) const {
        double least = kNever;
        for (std::size_t k = 0; k < kind.size(); ++k) {
            least = std::min(least, at(work, layer, k));
        }
        return least;
    }
    // A kind on which the layer does not run costs no weight times infinity, but infinity.
    double at(const Work& work, std::size_t layer, std::size_t k) const {
        return work.core[layer][k] < kNever
                   ? kind[k] * work.core[layer][k] + memory * work.memory[layer][k]
                   : kNever;
    }
};

// Climbs Lagrange's function by multiplying each weight with e to the power of how busy its kind
// is: any weights give a bound, good ones a good one.
class Climb {
  public:
    Climb(const Work& work, const HeterogeneousCores& cores) : work_(work), cores_(cores) {}

    Weights best() {
        Weights weights;
        const auto kinds = static_cast<double>(cores_.counts.size());
        for (const std::size_t count : cores_.counts) {
            weights.kind.push_back(1.0 / ((kinds + 1.0) * static_cast<double>(count)));
        }
        weights.memory = 1.0 / (kinds + 1.0);
        Weights best = weights;
        double most = -1.0;
        for (int i = 0; i < kRounds; ++i) {
            if (const double value = take(weights, 2.0 / (1.0 + 0.05 * i)); value > most) {
                most = value;
                best = before_;
            }
        }
        return best;
    }

  private:
    static constexpr int kRounds = 400;

    // The function at these weights, which are then moved.
    double take(Weights& weights, double step) {
        before_ = weights;
        std::vector<double> busy(weights.kind.size(), 0.0);
        double memory = 0.0, value = 0.0;
        for (std::size_t l = 0; l < work_.core.size(); ++l) {
            std::size_t chosen = 0;
            for (std::size_t k = 1; k < weights.kind.size(); ++k) {
                chosen = weights.at(work_, l, k) < weights.at(work_, l, chosen) ? k : chosen;
            }
            value += weights.at(work_, l, chosen);
            busy[chosen] += work_.core[l][chosen];
            memory += work_.memory[l][chosen];
        }
        move(weights, busy, memory, value, step);
        return value;
    }

    void move(Weights& weights, const std::vector<double>& busy, double memory, double value,
              double step) const {
        const auto moved = [&](double weight, double each) {
            return weight *
                   std::exp2(step * std::clamp(each / std::max(value, 1e-300) - 1.0, -1.0, 1.0));
        };
        double sum = weights.memory = moved(weights.memory, memory);
        for (std::size_t k = 0; k < busy.size(); ++k) {
            const auto count = static_cast<double>(cores_.counts[k]);
            weights.kind[k] = moved(weights.kind[k], busy[k] / count);
            sum += count * weights.kind[k];
        }
        for (double& weight : weights.kind) {
            weight /= sum;
        }
        weights.memory /= sum;
    }

    const Work& work_;
    const HeterogeneousCores& cores_;
    Weights before_;
};

class Placer {
  public:
    Placer(const std::vector<PlacedLayer>& layers, const HeterogeneousCores& cores,
           std::uint64_t max_nodes)
        : cores_(cores), work_(work_of(layers, cores)), count_(layers.size()),
          max_nodes_(max_nodes), weights_(Climb(work_, cores).best()) {
        for (std::size_t k = 0; k < cores.counts.size(); ++k) {
            first_.push_back(kind_.size());
            kind_.insert(kind_.end(), cores.counts[k], k);
        }
        weighted_.assign(count_ + 1, 0.0);
        memory_.assign(count_ + 1, 0.0);
        latency_.assign(count_ + 1, 0.0);
        longest_.assign(count_ + 1, 0.0);
        for (std::size_t l = count_; l-- > 0;) {
            const double least = *std::min_element(work_.core[l].begin(), work_.core[l].end());
            weighted_[l] = weighted_[l + 1] + weights_.least(work_, l);
            memory_[l] =
                memory_[l + 1] + *std::min_element(work_.memory[l].begin(), work_.memory[l].end());
            latency_[l] = latency_[l + 1] + least;
            longest_[l] = std::max(longest_[l + 1], least);
        }
    }

    std::optional<PipelinedPlacement> run() {
        if (!(latency_[0] < kNever)) {
            return std::nullopt;
        }
        const double root = std::max({weighted_[0], memory_[0], longest_[0]});
        start();
        climb(longest_first());
        descend(0);
        PipelinedPlacement best = best_;
        best.proved = nodes_ < max_nodes_ || best.interval_s <= root * kSame;
        best.bound_s = best.proved ? best.interval_s : root;
        quickest_ = true; // of those with that interval
        cap_ = best.interval_s * kSame;
        std::uint64_t spent = nodes_;
        nodes_ = 0;
        start();
        descend(0);
        best_.proved = best.proved;
        best_.bound_s = best.bound_s;
        best_.nodes = spent + nodes_;
        return best_;
    }

  private:
    void start() {
        start_sums();
        if (!quickest_) {
            best_.interval_s = best_.latency_s = kNever;
        }
    }

    void start_sums() {
        at_ = {};
        load_.assign(kind_.size(), 0.0);
        used_.assign(kind_.size(), 0);
        at_.core_of.assign(count_, 0);
        weight_ = most_ = 0.0;
    }

    // Puts the layers of a placement one after the other; the sums are those of all.
    double interval_of(const std::vector<std::size_t>& core_of) {
        start_sums();
        for (std::size_t l = 0; l < count_; ++l) {
            add(l, core_of[l]);
        }
        return std::max({most_, at_.link_busy_s, at_.memory_busy_s});
    }

    // The longest layers first, each where it ends soonest.
    std::vector<std::size_t> longest_first() {
        std::vector<std::size_t> order(count_), core_of(count_, 0);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return latency_[a] - latency_[a + 1] > latency_[b] - latency_[b + 1];
        });
        std::vector<double> load(kind_.size(), 0.0);
        for (const std::size_t l : order) {
            const auto end = [&](std::size_t c) { return load[c] + work_.core[l][kind_[c]]; };
            for (std::size_t c = 0; c < kind_.size(); ++c) {
                core_of[l] = end(c) < end(core_of[l]) ? c : core_of[l];
            }
            load[core_of[l]] = end(core_of[l]);
        }
        return core_of;
    }

    // Moves one layer at a time while that makes the interval smaller.
    void climb(std::vector<std::size_t> core_of) {
        double interval = interval_of(core_of);
        for (bool moved = true; moved && count_ * kind_.size() < kMostMoves;) {
            moved = false;
            for (std::size_t l = 0; l < count_; ++l) {
                const std::size_t home = core_of[l];
                std::size_t best = home;
                for (std::size_t c = 0; c < kind_.size(); ++c) {
                    core_of[l] = c;
                    if (const double value = interval_of(core_of); value * kSame < interval) {
                        interval = value;
                        best = c;
                    }
                }
                core_of[l] = best;
                moved = moved || best != home;
            }
        }
        if (interval_of(core_of) < kNever) {
            at_.core_of = core_of;
            take(at_);
        }
        start_sums();
    }

    bool hopeless(std::size_t layer) const {
        const double interval =
            std::max({most_, at_.link_busy_s, at_.memory_busy_s + memory_[layer],
                      weight_ + weighted_[layer], longest_[layer]});
        if (quickest_) {
            return interval > cap_ || at_.latency_s + latency_[layer] >= best_.latency_s / kSame;
        }
        return interval >= best_.interval_s / kSame;
    }

    void descend(std::size_t layer) {
        if (++nodes_ > max_nodes_ || hopeless(layer)) {
            return;
        }
        if (layer == count_) {
            take(at_);
            return;
        }
        for (const std::size_t core : choices(layer)) {
            put(layer, core);
        }
    }

    // A whole placement, if it is better than the best.
    void take(PipelinedPlacement placement) {
        placement.latency_s = std::max(placement.latency_s, placement.memory_busy_s);
        placement.interval_s = std::max({most_, placement.link_busy_s, placement.memory_busy_s});
        const bool better = quickest_ ? placement.latency_s < best_.latency_s
                                      : placement.interval_s < best_.interval_s;
        best_ = better ? placement : best_;
    }

    // Cores in use, and of each kind the first that is not: the others are like it. Those that are
    // full last come first.
    std::vector<std::size_t> choices(std::size_t layer) const {
        std::vector<std::size_t> cores;
        for (std::size_t c = 0; c < kind_.size(); ++c) {
            const bool fresh = used_[c] == 0;
            const bool like_another = fresh && c > first_[kind_[c]] && used_[c - 1] == 0;
            if (!like_another && work_.core[layer][kind_[c]] < kNever) {
                cores.push_back(c);
            }
        }
        const auto after = [&](std::size_t c) {
            return quickest_ ? work_.core[layer][kind_[c]] : load_[c] + work_.core[layer][kind_[c]];
        };
        std::stable_sort(cores.begin(), cores.end(),
                         [&](std::size_t a, std::size_t b) { return after(a) < after(b); });
        return cores;
    }

    void put(std::size_t layer, std::size_t core) {
        const PipelinedPlacement before = summary();
        const double load = load_[core], weight = weight_, most = most_;
        add(layer, core);
        descend(layer + 1);
        at_.link_busy_s = before.link_busy_s;
        at_.memory_busy_s = before.memory_busy_s;
        at_.latency_s = before.latency_s;
        --used_[core];
        load_[core] = load;
        weight_ = weight;
        most_ = most;
    }

    void add(std::size_t layer, std::size_t core) {
        const std::size_t k = kind_[core];
        if (layer > 0 && at_.core_of[layer - 1] != core) {
            at_.link_busy_s += work_.link[layer - 1];
            at_.latency_s += work_.crossing[layer - 1];
        }
        load_[core] += work_.core[layer][k];
        ++used_[core];
        most_ = std::max(most_, load_[core]);
        weight_ += weights_.at(work_, layer, k);
        at_.memory_busy_s += work_.memory[layer][k];
        at_.latency_s += work_.core[layer][k];
        at_.core_of[layer] = core;
    }

    // The sums alone: the layers' cores are overwritten in any case.
    PipelinedPlacement summary() const {
        PipelinedPlacement sums;
        sums.link_busy_s = at_.link_busy_s;
        sums.memory_busy_s = at_.memory_busy_s;
        sums.latency_s = at_.latency_s;
        return sums;
    }

    const HeterogeneousCores& cores_;
    Work work_;
    std::size_t count_;
    std::uint64_t max_nodes_;
    Weights weights_;
    std::vector<std::size_t> kind_, first_; // of each core; first core of each kind
    // Of all layers from here on: weighted, memory and latency sums, longest of the shortest.
    std::vector<double> weighted_, memory_, latency_, longest_;
    std::vector<double> load_; // of each core
    std::vector<int> used_;    // layers on it
    double weight_ = 0.0, most_ = 0.0;
    PipelinedPlacement at_, best_;
    bool quickest_ = false;
    double cap_ = kNever;
    std::uint64_t nodes_ = 0;
};

} // namespace

std::optional<PipelinedPlacement> place_pipelined(const std::vector<PlacedLayer>& layers,
                                                  const HeterogeneousCores& cores,
                                                  std::uint64_t max_nodes) {
    return Placer(layers, cores, max_nodes).run();
}

} // namespace eyeroof::model::cores
