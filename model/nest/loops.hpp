// A mapping as one flat nest of loops with the stride of each, and who is moved by which loop.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/accelerator/mapping.hpp"
#include "model/workload/problem.hpp"

#include <vector>

namespace eyeroof::model::nest {

struct NestLoop {
    Dim dim = Dim::N;
    Count bound = 1;
    Count stride = 1; // extent of the tile below, not clipped
    std::size_t level = 0;
    bool spatial = false;
    std::uint8_t axis = 0;
    // In space: the first axis of the container that its axis belongs to.
    std::uint8_t container = 0;
};

// Loops with more than one trip, outermost first. The tile of level i is made by the loops from
// begin[i] on; begin[number of levels] is the end, where single MACs are.
struct Nest {
    std::vector<NestLoop> loops;
    std::vector<std::size_t> begin;
};

Nest flatten(const Mapping& mapping);

// The first axis of the container that an axis belongs to. Axes of a level whose names differ
// before the last dot ("column.x", "pe.y") are containers one inside the other, the first one
// outermost.
std::uint8_t container_of(const Level& level, std::size_t axis);

// The same with the containers of a machine's axes.
Nest flatten(const Mapping& mapping, const Accelerator& machine);

// Does the operand's address depend on the dimension, in the problem's own form?
bool moves(const Problem& problem, Operand operand, Dim dim);

} // namespace eyeroof::model::nest
