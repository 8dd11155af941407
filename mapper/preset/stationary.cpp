#include "mapper/preset/stationary.hpp"

#include "model/cost.hpp"
#include "model/eyexam/spatial_fit.hpp"
#include "model/latency.hpp"
#include "model/residency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace eyeroof::mapper {

using namespace model; // NOLINT(google-build-using-namespace): one file, one vocabulary

namespace {

// The tile under construction: what lies at and below the level that grows.
class Builder {
  public:
    Builder(const Problem& problem, const Accelerator& accelerator, const Dataflow& dataflow)
        : problem_(problem), accelerator_(accelerator), bounds_(loop_bounds(problem)),
          keeps_(default_keeps(problem, accelerator)) {
        const std::vector<FitAxis> axes = fit_axes(accelerator, dataflow);
        const SpatialFit fit = best_spatial_fit(bounds_, axes, dataflow.whole);
        spatial_.resize(accelerator.levels.size());
        for (std::size_t a = 0; a < axes.size(); ++a) {
            for (const Dim d : kAllDims) {
                if (fit.factors[a][index(d)] > 1) {
                    spatial_[axes[a].level].push_back({d, fit.factors[a][index(d)], axes[a].axis});
                }
            }
        }
    }

    // One mapping; rests[i] is the operand for which the loops of level i are ordered.
    Mapping build(const std::vector<Operand>& rests) const {
        Mapping mapping;
        mapping.levels.resize(accelerator_.levels.size());
        Extents tile = kOnes;
        for (std::size_t i = mapping.levels.size(); i-- > 0;) {
            LevelMapping& level = mapping.levels[i];
            level.keeps = keeps_[i];
            for (SpatialLoop loop : spatial_[i]) {
                loop.bound = std::min(loop.bound, trips_left(tile, loop.dim));
                if (loop.bound > 1) {
                    level.spatial.push_back(loop);
                    tile[index(loop.dim)] *= loop.bound;
                }
            }
            drop_what_cannot_fit(i, level, tile);
            const Extents trips = i == 0 ? remaining(tile) : grow(i, level.keeps, tile);
            for (const Dim d : kAllDims) {
                tile[index(d)] *= trips[index(d)];
            }
            level.temporal = ordered(trips, rests[i]);
        }
        return mapping;
    }

  private:
    Count trips_left(const Extents& tile, Dim d) const {
        return ceil_div(bounds_[index(d)], std::min(tile[index(d)], bounds_[index(d)]));
    }
    Extents remaining(const Extents& tile) const {
        Extents trips = kOnes;
        for (const Dim d : kAllDims) {
            trips[index(d)] = trips_left(tile, d);
        }
        return trips;
    }
    Extents clipped(const Extents& tile) const {
        Extents c = tile;
        for (std::size_t d = 0; d < kDims; ++d) {
            c[d] = std::min(c[d], bounds_[d]);
        }
        return c;
    }

    bool fits(std::size_t level, OperandSet keeps, const Extents& tile) const {
        const Extents inside = clipped(tile);
        for (const Store& store : accelerator_.levels[level].stores) {
            if (!store.capacity_bytes) {
                continue;
            }
            Count bytes = 0;
            for (const Operand o : kAllOperands) {
                if (store.operands.contains(o) && keeps.contains(o)) {
                    const double bits = static_cast<double>(tile_elements(problem_, o, inside)) *
                                        accelerator_.word_bits[index(o)];
                    const auto whole = static_cast<Count>((bits + 7.0) / 8.0);
                    bytes += ceil_div(whole, store.bank_bytes) * store.bank_bytes;
                }
            }
            if (bytes > *store.capacity_bytes / store.buffers) {
                return false;
            }
        }
        return true;
    }

    // Operands whose smallest tile overflows a store pass by it, where the machine lets them.
    void drop_what_cannot_fit(std::size_t i, LevelMapping& level, const Extents& tile) const {
        for (const Operand o : kAllOperands) {
            if (level.keeps.contains(o) && !fits(i, {o}, tile)) {
                const Store* store = store_of(accelerator_.levels[i], o);
                if (store != nullptr && store->may_bypass) {
                    level.keeps.erase(o);
                }
            }
        }
        for (const Operand o : {Operand::weight, Operand::input, Operand::output}) {
            const Store* store = store_of(accelerator_.levels[i], o);
            if (!fits(i, level.keeps, tile) && store != nullptr && store->may_bypass && i > 0) {
                level.keeps.erase(o);
            }
        }
    }

    // Words from above that one more doubling of dimension d would halve: those of the kept
    // operands that d does not address.
    double saving(OperandSet keeps, const Extents& tile, Dim d) const {
        double words = 0.0;
        const Extents trips = remaining(tile);
        for (const Operand o : kAllOperands) {
            if (!keeps.contains(o) || relevant(o, d)) {
                continue;
            }
            double total = static_cast<double>(tile_elements(problem_, o, clipped(tile)));
            for (const Count t : trips) {
                total *= static_cast<double>(t);
            }
            words += total;
        }
        return words;
    }

    Extents grow(std::size_t level, OperandSet keeps, const Extents& below) const {
        Extents trips = kOnes;
        const auto tile_with = [&](const Extents& t) {
            Extents tile = below;
            for (std::size_t d = 0; d < kDims; ++d) {
                tile[d] *= t[d];
            }
            return tile;
        };
        for (bool grew = true; grew;) {
            grew = false;
            std::vector<std::pair<double, Dim>> order;
            for (const Dim d : kAllDims) {
                order.emplace_back(-saving(keeps, tile_with(trips), d), d);
            }
            std::sort(order.begin(), order.end());
            for (const auto& [gain, d] : order) {
                const Count most = trips_left(below, d);
                Extents next = trips;
                next[index(d)] = std::min(most, trips[index(d)] * 2);
                // equal tiles instead of full ones and a small rest
                next[index(d)] = ceil_div(most, ceil_div(most, next[index(d)]));
                if (gain < 0.0 && next[index(d)] > trips[index(d)] &&
                    fits(level, keeps, tile_with(next))) {
                    trips = next;
                    grew = true;
                    break;
                }
            }
        }
        return trips;
    }

    // Loops that do not address the resting operand go innermost.
    static std::vector<TemporalLoop> ordered(const Extents& trips, Operand rests) {
        std::vector<TemporalLoop> loops;
        for (const bool inner : {false, true}) {
            for (const Dim d : {Dim::G, Dim::N, Dim::K, Dim::C, Dim::P, Dim::Q, Dim::R, Dim::S}) {
                if (trips[index(d)] > 1 && relevant(rests, d) != inner) {
                    loops.push_back({d, trips[index(d)]});
                }
            }
        }
        return loops;
    }

    const Problem& problem_;
    const Accelerator& accelerator_;
    Extents bounds_;
    std::vector<OperandSet> keeps_;
    std::vector<std::vector<SpatialLoop>> spatial_;
};

// The level whose loops the innermost storage sees.
std::size_t feeding_level(const Accelerator& accelerator) {
    return accelerator.levels.size() >= 2 ? accelerator.levels.size() - 2 : 0;
}

} // namespace

Result<Preset> stationary_mapping(const Problem& problem, const Accelerator& accelerator,
                                  const Dataflow& dataflow) {
    const Builder builder(problem, accelerator, dataflow);
    const std::size_t levels = accelerator.levels.size();
    const std::size_t feeding = feeding_level(accelerator);
    std::optional<std::pair<double, double>> best;
    Mapping chosen;
    Diagnostics why;
    std::size_t orders = 1;
    for (std::size_t i = 0; i < levels; ++i) {
        orders *= kOperands;
    }
    for (std::size_t code = 0; code < orders; ++code) {
        std::vector<Operand> rests(levels);
        std::size_t rest = code;
        for (std::size_t i = 0; i < levels; ++i, rest /= kOperands) {
            rests[i] = kAllOperands[rest % kOperands];
        }
        if (dataflow.stationary && rests[feeding] != *dataflow.stationary) {
            continue;
        }
        Mapping mapping = builder.build(rests);
        const auto cost = cost_of(problem, accelerator, mapping);
        if (!cost) {
            why = cost.diagnostics();
            continue;
        }
        const double cycles = latency_of(problem, accelerator, mapping, *cost).total_cycles();
        const std::pair key(cycles, cost->energy_pj);
        if (!best || key < *best) {
            best = key;
            chosen = std::move(mapping);
        }
    }
    if (!best) {
        why.error("no-mapping",
                  fmt::format("the rules of {} find no mapping of {}", dataflow_name(dataflow.kind),
                              problem.name),
                  "a store that cannot be bypassed may be too small for one tile");
        return Result<Preset>(std::move(why));
    }
    return Result<Preset>(Preset{std::move(chosen), {}});
}

} // namespace eyeroof::mapper
