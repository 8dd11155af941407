#include "analysis/program/own_memory.hpp"

#include "analysis/program/memory.hpp"

namespace eyeroof::analysis::step {

double own_bytes(const model::Machine& machine) {
    if (const auto* gpu = std::get_if<model::Gpu>(&machine.kind)) {
        return gpu->dram_bytes > 0.0 ? device_bytes(*gpu) : 0.0;
    }
    double bytes = 0.0;
    for (const model::Store& store : std::get<model::Accelerator>(machine.kind).levels[0].stores) {
        if (!store.capacity_bytes) {
            return 0.0;
        }
        bytes += static_cast<double>(*store.capacity_bytes);
    }
    return bytes;
}

Count own_capacity(const model::Machine& machine) {
    const auto* gpu = std::get_if<model::Gpu>(&machine.kind);
    return gpu != nullptr && gpu->dram_bytes > 0.0 ? capacity_of(*gpu)
                                                   : static_cast<Count>(own_bytes(machine));
}

} // namespace eyeroof::analysis::step
