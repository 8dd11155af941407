#include "analysis/scale/heterogeneous_chain.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

namespace eyeroof::analysis {

namespace {

constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

std::vector<double> sums_of(const std::vector<double>& parts) {
    std::vector<double> sums(parts.size() + 1, 0.0);
    std::partial_sum(parts.begin(), parts.end(), sums.begin() + 1);
    return sums;
}

// How far each set of devices comes when no stage may take longer than a threshold.
class Reach {
  public:
    explicit Reach(const HeterogeneousChain& chain)
        : chain_(chain), devices_(chain.layer_s.size()), layers_(chain.layer_s.front().size()) {
        for (const auto& layer_s : chain.layer_s) {
            time_.push_back(sums_of(layer_s));
        }
        held_ = sums_of(chain.held_bytes.empty() ? std::vector<double>(layers_, 0.0)
                                                 : chain.held_bytes);
        for (std::size_t device = 0; device < devices_; ++device) {
            room_end_.push_back(room_ends(device));
        }
    }

    // The stages of one way to finish within `threshold_s`; empty: there is none.
    std::vector<HeterogeneousStage> within(double threshold_s) {
        const std::size_t sets = std::size_t{1} << devices_;
        from_.assign(sets, std::vector<Step>(layers_ + 1));
        from_[0][0] = {0, kNobody};
        for (std::size_t set = 0; set < sets; ++set) {
            for (std::size_t device = 0; device < devices_; ++device) {
                if ((set >> device & 1U) == 0) {
                    extend(set, device, threshold_s);
                }
            }
            if (from_[set][layers_].begin != kNobody) {
                return stages_of(set);
            }
        }
        return {};
    }

  private:
    struct Step { // how a position was reached: the stage that ends there
        std::size_t begin = kNobody;
        std::size_t device = kNobody;
    };

    double live(std::size_t device, std::size_t layer) const {
        return chain_.live_bytes.empty() ? 0.0 : chain_.live_bytes[device][layer];
    }

    double entry(std::size_t layer) const {
        return chain_.entry_bytes.empty() ? 0.0 : chain_.entry_bytes[layer];
    }

    // Where the longest stage that begins at each layer ends, for its memory alone.
    std::vector<std::size_t> room_ends(std::size_t device) const {
        const double room =
            device < chain_.capacity_bytes.size() ? chain_.capacity_bytes[device] : 0.0;
        if (room <= 0.0) {
            return std::vector<std::size_t>(layers_, layers_);
        }
        return chain_.entry_bytes.empty() ? sliding_ends(device, room) : single_ends(device, room);
    }

    // Without entries a stage never ends earlier than that of the layer before: the layers inside,
    // largest live first, are enough.
    std::vector<std::size_t> sliding_ends(std::size_t device, double room) const {
        std::vector<std::size_t> ends(layers_, layers_);
        std::deque<std::size_t> largest; // live bytes fall from the front on
        std::size_t end = 0;
        for (std::size_t begin = 0; begin < layers_; ++begin) {
            while (!largest.empty() && largest.front() < begin) {
                largest.pop_front();
            }
            for (end = std::max(end, begin); end < layers_; ++end) {
                const double most = std::max(live(device, end),
                                             largest.empty() ? 0.0 : live(device, largest.front()));
                if (held_[end + 1] - held_[begin] + most > room) {
                    break;
                }
                while (!largest.empty() && live(device, largest.back()) <= live(device, end)) {
                    largest.pop_back();
                }
                largest.push_back(end);
            }
            ends[begin] = end;
        }
        return ends;
    }

    // Each beginning for itself.
    std::vector<std::size_t> single_ends(std::size_t device, double room) const {
        std::vector<std::size_t> ends(layers_, layers_);
        for (std::size_t begin = 0; begin < layers_; ++begin) {
            double most = 0.0;
            std::size_t end = begin;
            for (; end < layers_; ++end) {
                most = std::max(most, live(device, end));
                if (held_[end + 1] - held_[begin] + entry(begin) + most > room) {
                    break;
                }
            }
            ends[begin] = end;
        }
        return ends;
    }

    double memory(const Step& step, std::size_t end) const {
        double most = 0.0;
        for (std::size_t layer = step.begin; layer < end; ++layer) {
            most = std::max(most, live(step.device, layer));
        }
        return held_[end] - held_[step.begin] + entry(step.begin) + most;
    }

    double received(std::size_t begin) const {
        return begin > 0 && begin <= chain_.cut_s.size() ? chain_.cut_s[begin - 1] : 0.0;
    }

    // The last layer's end of a stage that begins at `begin`.
    std::size_t furthest(std::size_t begin, std::size_t device, double threshold_s) const {
        const double last = threshold_s - received(begin) + time_[device][begin];
        const auto time = std::upper_bound(time_[device].begin(), time_[device].end(), last) - 1;
        const auto end = std::max<std::ptrdiff_t>(time - time_[device].begin(), 0);
        return std::min(static_cast<std::size_t>(end), room_end_[device][begin]);
    }

    // Every position that `set` has reached and one more stage on `device` reaches. Intervals
    // (begin, furthest]: each position is written once, by the first begin that covers it.
    void extend(std::size_t set, std::size_t device, double threshold_s) {
        std::vector<Step>& reached = from_[set | std::size_t{1} << device];
        std::size_t open = 0; // the first position that no begin so far covers
        for (std::size_t begin = 0; begin < layers_; ++begin) {
            if (from_[set][begin].begin == kNobody) {
                continue;
            }
            const std::size_t end = furthest(begin, device, threshold_s);
            for (std::size_t p = std::max(open, begin + 1); p <= end; ++p) {
                if (reached[p].begin == kNobody) {
                    reached[p] = {begin, device};
                }
            }
            open = std::max(open, end + 1);
        }
    }

    std::vector<HeterogeneousStage> stages_of(std::size_t set) const {
        std::vector<HeterogeneousStage> stages;
        for (std::size_t end = layers_; end > 0;) {
            const Step step = from_[set][end];
            const double time_s =
                time_[step.device][end] - time_[step.device][step.begin] + received(step.begin);
            stages.push_back({step.device, step.begin, end, time_s, memory(step, end)});
            set &= ~(std::size_t{1} << step.device);
            end = step.begin;
        }
        std::reverse(stages.begin(), stages.end());
        return stages;
    }

    const HeterogeneousChain& chain_;
    std::size_t devices_, layers_;
    std::vector<std::vector<double>> time_;          // device x position: sums
    std::vector<double> held_;                       // sums
    std::vector<std::vector<std::size_t>> room_end_; // device x first layer of a stage
    std::vector<std::vector<Step>> from_;            // set of devices x position
};

// No split is slower: every layer where it is slowest, everything sent.
double longest(const HeterogeneousChain& chain) {
    double all = std::accumulate(chain.cut_s.begin(), chain.cut_s.end(), 0.0);
    for (const auto& layer_s : chain.layer_s) {
        all += std::accumulate(layer_s.begin(), layer_s.end(), 0.0);
    }
    return all;
}

} // namespace

double slowest_of(const std::vector<HeterogeneousStage>& stages) {
    double slowest = 0.0;
    for (const HeterogeneousStage& stage : stages) {
        slowest = std::max(slowest, stage.time_s);
    }
    return slowest;
}

std::vector<HeterogeneousStage> split_heterogeneous(const HeterogeneousChain& chain) {
    constexpr double tolerance = 1e-9;
    if (chain.layer_s.empty() || chain.layer_s.size() > kMostHeterogeneousDevices ||
        chain.layer_s.front().empty()) {
        return {};
    }
    Reach reach(chain);
    std::vector<HeterogeneousStage> best = reach.within(longest(chain) * (1.0 + tolerance));
    double low = 0.0;
    for (double high = slowest_of(best); high - low > tolerance * high;) {
        const double middle = 0.5 * (low + high);
        std::vector<HeterogeneousStage> found = reach.within(middle);
        if (found.empty()) {
            low = middle;
        } else {
            best = std::move(found);
            high = std::min(slowest_of(best), middle);
        }
    }
    return best;
}

} // namespace eyeroof::analysis
