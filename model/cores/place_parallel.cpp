#include "model/cores/placement.hpp"
#include "model/cores/shared_time.hpp"

#include <algorithm>
#include <set>

namespace eyeroof::model::cores {

namespace {

double crossing_s(double bytes, const HeterogeneousCores& cores) {
    return cores.link_s + seconds_at(bytes, cores.link_bytes_per_s);
}

std::vector<std::size_t> kind_of_each(const HeterogeneousCores& cores) {
    std::vector<std::size_t> kinds;
    for (std::size_t k = 0; k < cores.counts.size(); ++k) {
        kinds.insert(kinds.end(), cores.counts[k], k);
    }
    return kinds;
}

struct Dealt {
    double bytes = kNever;
    std::vector<std::size_t> parts; // by core
};

// Least outer traffic of all ways to deal out the parts so that no core takes longer than `most`.
Dealt dealt_within(const PlacedLayer& layer, const std::vector<std::size_t>& kinds, double most) {
    const std::size_t all = layer.parts.front().size();
    std::vector<double> bytes(all + 1, kNever); // by parts that are dealt out so far
    bytes[0] = 0.0;
    std::vector<std::vector<std::size_t>> chosen;
    for (const std::size_t kind : kinds) {
        std::vector<double> next = bytes;
        std::vector<std::size_t> choice(all + 1, 0);
        for (std::size_t n = 1; n <= all; ++n) {
            const OnKind& part = layer.parts[kind][n - 1];
            for (std::size_t done = n; part.seconds <= most && done <= all; ++done) {
                if (bytes[done - n] + part.outer_bytes < next[done]) {
                    next[done] = bytes[done - n] + part.outer_bytes;
                    choice[done] = n;
                }
            }
        }
        bytes = std::move(next);
        chosen.push_back(std::move(choice));
    }
    Dealt dealt{bytes[all], std::vector<std::size_t>(kinds.size(), 0)};
    std::size_t left = all;
    for (std::size_t c = kinds.size(); c-- > 0 && dealt.bytes < kNever;) {
        dealt.parts[c] = chosen[c][left];
        left -= chosen[c][left];
    }
    return dealt;
}

// The slowest core of the best deal takes one of the times that there are.
ParallelLayer spread(const PlacedLayer& layer, const HeterogeneousCores& cores) {
    ParallelLayer best;
    best.seconds = kNever;
    std::set<double> times;
    for (const auto& kind : layer.parts) {
        for (const OnKind& part : kind) {
            times.insert(part.seconds);
        }
    }
    for (const double most : times) {
        if (most >= best.seconds) { // and all that follow
            break;
        }
        const Dealt dealt = dealt_within(layer, kind_of_each(cores), most);
        const double seconds = std::max(most, seconds_at(dealt.bytes, cores.outer_bytes_per_s));
        if (dealt.bytes < kNever && seconds < best.seconds) {
            best.seconds = seconds;
            best.parts = dealt.parts;
        }
    }
    return best;
}

// What each layer may be, by state: alone on a core of each kind, then spread.
std::vector<ParallelLayer> states_of(const PlacedLayer& layer, const HeterogeneousCores& cores) {
    std::vector<ParallelLayer> states;
    for (std::size_t k = 0; k < cores.counts.size(); ++k) {
        const OnKind& on = layer.whole[k];
        states.push_back({k,
                          {},
                          std::max(on.seconds, seconds_at(on.outer_bytes, cores.outer_bytes_per_s)),
                          0.0});
    }
    if (layer.parts.empty()) {
        states.push_back({std::nullopt, {}, kNever, 0.0});
    } else {
        states.push_back(spread(layer, cores));
    }
    return states;
}

struct Reached {
    double seconds = kNever;
    std::size_t from = 0;
};

} // namespace

std::optional<ParallelPlacement> place_parallel(const std::vector<PlacedLayer>& layers,
                                                const HeterogeneousCores& cores) {
    const std::size_t many = cores.counts.size() + 1;
    std::vector<std::vector<ParallelLayer>> states;
    std::vector<std::vector<Reached>> reached;
    for (std::size_t l = 0; l < layers.size(); ++l) {
        states.push_back(states_of(layers[l], cores));
        reached.emplace_back(many);
        for (std::size_t s = 0; s < many; ++s) {
            for (std::size_t before = 0; before < (l == 0 ? 1 : many); ++before) {
                const bool stays = l == 0 || (s == before && s + 1 < many);
                const double crossing = stays ? 0.0 : crossing_s(layers[l - 1].bytes_out, cores);
                const double seconds = (l == 0 ? 0.0 : reached[l - 1][before].seconds) + crossing +
                                       states[l][s].seconds;
                if (seconds < reached[l][s].seconds) {
                    reached[l][s] = {seconds, before};
                    states[l][s].crossing_s = crossing;
                }
            }
        }
    }
    ParallelPlacement placement;
    if (layers.empty()) {
        return placement;
    }
    const auto least =
        std::min_element(reached.back().begin(), reached.back().end(),
                         [](const Reached& a, const Reached& b) { return a.seconds < b.seconds; });
    if (!(least->seconds < kNever)) {
        return std::nullopt;
    }
    placement.latency_s = least->seconds;
    auto state = static_cast<std::size_t>(least - reached.back().begin());
    for (std::size_t l = layers.size(); l-- > 0;) {
        placement.layers.push_back(states[l][state]);
        state = reached[l][state].from;
    }
    std::reverse(placement.layers.begin(), placement.layers.end());
    return placement;
}

} // namespace eyeroof::model::cores
