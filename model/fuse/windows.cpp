#include "model/fuse/windows.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace eyeroof::model::fuse {

namespace {

// Up to this extent every tile size is tried: at borders an uneven tile can need less.
constexpr Count kAllSizes = 64;
// Up to this one every number of tiles; beyond, each number of tiles is so much larger than the one
// before it, and there are no more tiles than kMostTiles.
constexpr Count kAllNumbers = 4096;
constexpr double kThinned = 1.125;
constexpr Count kMostTiles = 65'536;

// Along one axis: how many lines of each plane all tiles need together, and the most that one does.
// plane 0 is the group's input, plane i + 1 the output of window i.
struct Lines {
    std::vector<Count> together, most;
};

struct Line { // one window along one axis
    Count in, out, filter, stride, pad, dilation;

    Count reach() const { return (filter - 1) * dilation + 1; }
    Count overlap() const { return std::max<Count>(reach() - stride, 0); }
};

Line along_y(const Window& w) {
    return {w.in.h, w.out.h, w.filter.h, w.stride.h, w.pad.h, w.dilation.h};
}

Line along_x(const Window& w) {
    return {w.in.w, w.out.w, w.filter.w, w.stride.w, w.pad.w, w.dilation.w};
}

Lines lines_of(std::span<const Window> group, Line (*along)(const Window&), Count tile) {
    Lines lines;
    lines.together.assign(group.size() + 1, 0);
    lines.most.assign(group.size() + 1, 0);
    const Count extent = along(group.back()).out;
    for (Count first = 0; first < extent; first += tile) {
        Count from = first;
        Count to = std::min(first + tile, extent); // half open
        for (std::size_t plane = group.size() + 1; plane-- > 0;) {
            lines.together[plane] += to - from;
            lines.most[plane] = std::max(lines.most[plane], to - from);
            if (plane > 0) {
                const Line w = along(group[plane - 1]);
                const Count last = (to - 1) * w.stride - w.pad + w.reach();
                from = std::clamp<Count>(from * w.stride - w.pad, 0, w.in);
                to = std::clamp<Count>(last, from, w.in);
            }
        }
    }
    return lines;
}

// Lines of a plane that are worked on over all tiles: once each where the overlap is kept.
Count worked(const Lines& lines, Count extent, std::size_t plane, bool kept) {
    return kept ? std::min(lines.together[plane], extent) : lines.together[plane];
}

Count kept_words(std::span<const Window> group, const Tiling& tiling, const Lines& rows) {
    Count words = 0;
    for (std::size_t i = 0; i < group.size(); ++i) {
        const Window& w = group[i];
        if (tiling.overlap != Overlap::recomputed && tiling.tile.w < group.back().out.w) {
            words += along_x(w).overlap() * rows.most[i] * w.c;
        }
        if (tiling.overlap == Overlap::kept && tiling.tile.h < group.back().out.h) {
            words += along_y(w).overlap() * w.in.w * w.c;
        }
    }
    return words;
}

GroupCost cost_along(std::span<const Window> group, const Tiling& tiling, const Lines& rows,
                     const Lines& columns) {
    const bool keep_y = tiling.overlap == Overlap::kept;
    const bool keep_x = tiling.overlap != Overlap::recomputed;
    const Count images = group.front().images;
    const Window& last = group.back();
    const Count tiles =
        images * ceil_div(last.out.h, tiling.tile.h) * ceil_div(last.out.w, tiling.tile.w);
    GroupCost cost;
    Count weights = 0;
    Count at_once = 0;
    Count pair = 0;
    for (std::size_t i = 0; i < group.size(); ++i) {
        const Window& w = group[i];
        const Count height = worked(rows, w.out.h, i + 1, keep_y);
        const Count width = worked(columns, w.out.w, i + 1, keep_x);
        cost.macs += images * height * width * w.macs_per_output;
        weights += w.weights;
        at_once = std::max(at_once, w.weights_at_once);
        pair = std::max(pair, rows.most[i] * columns.most[i] * w.c +
                                  rows.most[i + 1] * columns.most[i + 1] * w.k);
    }
    cost.input_traffic = tiling.passes * images * worked(rows, group.front().in.h, 0, keep_y) *
                         worked(columns, group.front().in.w, 0, keep_x) * group.front().c;
    cost.output_traffic = images * last.out.h * last.out.w * last.k;
    cost.weight_traffic = weights * (tiling.weights_stay ? 1 : tiles);
    cost.traffic = cost.input_traffic + cost.output_traffic + cost.weight_traffic;
    if (group.size() == 1) { // whole output channels
        weights = weights / last.k * ceil_div(last.k, tiling.passes);
    }
    cost.capacity =
        (tiling.weights_stay ? weights : at_once) + kept_words(group, tiling, rows) + pair;
    return cost;
}

auto rank(const GroupCost& cost, const Aim& aim) {
    return std::tuple(aim.of(cost), cost.traffic, cost.macs, cost.capacity);
}

// Ways to treat the weights: they stay, come again for each tile, or stay in parts.
std::vector<std::pair<bool, Count>> weight_ways(std::span<const Window> group) {
    std::vector<std::pair<bool, Count>> ways{{true, 1}, {false, 1}};
    if (group.size() == 1 && group.front().weights > 0) {
        for (const Count part : tile_sizes(group.front().k)) {
            const Count passes = ceil_div(group.front().k, part);
            if (passes > 1) {
                ways.emplace_back(true, passes);
            }
        }
    }
    return ways;
}

Window window_of_conv(const ConvShape& s) {
    const Count share = s.c / s.groups * s.r * s.s;
    return {{s.h, s.w}, {s.p(), s.q()}, {s.r, s.s},  s.stride, s.pad, s.dilation, s.n, s.c,
            s.k,        s.k * share,    s.k * share, share};
}

Window window_of_pool(const PoolShape& s) {
    return {{s.h, s.w}, {s.p(), s.q()}, {s.r, s.s}, s.stride, s.pad, {1, 1}, s.n, s.c, s.c, 0, 0,
            0};
}

} // namespace

std::optional<Window> window_of(const Layer& layer) {
    if (layer.direction != Direction::fwd) {
        return std::nullopt;
    }
    if (const auto* conv = std::get_if<ConvShape>(&layer.shape)) {
        return window_of_conv(*conv);
    }
    if (const auto* pool = std::get_if<PoolShape>(&layer.shape)) {
        return window_of_pool(*pool);
    }
    return std::nullopt;
}

std::string_view overlap_name(Overlap overlap) {
    switch (overlap) {
    case Overlap::recomputed:
        return "recomputed";
    case Overlap::kept_along_x:
        return "kept along x";
    case Overlap::kept:
        return "kept";
    }
    return {};
}

GroupCost cost_of(std::span<const Window> group, const Tiling& tiling) {
    return cost_along(group, tiling, lines_of(group, along_y, tiling.tile.h),
                      lines_of(group, along_x, tiling.tile.w));
}

namespace {

std::vector<Count> thinned_sizes(Count extent) {
    std::vector<Count> sizes;
    for (double tiles = 1.0; tiles <= static_cast<double>(kMostTiles);
         tiles = std::max(tiles + 1.0, std::floor(tiles * kThinned))) {
        const Count size = ceil_div(extent, static_cast<Count>(tiles));
        if (sizes.empty() || size < sizes.back()) {
            sizes.push_back(size);
        }
    }
    if (const Count least = ceil_div(extent, kMostTiles); least < sizes.back()) {
        sizes.push_back(least);
    }
    return sizes;
}

} // namespace

std::vector<Count> tile_sizes(Count extent) {
    if (extent > kAllNumbers) {
        return thinned_sizes(extent);
    }
    std::vector<Count> sizes;
    for (Count size = extent; size >= 1;) {
        const Count tiles = ceil_div(extent, size);
        sizes.push_back(extent <= kAllSizes ? size : ceil_div(extent, tiles));
        size = sizes.back() - 1;
    }
    return sizes;
}

SizesTried sizes_tried(Count extent) {
    return extent <= kAllSizes     ? SizesTried::all
           : extent <= kAllNumbers ? SizesTried::each_number_of_tiles
                                   : SizesTried::thinned;
}

double Aim::of(const GroupCost& cost) const {
    return std::max(static_cast<double>(cost.macs) * per_mac,
                    static_cast<double>(cost.traffic) * per_word);
}

std::optional<GroupChoice> best_tiling(std::span<const Window> group, Count words, const Aim& aim) {
    const Extent2 out = group.back().out;
    std::vector<std::pair<Count, Lines>> columns;
    for (const Count width : tile_sizes(out.w)) {
        columns.emplace_back(width, lines_of(group, along_x, width));
    }
    const auto ways = weight_ways(group);
    std::optional<GroupChoice> best;
    for (const Count height : tile_sizes(out.h)) {
        const Lines rows = lines_of(group, along_y, height);
        for (const auto& [width, lines] : columns) {
            for (const Overlap overlap :
                 {Overlap::kept, Overlap::kept_along_x, Overlap::recomputed}) {
                for (const auto& [stay, passes] : ways) {
                    const Tiling tiling{{height, width}, overlap, stay, passes};
                    const GroupCost cost = cost_along(group, tiling, rows, lines);
                    if (cost.capacity <= words &&
                        (!best || rank(cost, aim) < rank(best->cost, aim))) {
                        best = GroupChoice{tiling, cost};
                    }
                }
            }
        }
    }
    return best;
}

} // namespace eyeroof::model::fuse
