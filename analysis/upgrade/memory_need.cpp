#include "analysis/upgrade/memory_need.hpp"

namespace eyeroof::analysis {

MemoryNeed memory_need(const step::Memory& memory) {
    const auto held = [&](step::Role role) {
        return static_cast<double>(memory.at_peak[static_cast<std::size_t>(role)]);
    };
    MemoryNeed need;
    need.weights = held(step::Role::weight);
    need.gradients = held(step::Role::weight_gradient);
    need.optimizer = held(step::Role::optimizer);
    need.activations = held(step::Role::input) + held(step::Role::state) +
                       held(step::Role::activation) + held(step::Role::gradient);
    need.workspace = static_cast<double>(memory.at_peak[step::kWorkspace]);
    return need;
}

} // namespace eyeroof::analysis
