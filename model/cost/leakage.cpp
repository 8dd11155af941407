#include "model/cost/leakage.hpp"

namespace eyeroof::model {

double leak_of_instance(const Accelerator& accelerator, std::size_t level) {
    if (level >= accelerator.levels.size()) {
        return accelerator.mac_leak_pj;
    }
    double pj = 0.0;
    for (const Store& store : accelerator.levels[level].stores) {
        pj += store.leak_pj;
    }
    return pj;
}

bool leaks(const Accelerator& accelerator) {
    for (std::size_t i = 0; i <= accelerator.levels.size(); ++i) {
        if (leak_of_instance(accelerator, i) > 0.0) {
            return true;
        }
    }
    return false;
}

double leak_pj_per_cycle(const Accelerator& accelerator, const Mapping& mapping) {
    if (!accelerator.gates_idle) {
        return least_leak_pj_per_cycle(accelerator);
    }
    double pj = leak_of_instance(accelerator, 0);
    double instances = 1.0;
    for (std::size_t i = 0; i < accelerator.levels.size(); ++i) {
        for (const SpatialLoop& loop : mapping.levels[i].spatial) {
            instances *= static_cast<double>(loop.bound);
        }
        pj += leak_of_instance(accelerator, i + 1) * instances;
    }
    return pj;
}

double least_leak_pj_per_cycle(const Accelerator& accelerator) {
    double pj = 0.0;
    for (std::size_t i = 0; i <= accelerator.levels.size(); ++i) {
        const Count instances = accelerator.gates_idle ? 1 : instances_of(accelerator, i);
        pj += leak_of_instance(accelerator, i) * static_cast<double>(instances);
    }
    return pj;
}

void add_leakage(const Accelerator& accelerator, const Mapping& mapping, double cycles,
                 MappingCost& cost) {
    const double pj = leak_pj_per_cycle(accelerator, mapping) * cycles;
    cost.leakage_pj += pj;
    cost.energy_pj += pj;
}

} // namespace eyeroof::model
