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

Count reach_of(Count positions, Count stride, Count taps, Count dilation) {
    return (positions - 1) * stride + (taps - 1) * dilation + 1;
}

// What a tile takes of an axis; windows that overlap or touch take all that they reach over.
LaidAxis laid(const Problem& problem, const TensorAxis& axis, const Extents& tile) {
    const Extents bounds = loop_bounds(problem);
    const Count positions = tile[index(axis.dim)];
    if (!axis.tap || problem.form == ConvForm::scatter) { // there P and Q are rows and columns
        return {positions, positions, bounds[index(axis.dim)]};
    }
    const bool rows = axis.dim == Dim::P;
    const Count stride = rows ? problem.stride.h : problem.stride.w;
    const Count dilation = rows ? problem.dilation.h : problem.dilation.w;
    const Count taps = tile[index(*axis.tap)];
    Extents one = kOnes;
    one[index(axis.dim)] = positions;
    one[index(*axis.tap)] = taps;
    return {tile_elements(problem, Operand::input, one),
            reach_of(positions, stride, taps, dilation),
            reach_of(bounds[index(axis.dim)], stride, bounds[index(*axis.tap)], dilation)};
}

bool is_whole(const LaidAxis& axis) {
    return axis.words == axis.size;
}

// Where the tile is one run, the axis that ends it: all axes inside are whole, those outside have
// one position.
std::optional<std::size_t> end_of_run(const std::vector<LaidAxis>& axes) {
    std::size_t end = axes.size() - 1;
    while (end > 0 && is_whole(axes[end])) {
        --end;
    }
    const bool gap = axes[end].words != axes[end].reach;
    const bool one = std::all_of(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(end),
                                 [](const LaidAxis& axis) { return axis.words == 1; });
    return one && !gap ? std::optional(end) : std::nullopt;
}

// Tiles that follow one another along the axis that ends the run are one stream.
void join_tiles(const Problem& problem, const Mapping& mapping, Operand operand, std::size_t to,
                const std::vector<TensorAxis>& order, std::vector<LaidAxis>& axes) {
    for (std::size_t level = to; level-- > 0;) {
        const std::vector<TemporalLoop>& loops = mapping.levels[level].temporal;
        for (std::size_t n = loops.size(); n-- > 0;) {
            const TemporalLoop& loop = loops[n];
            if (loop.bound == 1 || !relevant(operand, loop.dim)) {
                continue;
            }
            const auto end = end_of_run(axes);
            const bool window =
                end && order[*end].tap && problem.bounds[index(*order[*end].tap)] > 1;
            if (!end || window || order[*end].dim != loop.dim) {
                return;
            }
            LaidAxis& axis = axes[*end];
            axis.words = std::min(axis.size, axis.words * loop.bound);
            axis.reach = axis.words;
        }
    }
}

TensorAccess tensor_access(const Problem& problem, const Accelerator& machine,
                           const Mapping& mapping, const DramLink& link, Operand operand) {
    const std::size_t to = next_keeping(mapping, 1, operand);
    const Extents tile = spread_tile(problem, mapping, 0, to);
    const std::vector<TensorAxis> order = order_of(problem, operand, link.layout);
    std::vector<LaidAxis> axes;
    for (const TensorAxis& axis : order) {
        axes.push_back(laid(problem, axis, tile));
    }
    join_tiles(problem, mapping, operand, std::min(to, mapping.levels.size()), order, axes);
    const int bits = bits_at(machine, 0, operand);
    TensorAccess tensor;
    tensor.access = access_of(axes, bits, *dram_standard(link.standard));
    tensor.run_bytes = run_bytes_of(axes, bits);
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
