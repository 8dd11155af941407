#include "model/nest/loops.hpp"

#include <algorithm>

namespace eyeroof::model::nest {

Nest flatten(const Mapping& mapping) {
    Nest nest;
    nest.begin.reserve(mapping.levels.size() + 1);
    std::size_t loops = 0;
    for (const LevelMapping& level : mapping.levels) {
        loops += level.temporal.size() + level.spatial.size();
    }
    nest.loops.reserve(loops);
    for (std::size_t i = 0; i < mapping.levels.size(); ++i) {
        nest.begin.push_back(nest.loops.size());
        for (const TemporalLoop& loop : mapping.levels[i].temporal) {
            if (loop.bound > 1) {
                nest.loops.push_back({loop.dim, loop.bound, 1, i, false, 0});
            }
        }
        for (const SpatialLoop& loop : mapping.levels[i].spatial) {
            if (loop.bound > 1) {
                nest.loops.push_back({loop.dim, loop.bound, 1, i, true, loop.axis});
            }
        }
    }
    nest.begin.push_back(nest.loops.size());
    Extents tile = kOnes;
    for (auto loop = nest.loops.rbegin(); loop != nest.loops.rend(); ++loop) {
        loop->stride = tile[index(loop->dim)];
        tile[index(loop->dim)] *= loop->bound;
    }
    return nest;
}

bool moves(const Problem& problem, Operand operand, Dim dim) {
    if (problem.form == ConvForm::scatter) {
        if (operand == Operand::input && (dim == Dim::R || dim == Dim::S)) {
            return false;
        }
        if (operand == Operand::output && (dim == Dim::R || dim == Dim::S)) {
            return true;
        }
    }
    return relevant(operand, dim);
}

} // namespace eyeroof::model::nest
