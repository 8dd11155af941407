#include "study/upgrade/memory_need.hpp"

#include "model/elementwise.hpp"

#include <algorithm>

namespace eyeroof::study {

namespace {

constexpr double kMasterBytes = 4.0; // of a state or an fp32 copy

double states_of(const std::string& optimizer) {
    return optimizer == "adam" ? 2.0 : optimizer == "sgd_momentum" ? 1.0 : 0.0;
}

// Does a gradient read what this layer wrote?
bool is_kept(const model::Layer& layer) {
    const auto* e = std::get_if<model::ElementwiseShape>(&layer.shape);
    const auto* function = e != nullptr ? model::find_elementwise(e->fn) : nullptr;
    return function == nullptr || function->saved > 0;
}

} // namespace

model::Result<MemoryNeed> memory_need(const model::Network& forward,
                                      const std::optional<TrainingOptions>& training) {
    MemoryNeed need;
    double weight_elements = 0.0;
    double copied = 0.0; // elements with an fp32 copy
    double kept = 0.0;
    double widest = 0.0;
    for (const model::Layer& layer : forward.layers) {
        const auto work = model::work_of(layer);
        if (!work) {
            return work.diagnostics();
        }
        const auto count = static_cast<double>(layer.count);
        const double parameters = count * static_cast<double>(model::parameters_of(layer));
        weight_elements += parameters;
        copied += keeps_fp32_weights(layer.types.weight) ? parameters : 0.0;
        need.weights += parameters * model::storage_bits(layer.types.weight) / 8.0;
        double moved = 0.0;
        for (const model::TensorUse& tensor : work->tensors) {
            const auto bytes = static_cast<double>(tensor.bytes);
            if (tensor.name == "weight") {
                continue; // the parameters, told above: of an embedding the whole table
            }
            moved += bytes;
            kept += tensor.written && is_kept(layer) ? count * bytes : 0.0;
        }
        widest = std::max(widest, moved);
    }
    need.activations = training ? kept + widest : widest;
    if (training) {
        need.gradients = need.weights;
        const double states = states_of(training->optimizer);
        need.optimizer = kMasterBytes * (states * weight_elements + copied);
    }
    return need;
}

} // namespace eyeroof::study
