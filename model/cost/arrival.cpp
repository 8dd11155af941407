#include "model/cost/arrival.hpp"

#include "model/accelerator/data_width.hpp"

#include <algorithm>

namespace eyeroof::model {

namespace {

// Has a store that prefetches room for one more tile of the operand? The operands that come first
// get theirs first.
bool fits_twice(const Problem& problem, const Accelerator& accelerator, const Mapping& mapping,
                std::size_t level, const Store& store, Operand operand) {
    if (!store.prefetch || !store.capacity_bytes) {
        return store.prefetch;
    }
    const Extents tile = tile_at(mapping, problem, level);
    const auto held = [&](OperandSet operands) {
        return held_bytes(problem, accelerator, level, store, operands, tile, Counting::eyeroof)
            .value_or(*store.capacity_bytes + 1);
    };
    Count bytes = held(mapping.levels[level].keeps);
    for (const Operand o : kAllOperands) {
        const bool kept = mapping.levels[level].keeps.contains(o) && store.operands.contains(o);
        const Count more = kept ? held({o}) : 0;
        const bool fits = more <= *store.capacity_bytes - bytes;
        if (o == operand) {
            return fits;
        }
        bytes += fits ? more : 0;
    }
    return false;
}

} // namespace

std::size_t next_keeping(const Mapping& mapping, std::size_t from, Operand o) {
    std::size_t level = from;
    while (level < mapping.levels.size() && !mapping.levels[level].keeps.contains(o)) {
        ++level;
    }
    return level;
}

Extents spread_tile(const Problem& problem, const Mapping& mapping, std::size_t from,
                    std::size_t to) {
    Extents tile = to < mapping.levels.size() ? tile_at(mapping, problem, to) : kOnes;
    const Extents bounds = loop_bounds(problem);
    for (std::size_t level = from; level < to && level < mapping.levels.size(); ++level) {
        for (const SpatialLoop& loop : mapping.levels[level].spatial) {
            const std::size_t d = index(loop.dim);
            tile[d] = std::min(bounds[d], tile[d] * loop.bound);
        }
    }
    return tile;
}

bool arrives_early(const Problem& problem, const Accelerator& accelerator, const Mapping& mapping,
                   std::size_t edge, Operand o) {
    const std::size_t first = next_keeping(mapping, edge + 1, o);
    if (first == mapping.levels.size()) {
        return false;
    }
    const Store* store = store_of(accelerator.levels[first], o);
    if (store != nullptr &&
        (store->buffers > 1 || fits_twice(problem, accelerator, mapping, first, *store, o))) {
        return true;
    }
    const std::size_t second = next_keeping(mapping, first + 1, o);
    return second < mapping.levels.size() &&
           tile_elements(problem, o, spread_tile(problem, mapping, first, second)) ==
               tile_elements(problem, o, tile_at(mapping, problem, first));
}

} // namespace eyeroof::model
