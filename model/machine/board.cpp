#include "model/machine/board.hpp"

namespace eyeroof::model {

double tdp_of(const Machine& machine) {
    const auto* gpu = std::get_if<Gpu>(&machine.kind);
    return gpu == nullptr ? 0.0 : gpu->tdp_w;
}

const GpuPrice& price_of(const Machine& machine) {
    static const GpuPrice none;
    const auto* gpu = std::get_if<Gpu>(&machine.kind);
    return gpu == nullptr ? none : gpu->price;
}

} // namespace eyeroof::model
