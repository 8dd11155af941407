#include "mapper/preset/row_stationary.hpp"

#include "mapper/preset/row_stationary_places.hpp"
#include "model/accelerator/residency.hpp"
#include "model/cost/cost.hpp"
#include "model/cost/latency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

// A pass covers n maps, q*r channels and p*t filters on r*t sets of R x e PEs. The mapper's
// objective is DRAM words per active PE (the product of DRAM energy and compute delay), then
// latency, then energy; the space is the one that JSSC 2017 describes: whole passes, spads and
// buffer not exceeded. Footprints in words (spads p*q*S, q*S, p; buffer n*q*r*((e-1)*U+R)*W and
// n*m*e*F, in one store or in one each) reproduce the byte values of its Table III.

namespace eyeroof::mapper {

using namespace model; // NOLINT(google-build-using-namespace): one file, one vocabulary
using rs::Places;
using rs::Room;

namespace {

Count b(const Problem& problem, Dim d) {
    return problem.bounds[index(d)];
}

std::vector<Count> divisors(Count n) {
    std::vector<Count> found;
    for (Count d = 1; d * d <= n; ++d) {
        if (n % d == 0) {
            found.push_back(d);
            if (d != n / d) {
                found.push_back(n / d);
            }
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

Count largest_prime(Count n) {
    Count largest = 1;
    for (Count f = 2; f * f <= n; ++f) {
        for (; n % f == 0; n /= f) {
            largest = f;
        }
    }
    return std::max(largest, n);
}

// Channels and filters are padded until they can be split into what a PE holds.
Count padded(Count n, Count cap) {
    while (n > cap && largest_prime(n) > std::max<Count>(cap, 2)) {
        ++n;
    }
    return n;
}

// Sets of R x e that fit the array: side by side and above each other, or one folded over several.
struct SetGrid {
    Count vertical = 0, horizontal = 0, folds = 1;
    Count sets() const { return vertical * horizontal; }
};

SetGrid set_grid(const Places& places, Count r, Count e) {
    SetGrid grid;
    grid.folds = e <= places.width ? 1 : ceil_div(e, places.width);
    grid.vertical = places.height / r / grid.folds;
    grid.horizontal = e <= places.width ? places.width / e : 1;
    return grid;
}

class Mapper {
  public:
    Mapper(const Problem& problem, const Accelerator& accelerator, const Places& places)
        : problem_(problem), accelerator_(accelerator), places_(places), room_(places.room) {
        filters_ = padded(b(problem, Dim::K), room_.psum_spad);
        channels_ = padded(b(problem, Dim::C), room_.input_spad);
        channel_parts_ = divisors(channels_);
        input_width_ = (b(problem, Dim::Q) - 1) * problem.stride.w +
                       (b(problem, Dim::S) - 1) * problem.dilation.w + 1;
    }

    std::vector<RowStationary> candidates() {
        const std::vector<Count> maps = divisors(b(problem_, Dim::N));
        const std::vector<Count> filters = divisors(filters_);
        for (Count e = 1; e <= b(problem_, Dim::P) && has_place({1, 1, e, 1, 1, 1, 1}); ++e) {
            for (const Count n : maps) {
                for (const Count m : filters) {
                    consider_tile({m, n, e, 1, 1, 1, 1});
                }
            }
        }
        std::vector<RowStationary> found;
        for (const RowStationary& tile : tiles_) {
            fill_sets(tile, found);
        }
        return found;
    }

    Mapping mapping_of(const RowStationary& k) const;

  private:
    Count rows(Count e) const {
        return (e - 1) * problem_.stride.h + (b(problem_, Dim::R) - 1) * problem_.dilation.h + 1;
    }
    double input_bytes(const RowStationary& k) const {
        return static_cast<double>(k.n * k.q * k.r * rows(k.e) * input_width_) *
               room_.input_word_bytes;
    }
    double psum_bytes(const RowStationary& k) const {
        return static_cast<double>(k.n * k.m * k.e * b(problem_, Dim::Q)) * room_.psum_word_bytes;
    }
    bool fits_buffer(const RowStationary& k) const {
        return room_.together ? input_bytes(k) + psum_bytes(k) <= room_.buffer_bytes
                              : input_bytes(k) <= room_.input_buffer_bytes &&
                                    psum_bytes(k) <= room_.buffer_bytes;
    }
    bool fits_filters(const RowStationary& k) const {
        const Count words = k.p * k.t * k.q * k.r * b(problem_, Dim::R) * b(problem_, Dim::S);
        return static_cast<double>(words) * room_.filter_word_bytes <= room_.filter_buffer_bytes &&
               k.p * k.q * b(problem_, Dim::S) <= room_.filter_spad;
    }

    // Has any tile of these rows, or of more, a set on the array and room in the buffer?
    bool has_place(const RowStationary& least) const {
        return set_grid(places_, b(problem_, Dim::R), least.e).sets() > 0 && fits_buffer(least);
    }

    // DRAM words of a tile: filters once per strip and n maps, inputs once per m filters, outputs
    // once.
    double dram_words(const RowStationary& k) const {
        const Problem& pr = problem_;
        const Count strips = ceil_div(b(pr, Dim::P), k.e);
        const Count last = b(pr, Dim::P) - (strips - 1) * k.e;
        const double groups = static_cast<double>(b(pr, Dim::G));
        const double filters = groups * static_cast<double>(b(pr, Dim::K) * b(pr, Dim::C)) *
                               static_cast<double>(b(pr, Dim::R) * b(pr, Dim::S)) *
                               static_cast<double>(ceil_div(b(pr, Dim::N), k.n) * strips);
        const double inputs =
            groups * static_cast<double>(b(pr, Dim::N) * b(pr, Dim::C)) *
            static_cast<double>(((strips - 1) * rows(k.e) + rows(last)) * input_width_) *
            static_cast<double>(ceil_div(filters_, k.m));
        const double outputs = groups * static_cast<double>(b(pr, Dim::N) * b(pr, Dim::K)) *
                               static_cast<double>(b(pr, Dim::P) * b(pr, Dim::Q));
        return filters + inputs + outputs;
    }

    // Keeps the tiles with the fewest DRAM words per PE that their sets can employ.
    void consider_tile(const RowStationary& tile) {
        if (!fits_buffer(tile) || !fits_filters(tile)) {
            return;
        }
        const SetGrid grid = set_grid(places_, b(problem_, Dim::R), tile.e);
        const std::vector<Count> parts = divisors(tile.m);
        Count most = 0;
        for (const Count r : channel_parts_) {
            RowStationary k = tile;
            k.r = r;
            if (r > grid.sets() || !fits_buffer(k)) {
                break;
            }
            for (const Count t : parts) {
                k.t = t;
                if (placed(grid, r, t) && r * t > most && fits_filters(k)) {
                    most = r * t;
                }
            }
        }
        if (most == 0) {
            return;
        }
        const double pes = static_cast<double>(b(problem_, Dim::R) * tile.e * most);
        const double score = dram_words(tile) / pes;
        constexpr double rounding = 1e-12;
        if (score < best_score_ * (1.0 - rounding)) {
            best_score_ = score;
            tiles_.clear();
        }
        if (score <= best_score_ * (1.0 + rounding)) {
            tiles_.push_back(tile);
            sets_of_tile_.resize(tiles_.size());
            sets_of_tile_.back() = most;
        }
    }

    struct Split {
        Count r_vertical = 1, r_horizontal = 1, t_vertical = 1, t_horizontal = 1;
    };

    // r sets on channels and t sets on filters, each split into a vertical and a horizontal part.
    std::optional<Split> split(const SetGrid& grid, Count r, Count t) const {
        for (Count rv = std::min(r, grid.vertical); rv >= 1; --rv) {
            for (Count tv = std::min(t, grid.vertical / rv); r % rv == 0 && tv >= 1; --tv) {
                const Count side_by_side = (r / rv) * (t / tv);
                const bool both = side_by_side > 1 && rv * tv > 1;
                if (t % tv == 0 && side_by_side <= grid.horizontal && !(both && places_.one_axis)) {
                    return Split{rv, r / rv, tv, t / tv};
                }
            }
        }
        return std::nullopt;
    }

    bool placed(const SetGrid& grid, Count r, Count t) const {
        return r * t <= grid.sets() && split(grid, r, t).has_value();
    }

    void fill_sets(const RowStationary& tile, std::vector<RowStationary>& found) const {
        const SetGrid grid = set_grid(places_, b(problem_, Dim::R), tile.e);
        const auto at = static_cast<std::size_t>(&tile - tiles_.data());
        const std::vector<Count> parts = divisors(tile.m);
        RowStationary k = tile;
        for (const Count q : channel_parts_) {
            k.q = q;
            if (q > 1 && q * b(problem_, Dim::S) > room_.input_spad) {
                break;
            }
            for (const Count r : divisors(channels_ / q)) {
                k.r = r;
                for (const Count t : parts) {
                    k.t = t;
                    if (r * t != sets_of_tile_[at] || !placed(grid, r, t)) {
                        continue;
                    }
                    for (const Count p : divisors(tile.m / t)) {
                        k.p = p;
                        if (p <= room_.psum_spad && fits_filters(k) && fits_buffer(k)) {
                            found.push_back(k);
                        }
                    }
                }
            }
        }
    }

    const Problem& problem_;
    const Accelerator& accelerator_;
    const Places& places_;
    const Room& room_;
    Count filters_ = 1, channels_ = 1, input_width_ = 1;
    std::vector<Count> channel_parts_; // divisors of channels_
    double best_score_ = std::numeric_limits<double>::infinity();
    std::vector<RowStationary> tiles_;
    std::vector<Count> sets_of_tile_;
};

// Appends a loop that takes the tile of a dimension from `tile` to at most tile * want, and says
// how far it came.
template <class Add> void grow(const Problem& problem, Extents& tile, Dim d, Count want, Add add) {
    const Count trips = std::min(want, ceil_div(b(problem, d), tile[index(d)]));
    if (trips > 1) {
        add(d, trips);
        tile[index(d)] *= trips;
    }
}

// Inside out, as the tiles grow; loops of a level are collected inner to outer and then reversed.
Mapping Mapper::mapping_of(const RowStationary& k) const {
    Mapping mapping;
    mapping.levels.resize(accelerator_.levels.size());
    const std::vector<OperandSet> keeps = default_keeps(problem_, accelerator_);
    for (std::size_t i = 0; i < mapping.levels.size(); ++i) {
        mapping.levels[i].keeps = keeps[i];
    }
    Extents tile = kOnes;
    const auto temporal = [&](std::size_t level) {
        return [&mapping, level](Dim d, Count trips) {
            mapping.levels[level].temporal.push_back({d, trips});
        };
    };
    const auto spatial = [&](std::uint8_t axis) {
        return [&mapping, this, axis](Dim d, Count trips) {
            mapping.levels[places_.array].spatial.push_back({d, trips, axis});
        };
    };
    const std::size_t spad = mapping.levels.size() - 1;
    grow(problem_, tile, Dim::K, k.p, temporal(spad));
    grow(problem_, tile, Dim::C, k.q, temporal(spad));
    grow(problem_, tile, Dim::S, b(problem_, Dim::S), temporal(spad));

    const SetGrid grid = set_grid(places_, b(problem_, Dim::R), k.e);
    const Split sets = split(grid, k.r, k.t).value_or(Split{});
    grow(problem_, tile, Dim::R, b(problem_, Dim::R), spatial(places_.rows));
    grow(problem_, tile, Dim::P, ceil_div(k.e, grid.folds), spatial(places_.columns));
    grow(problem_, tile, Dim::P, grid.folds, spatial(places_.rows));
    grow(problem_, tile, Dim::C, sets.r_vertical, spatial(places_.rows));
    grow(problem_, tile, Dim::C, sets.r_horizontal, spatial(places_.columns));
    grow(problem_, tile, Dim::K, sets.t_vertical, spatial(places_.rows));
    grow(problem_, tile, Dim::K, sets.t_horizontal, spatial(places_.columns));

    const std::size_t buffer =
        rs::buffer_of(accelerator_, places_.array, Operand::output).value_or(places_.array);
    grow(problem_, tile, Dim::Q, b(problem_, Dim::Q), temporal(places_.array));
    grow(problem_, tile, Dim::N, k.n, temporal(places_.array));
    grow(problem_, tile, Dim::K, ceil_div(k.m, k.p * k.t), temporal(buffer));

    constexpr std::array<Dim, 5> outer = {Dim::C, Dim::K, Dim::P, Dim::G, Dim::N};
    for (const Dim d : outer) {
        grow(problem_, tile, d, std::numeric_limits<Count>::max(), temporal(0));
    }
    for (LevelMapping& level : mapping.levels) {
        std::reverse(level.temporal.begin(), level.temporal.end());
        std::reverse(level.spatial.begin(), level.spatial.end());
    }
    return mapping;
}

} // namespace

namespace {

Result<Places> checked_places(const Problem& problem, const Accelerator& accelerator,
                              const Dataflow& dataflow) {
    const auto places = rs::places_of(accelerator, dataflow);
    if (!places) {
        return Result<Places>::failure(
            "no-mapping",
            "the row-stationary rules need an axis for filter rows (R) and one for "
            "output rows (P) above the innermost level",
            "choose another --dataflow, or search with --mapping best");
    }
    if (b(problem, Dim::R) > places->height) {
        return Result<Places>::failure(
            "no-mapping",
            fmt::format("{} filter rows do not fit {} PE rows", b(problem, Dim::R), places->height),
            "use another dataflow, or the general mapper, which may split the rows");
    }
    return Result<Places>(*places);
}

} // namespace

std::vector<Mapping> row_stationary_candidates(const Problem& problem,
                                               const Accelerator& accelerator,
                                               const Dataflow& dataflow) {
    const auto places = checked_places(problem, accelerator, dataflow);
    if (!places) {
        return {};
    }
    Mapper mapper(problem, accelerator, *places);
    auto chosen = mapper.candidates();
    std::sort(chosen.begin(), chosen.end());
    std::vector<Mapping> mappings;
    for (const RowStationary& k : chosen) {
        mappings.push_back(mapper.mapping_of(k));
    }
    return mappings;
}

Result<Preset> row_stationary_mapping(const Problem& problem, const Accelerator& accelerator,
                                      const Dataflow& dataflow) {
    const auto places = checked_places(problem, accelerator, dataflow);
    if (!places) {
        return Result<Preset>(places.diagnostics());
    }
    Mapper mapper(problem, accelerator, *places);
    std::optional<std::tuple<double, double, RowStationary>> best;
    std::optional<Mapping> best_mapping;
    for (const RowStationary& k : mapper.candidates()) {
        Mapping mapping = mapper.mapping_of(k);
        const auto cost = cost_of(problem, accelerator, mapping);
        if (!cost) {
            continue;
        }
        const Latency latency = latency_of(problem, accelerator, mapping, *cost);
        const auto key = std::tuple(latency.processing_cycles(), cost->energy_pj, k);
        if (!best || key < *best) {
            best = key;
            best_mapping = std::move(mapping);
        }
    }
    if (!best) {
        return Result<Preset>::failure(
            "no-mapping",
            fmt::format("no row-stationary pass of {} fits the storage", problem.name),
            "use another dataflow, or the general mapper");
    }
    const RowStationary& k = std::get<2>(*best);
    return Result<Preset>(Preset{
        std::move(*best_mapping),
        {{"m", k.m}, {"n", k.n}, {"e", k.e}, {"p", k.p}, {"q", k.q}, {"r", k.r}, {"t", k.t}}});
}

} // namespace eyeroof::mapper
