#include "model/accelerator/fanout.hpp"
#include "model/cost/latency.hpp"

// Where the networks of an array feed its units, and the longest chain of neighbours through it.

namespace eyeroof::model {

namespace {

bool stores_inside(const Accelerator& accelerator, std::size_t level) {
    return level + 1 < accelerator.levels.size();
}

} // namespace

std::size_t array_edge(const Accelerator& accelerator) {
    std::size_t edge = accelerator.levels.size() - 1;
    bool found = false;
    for (std::size_t i = accelerator.levels.size(); i-- > 0 && !found;) {
        if (fanout_of(accelerator.levels[i]) > 1) {
            edge = i;
            found = stores_inside(accelerator, i);
        }
    }
    return edge;
}

double chain_hops(const Problem& problem, const Accelerator& accelerator, std::size_t edge,
                  const std::vector<SpatialLoop>& loops) {
    double reduce = 0.0;
    double forward = 0.0;
    for (const SpatialLoop& loop : loops) {
        const double hops = static_cast<double>(loop.bound) - 1.0;
        for (const Channel& channel : accelerator.levels[edge].channels) {
            const bool sums = channel.reduces && !channel.adds_at_once &&
                              channel.operands.contains(problem.produced);
            reduce += sums && !relevant(problem.produced, loop.dim) ? hops : 0.0;
            for (const Operand o : kAllOperands) {
                const bool passes_on = channel.forwards && o != problem.produced &&
                                       channel.operands.contains(o) && !relevant(o, loop.dim);
                forward += passes_on ? hops : 0.0;
            }
        }
    }
    return reduce + forward;
}

} // namespace eyeroof::model
