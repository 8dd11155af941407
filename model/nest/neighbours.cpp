#include "model/nest/neighbours.hpp"

#include <algorithm>
#include <array>
#include <set>

// Rule, deduced from reference counts: when nothing moves between the innermost loop that moves the
// tile and the array, the tile that a PE needs at step v is looked for among the tiles that its
// four neighbours got at step v - 1. PEs are numbered along the loops in space, x innermost, and
// laid on rows as long as the physical x axis, so that a partly filled row shifts the rows above
// it.

namespace eyeroof::model::nest {

namespace {

using Place = std::array<Count, kDims>; // of a tile; windows at their word, not their loop

struct Grid {
    std::vector<NestLoop> loops; // in space, outermost first, y before x
    Count row = 1;               // physical length
    Count size = 1;
};

Count words_per_trip(const Problem& problem, Operand operand, Dim dim) {
    const bool window = operand == Operand::input;
    switch (dim) {
    case Dim::P:
        return window ? problem.stride.h : 1;
    case Dim::Q:
        return window ? problem.stride.w : 1;
    case Dim::R:
        return window ? problem.dilation.h : 1;
    case Dim::S:
        return window ? problem.dilation.w : 1;
    default:
        return 1;
    }
}

// The coordinate that a dimension moves along: taps move a window along its positions.
Dim coordinate(Operand operand, Dim dim) {
    if (operand == Operand::input && dim == Dim::R) {
        return Dim::P;
    }
    return operand == Operand::input && dim == Dim::S ? Dim::Q : dim;
}

std::optional<Grid> array_of(const Accelerator& machine, const Nest& nest, std::size_t from,
                             std::size_t to) {
    Grid array;
    for (std::size_t i = from; i < to; ++i) {
        if (!nest.loops[i].spatial || nest.loops[i].level != nest.loops[from].level ||
            nest.loops[i].container != nest.loops[from].container) {
            return std::nullopt;
        }
        array.loops.push_back(nest.loops[i]);
        array.size *= nest.loops[i].bound;
    }
    if (array.loops.empty()) {
        return std::nullopt;
    }
    std::stable_sort(array.loops.begin(), array.loops.end(),
                     [](const NestLoop& a, const NestLoop& b) { return a.axis > b.axis; });
    array.row = machine.levels[array.loops.front().level].fanout.front().size;
    return array;
}

std::vector<Place> places_of(const Problem& problem, Operand operand, const Grid& array) {
    std::vector<Place> places;
    for (Count pe = 0; pe < array.size; ++pe) {
        Place place{};
        Count rest = pe;
        for (auto loop = array.loops.rbegin(); loop != array.loops.rend(); ++loop) {
            if (moves(problem, operand, loop->dim)) {
                place[index(coordinate(operand, loop->dim))] +=
                    rest % loop->bound * loop->stride * words_per_trip(problem, operand, loop->dim);
            }
            rest /= loop->bound;
        }
        places.push_back(place);
    }
    return places;
}

bool beside_holds(const std::vector<Place>& places, Count row, Count pe, const Place& wanted) {
    const auto holds = [&](Count other) {
        return other >= 0 && other < static_cast<Count>(places.size()) &&
               places[static_cast<std::size_t>(other)] == wanted;
    };
    return (pe % row > 0 && holds(pe - 1)) || (pe % row < row - 1 && holds(pe + 1)) ||
           holds(pe - row) || holds(pe + row);
}

bool perfect(const Problem& problem, const Nest& nest) {
    Extents product = kOnes;
    for (const NestLoop& loop : nest.loops) {
        product[index(loop.dim)] *= loop.bound;
    }
    return product == loop_bounds(problem);
}

// Words of a tile that are new at a step, and at how many steps of the loop they can be passed on.
struct Step {
    Count words = 0;
    Count times = 0;
};

Step step_of(const Problem& problem, const Nest& nest, FlowCounter& flow, Operand operand,
             std::size_t moving, std::size_t end) {
    Extents tile = kOnes;
    for (std::size_t i = end; i < nest.loops.size(); ++i) {
        tile[index(nest.loops[i].dim)] *= nest.loops[i].bound;
    }
    const NestLoop& loop = nest.loops[moving];
    const Dim axis = coordinate(operand, loop.dim);
    const Count shift = loop.stride * words_per_trip(problem, operand, loop.dim);
    Count extent = (tile[index(axis)] - 1) * words_per_trip(problem, operand, axis) + 1;
    if (operand == Operand::input && (axis == Dim::P || axis == Dim::Q)) {
        const Dim tap = axis == Dim::P ? Dim::R : Dim::S;
        extent += (tile[index(tap)] - 1) * words_per_trip(problem, operand, tap);
    }
    const Count whole = flow.tile_words(operand, tile);
    return {whole / extent * std::min(shift, extent), loop.bound - (shift >= extent ? 1 : 2)};
}

} // namespace

LinkTransfers link_transfers(const Problem& problem, const Accelerator& machine, const Nest& nest,
                             FlowCounter& flow, Operand operand, std::size_t parent,
                             std::size_t child) {
    if (child + 1 >= nest.begin.size() || !perfect(problem, nest)) {
        return {};
    }
    Movement into;
    into.operand = operand;
    into.tile_level = child;
    const auto moving = flow.moving_loop(into);
    const std::size_t end = nest.begin[child];
    if (!moving || *moving < nest.begin[parent]) {
        return {};
    }
    const auto array = array_of(machine, nest, *moving + 1, end);
    if (!array) {
        return {};
    }
    const std::vector<Place> places = places_of(problem, operand, *array);
    const NestLoop& loop = nest.loops[*moving];
    const Step step = step_of(problem, nest, flow, operand, *moving, end);
    std::set<Place> sent;
    Count passed = 0;
    for (Count pe = 0; pe < array->size; ++pe) {
        Place wanted = places[static_cast<std::size_t>(pe)];
        wanted[index(coordinate(operand, loop.dim))] +=
            loop.stride * words_per_trip(problem, operand, loop.dim);
        if (beside_holds(places, array->row, pe, wanted)) {
            ++passed;
        } else {
            sent.insert(wanted);
        }
    }
    const Count distinct = static_cast<Count>(std::set<Place>(places.begin(), places.end()).size());
    Count times = step.times;
    for (std::size_t i = 0; i < *moving; ++i) {
        times *= nest.loops[i].spatial ? 1 : nest.loops[i].bound;
    }
    return {times * step.words * (distinct - static_cast<Count>(sent.size())),
            times * step.words * passed};
}

} // namespace eyeroof::model::nest
