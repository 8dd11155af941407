#include "model/cost/dram_pattern.hpp"

#include "model/cost/arrival.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace eyeroof::model {

namespace {

// An axis of a tensor before the tile is known: one dimension, or a window of positions and taps.
struct TensorAxis {
    Dim dim = Dim::N;
    std::optional<Dim> tap = std::nullopt;
};

bool is_matrix(const Problem& problem) {
    const auto one = [&](Dim d) { return problem.bounds[index(d)] == 1; };
    return one(Dim::Q) && one(Dim::R) && one(Dim::S) && problem.stride == Extent2{1, 1};
}

std::vector<TensorAxis> order_of(const Problem& problem, Operand operand, TensorLayout layout) {
    const bool last = layout == TensorLayout::channels_last || is_matrix(problem);
    if (operand == Operand::weight) {
        return last ? std::vector<TensorAxis>{{Dim::G}, {Dim::K}, {Dim::R}, {Dim::S}, {Dim::C}}
                    : std::vector<TensorAxis>{{Dim::G}, {Dim::K}, {Dim::C}, {Dim::R}, {Dim::S}};
    }
    const bool input = operand == Operand::input;
    const Dim channel = input ? Dim::C : Dim::K;
    const TensorAxis rows = input ? TensorAxis{Dim::P, Dim::R} : TensorAxis{Dim::P};
    const TensorAxis columns = input ? TensorAxis{Dim::Q, Dim::S} : TensorAxis{Dim::Q};
    if (is_matrix(problem)) { // batched products keep their batch outside
        return {{Dim::N}, {Dim::G}, rows, columns, {channel}};
    }
    return last ? std::vector<TensorAxis>{{Dim::N}, rows, columns, {Dim::G}, {channel}}
                : std::vector<TensorAxis>{{Dim::N}, {Dim::G}, {channel}, rows, columns};
}

// Tiles that take the same of an axis.
struct Slice {
    LaidAxis axis;
    Count tiles = 1;
};
using Slices = std::vector<Slice>; // of one axis

// Windows along the rows or columns of the input, from `pad` before the first that is stored.
struct Windows {
    Count positions = 1, stride = 1, taps = 1, dilation = 1;
    Count pad = 0;
    Count stored = 1; // rows or columns in memory

    Count reach(Count of_positions, Count of_taps) const {
        return (of_positions - 1) * stride + (of_taps - 1) * dilation + 1;
    }
};

Windows windows_of(const Problem& problem, const TensorAxis& axis) {
    const bool rows = axis.dim == Dim::P;
    const auto side = [&](const Extent2& both) { return rows ? both.h : both.w; };
    Windows w;
    w.positions = problem.bounds[index(axis.dim)];
    w.stride = side(problem.stride);
    w.taps = problem.bounds[index(*axis.tap)];
    w.dilation = side(problem.dilation);
    w.pad = side(problem.pad);
    const Count reach = w.reach(w.positions, w.taps);
    w.stored =
        side(problem.stored) > 0 ? side(problem.stored) : std::max<Count>(1, reach - 2 * w.pad);
    if (problem.form == ConvForm::scatter) { // there P and Q are rows and columns, padding too
        return {reach, 1, 1, 1, w.pad, w.stored};
    }
    return w;
}

// What is stored of the windows of some positions and taps, the first of which begins at `first`.
LaidAxis stored_part(const Windows& all, Count first, Count positions, Count taps, Count words) {
    const Count reach = all.reach(positions, taps);
    const Count begin = std::max<Count>(0, first);
    const Count end = std::min(all.stored, first + reach);
    if (words == reach || begin >= end) {
        const Count run = std::max<Count>(0, end - begin);
        return {run, std::max<Count>(1, run), all.stored};
    }
    if (end - begin == reach) {
        return {words, reach, all.stored};
    }
    constexpr Count kMostPlaces = 100'000; // of more, the same share of what is stored
    if (positions * taps > kMostPlaces) {
        const double share = static_cast<double>(end - begin) / static_cast<double>(reach);
        return {std::max<Count>(1, std::llround(share * static_cast<double>(words))), end - begin,
                all.stored};
    }
    std::vector<Count> places;
    for (Count p = 0; p < positions; ++p) {
        for (Count t = 0; t < taps; ++t) {
            const Count place = first + p * all.stride + t * all.dilation;
            if (place >= begin && place < end) {
                places.push_back(place);
            }
        }
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places.empty() ? LaidAxis{0, 1, all.stored}
                          : LaidAxis{static_cast<Count>(places.size()),
                                     places.back() - places.front() + 1, all.stored};
}

void add_slice(Slices& slices, const LaidAxis& axis, Count tiles) {
    const auto same = std::find_if(slices.begin(), slices.end(),
                                   [&](const Slice& slice) { return slice.axis == axis; });
    if (same == slices.end()) {
        slices.push_back({axis, tiles});
    } else {
        same->tiles += tiles;
    }
}

// Calls use(i, n) for begin <= i < end; where these are more than `most`, for some of them, each of
// which stands for the n that begin with it.
template <class Use> void each_or_some(Count begin, Count end, Count most, Use use) {
    const Count step = std::max<Count>(1, (end - begin + most - 1) / most);
    for (Count i = begin; i < end; i += step) {
        use(i, std::min(step, end - i));
    }
}

// Tiles of `size` positions and `taps` taps from tap `tap` on, each of them `weight` times. Those
// that lie within what is stored take the same.
void add_tiles(const Windows& all, Count size, Count tap, Count taps, Count words, Count weight,
               Slices& slices) {
    constexpr Count kMostAtBorder = 32;
    const Count step = size * all.stride;
    const Count before = all.pad - tap * all.dilation; // of the first tile, not stored
    const Count tiles = (all.positions + size - 1) / size;
    const Count last = all.stored - all.reach(size, taps) + before; // where one within may begin
    const Count begin = std::clamp<Count>((std::max<Count>(before, 0) + step - 1) / step, 0, tiles);
    const Count end = last < 0 ? begin : std::clamp<Count>(last / step + 1, begin, tiles);
    const auto add = [&](Count i, Count n) {
        add_slice(slices, stored_part(all, i * step - before, size, taps, words), n * weight);
    };
    each_or_some(0, begin, kMostAtBorder, add);
    if (begin < end) {
        add(begin, end - begin);
    }
    each_or_some(end, tiles, kMostAtBorder, add);
}

// What tiles take of an axis; windows that overlap or touch take all that they reach over. Without
// padding all tiles take the same.
Slices slices_of(const Problem& problem, const TensorAxis& axis, const Extents& tile) {
    const Count size = tile[index(axis.dim)];
    if (!axis.tap) {
        return {{{size, size, problem.bounds[index(axis.dim)]}, 1}};
    }
    const Windows all = windows_of(problem, axis);
    const bool scatter = problem.form == ConvForm::scatter;
    const Count taps = scatter ? 1 : tile[index(*axis.tap)];
    Extents one = kOnes;
    one[index(axis.dim)] = size;
    one[index(*axis.tap)] = taps;
    const Count words = tile_elements(problem, Operand::input, one);
    Slices slices;
    if (all.pad == 0) {
        return {{stored_part(all, 0, size, taps, words), 1}};
    }
    constexpr Count kMostTaps = 8;
    each_or_some(0, (all.taps + taps - 1) / taps, kMostTaps,
                 [&](Count t, Count n) { add_tiles(all, size, t * taps, taps, words, n, slices); });
    return slices;
}

bool is_whole(const LaidAxis& axis) {
    return axis.words == axis.size;
}

bool all_are(const Slices& slices, const auto& rule) {
    return std::all_of(slices.begin(), slices.end(),
                       [&](const Slice& slice) { return rule(slice.axis); });
}

// Where each tile is one run, the axis that ends it: all axes inside are whole, those outside have
// one position.
std::optional<std::size_t> end_of_run(const std::vector<Slices>& axes) {
    std::size_t end = axes.size() - 1;
    while (end > 0 && all_are(axes[end], is_whole)) {
        --end;
    }
    const bool no_gap =
        all_are(axes[end], [](const LaidAxis& axis) { return axis.words == axis.reach; });
    const bool one = std::all_of(
        axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(end), [](const Slices& slices) {
            return all_are(slices, [](const LaidAxis& axis) { return axis.words <= 1; });
        });
    return one && no_gap ? std::optional(end) : std::nullopt;
}

// What all tiles take of each axis. Those that follow one another along the axis that ends the run
// are one stream, and count as one tile.
std::vector<Slices> joined_tiles(const Problem& problem, const Mapping& mapping, Operand operand,
                                 std::size_t to, const std::vector<TensorAxis>& order) {
    const Extents bounds = loop_bounds(problem);
    Extents tile = spread_tile(problem, mapping, 0, to);
    std::vector<Slices> axes;
    for (const TensorAxis& axis : order) {
        axes.push_back(slices_of(problem, axis, tile));
    }
    for (std::size_t level = std::min(to, mapping.levels.size()); level-- > 0;) {
        const std::vector<TemporalLoop>& loops = mapping.levels[level].temporal;
        for (std::size_t n = loops.size(); n-- > 0;) {
            const TemporalLoop& loop = loops[n];
            if (loop.bound == 1 || !relevant(operand, loop.dim)) {
                continue;
            }
            const auto end = end_of_run(axes);
            if (!end || order[*end].dim != loop.dim) {
                return axes;
            }
            if (order[*end].tap) {
                const Windows all = windows_of(problem, order[*end]);
                if (all.taps > 1 || all.stride > 1) { // overlaps, or gaps between the tiles
                    return axes;
                }
            }
            Count& size = tile[index(loop.dim)];
            size = std::min(bounds[index(loop.dim)], size * loop.bound);
            axes[*end] = slices_of(problem, order[*end], tile);
        }
    }
    return axes;
}

// The mean over all tiles; each is transferred as often as any other.
TensorAccess mean_access(const std::vector<Slices>& axes, int bits, const DramStandard& standard) {
    TensorAccess mean;
    double tiles = 0.0;
    double runs = 0.0;
    std::vector<std::size_t> at(axes.size(), 0); // slice of each axis
    std::vector<LaidAxis> tile(axes.size());
    for (bool more = true; more;) {
        double same = 1.0;
        for (std::size_t i = 0; i < axes.size(); ++i) {
            tile[i] = axes[i][at[i]].axis;
            same *= static_cast<double>(axes[i][at[i]].tiles);
        }
        const DramAccess one = access_of(tile, bits, standard);
        mean.access.bytes += same * one.bytes;
        mean.access.bursts += same * one.bursts;
        mean.access.rows += same * one.rows;
        runs += one.bytes > 0.0 ? same * one.bytes / run_bytes_of(tile, bits) : 0.0;
        tiles += same;
        more = false;
        for (std::size_t i = 0; i < axes.size() && !more; ++i) {
            more = ++at[i] < axes[i].size();
            at[i] = more ? at[i] : 0;
        }
    }
    mean.run_bytes = runs > 0.0 ? mean.access.bytes / runs : 0.0;
    mean.access.bytes /= tiles;
    mean.access.bursts /= tiles;
    mean.access.rows /= tiles;
    return mean;
}

TensorAccess tensor_access(const Problem& problem, const Accelerator& machine,
                           const Mapping& mapping, const DramLink& link, Operand operand) {
    const std::size_t to = next_keeping(mapping, 1, operand);
    const std::vector<Slices> axes =
        joined_tiles(problem, mapping, operand, to, order_of(problem, operand, link.layout));
    TensorAccess tensor =
        mean_access(axes, bits_at(machine, 0, operand), *dram_standard(link.standard));
    tensor.read_slowdown = slowdown_of(link, tensor.access, false);
    tensor.write_slowdown = slowdown_of(link, tensor.access, true);
    return tensor;
}

} // namespace

DramAccess access_of(const std::vector<LaidAxis>& axes, int word_bits,
                     const DramStandard& standard) {
    const double word = static_cast<double>(word_bits) / 8.0;
    DramAccess access{word, 1.0, 1.0};
    double span = word;
    double pitch = word;
    for (std::size_t i = axes.size(); i-- > 0;) {
        const auto words = static_cast<double>(axes[i].words);
        span += static_cast<double>(axes[i].reach - 1) * pitch;
        access.bytes *= words;
        access.bursts = std::min(words * access.bursts,
                                 std::ceil(span / static_cast<double>(standard.burst_bytes)));
        access.rows = std::min(words * access.rows,
                               std::ceil(span / static_cast<double>(standard.row_bytes)));
        pitch *= static_cast<double>(axes[i].size);
    }
    return access;
}

double run_bytes_of(const std::vector<LaidAxis>& axes, int word_bits) {
    double run = static_cast<double>(word_bits) / 8.0;
    for (std::size_t i = axes.size(); i-- > 0;) {
        if (axes[i].words != axes[i].reach) {
            break;
        }
        run *= static_cast<double>(axes[i].words);
        if (!is_whole(axes[i])) {
            break;
        }
    }
    return run;
}

bool follows_mapping(const Accelerator& machine) {
    return !machine.levels.empty() &&
           std::any_of(machine.levels.front().channels.begin(),
                       machine.levels.front().channels.end(),
                       [](const Channel& c) { return c.dram && c.dram->by_mapping; });
}

Accelerator at_stream_rate(Accelerator machine) {
    for (Channel& channel : machine.levels.front().channels) {
        if (channel.dram) {
            channel.dram->by_mapping = false;
        }
    }
    return machine;
}

PerOperand<TensorAccess> dram_pattern(const Problem& problem, const Accelerator& machine,
                                      const Mapping& mapping, const Channel& channel) {
    PerOperand<TensorAccess> pattern{};
    if (!channel.dram || !channel.dram->by_mapping) {
        return pattern;
    }
    for (const Operand o : kAllOperands) {
        const bool there = o != Operand::weight || problem.has_weight;
        if (there && channel.operands.contains(o) && mapping.levels.front().keeps.contains(o)) {
            pattern[index(o)] = tensor_access(problem, machine, mapping, *channel.dram, o);
        }
    }
    return pattern;
}

} // namespace eyeroof::model
