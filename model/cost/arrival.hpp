// When a tile can arrive: in which level next, and while the one before is still in use?
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/accelerator/mapping.hpp"
#include "model/workload/problem.hpp"

namespace eyeroof::model {

// The first level from this one on that keeps the operand; the number of levels when none does.
std::size_t next_keeping(const Mapping& mapping, std::size_t from, Operand operand);

// What all instances below one instance of level `from` hold together when they hold what level
// `to` works on: the tile of `to` and the spatial loops in between.
Extents spread_tile(const Problem& problem, const Mapping& mapping, std::size_t from,
                    std::size_t to);

// Can the next tile of an operand arrive over the networks below the level `edge` while the current
// one is in use? With two buffers it can, or where the store prefetches and has room; and also when
// the stores further in hold the whole current tile, because the one at the edge is then free for
// the next.
bool arrives_early(const Problem& problem, const Accelerator& accelerator, const Mapping& mapping,
                   std::size_t edge, Operand operand);

} // namespace eyeroof::model
