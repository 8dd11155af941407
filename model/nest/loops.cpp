#include "model/nest/loops.hpp"

#include "model/accelerator/accelerator.hpp"

#include <string_view>

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
                nest.loops.push_back({loop.dim, loop.bound, 1, i, false, 0, 0});
            }
        }
        for (const SpatialLoop& loop : mapping.levels[i].spatial) {
            if (loop.bound > 1) {
                nest.loops.push_back({loop.dim, loop.bound, 1, i, true, loop.axis, 0});
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

std::uint8_t container_of(const Level& level, std::size_t axis) {
    const auto name = [](const Axis& a) {
        const std::size_t dot = a.name.rfind('.');
        return std::string_view(a.name).substr(0, dot == std::string::npos ? 0 : dot);
    };
    std::uint8_t first = 0;
    while (name(level.fanout[first]) != name(level.fanout[axis])) {
        ++first;
    }
    return first;
}

Nest flatten(const Mapping& mapping, const Accelerator& machine) {
    Nest nest = flatten(mapping);
    for (NestLoop& loop : nest.loops) {
        const Level& level = machine.levels[loop.level];
        if (loop.spatial && loop.axis < level.fanout.size()) {
            loop.container = container_of(level, loop.axis);
        }
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
