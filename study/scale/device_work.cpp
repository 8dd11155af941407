// What one device computes and keeps in a training step of a network.
#include "study/exam/network_step.hpp"
#include "study/scale/scale.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::study {

using model::Layer;
using model::Op;

namespace {

double seconds_of(const LayerReport& layer) {
    const double one = layer.device_s > 0.0 ? layer.device_s + layer.wait_s : layer.time_s;
    return one * static_cast<double>(layer.layer.count);
}

bool carries_gradient(const LayerReport& layer) {
    return layer.layer.direction == model::Direction::bwd_weight;
}

// Gradients of blocks that a network repeats: runs of layers with a count, spread over their time.
class Gradients {
  public:
    void add(double seconds, double bytes, model::Count count) {
        if (count <= 1) {
            flush();
            out_.push_back({seconds, bytes});
            return;
        }
        open_.backward_s += seconds;
        open_.bytes += bytes;
        blocks_ = std::max(blocks_, std::min<model::Count>(count, kMostPieces));
    }
    std::vector<GradientWork> take() {
        flush();
        return std::move(out_);
    }

  private:
    static constexpr model::Count kMostPieces = 1024;
    void flush() {
        const auto pieces = static_cast<double>(std::max<model::Count>(blocks_, 1));
        for (model::Count i = 0; i < blocks_; ++i) {
            out_.push_back({open_.backward_s / pieces, open_.bytes / pieces});
        }
        open_ = {};
        blocks_ = 0;
    }
    std::vector<GradientWork> out_;
    GradientWork open_;
    model::Count blocks_ = 0;
};

double bytes_of(const model::Work& work, std::initializer_list<const char*> names) {
    double bytes = 0.0;
    for (const model::TensorUse& tensor : work.tensors) {
        const bool wanted = std::any_of(names.begin(), names.end(),
                                        [&](const char* n) { return tensor.name == n; });
        bytes += wanted ? static_cast<double>(tensor.bytes) : 0.0;
    }
    return bytes;
}

// What a layer's gradient needs of its forward pass.
double kept_bytes(const Layer& layer) {
    const auto work = model::work_of(layer);
    if (!work) {
        return 0.0;
    }
    switch (layer.op) {
    case Op::softmax:
        return bytes_of(*work, {"output"});
    case Op::attention:
        return bytes_of(*work, {"query", "key", "value", "output"});
    case Op::elementwise: {
        // Sums need nothing; what rectifies reads its output, which the next layer keeps.
        const auto& fn = std::get<model::ElementwiseShape>(layer.shape).fn;
        const bool needs = fn != "add" && fn != "relu" && fn != "addu" && fn != "copy";
        return needs ? bytes_of(*work, {"input", "input2"}) : 0.0;
    }
    case Op::embedding:
    case Op::rope:
    case Op::avgpool:
        return 0.0;
    default:
        return bytes_of(*work, {"input", "input2"});
    }
}

} // namespace

DeviceWork device_work(const Report& training, double gradient_bytes) {
    DeviceWork work;
    Gradients gradients;
    for (const LayerReport& layer : training.layers) {
        const double seconds = seconds_of(layer);
        switch (issued_as(layer.layer)) {
        case model::Issued::forward:
            work.forward_s += seconds;
            break;
        case model::Issued::update:
            work.update_s += seconds;
            break;
        case model::Issued::gradient: {
            const auto count = static_cast<double>(layer.layer.count);
            const double values =
                carries_gradient(layer)
                    ? static_cast<double>(model::parameters_of(layer.layer)) * count
                    : 0.0;
            gradients.add(seconds, values * gradient_bytes, layer.layer.count);
        }
        }
    }
    work.gradients = gradients.take();
    return work;
}

DeviceMemory training_memory(const model::Network& network, const std::string& optimizer, int zero,
                             double devices, double capacity) {
    DeviceMemory memory;
    memory.capacity = capacity;
    double values = 0.0;
    double stored = 0.0;
    bool mixed = false;
    for (const Layer& layer : network.layers) {
        const auto count = static_cast<double>(layer.count);
        const double own = static_cast<double>(model::parameters_of(layer)) * count;
        values += own;
        stored += own * model::storage_bits(layer.types.weight) / 8.0;
        mixed = mixed || (own > 0.0 && keeps_fp32_weights(layer.types.weight));
        memory.activations += kept_bytes(layer) * count;
    }
    const double states = optimizer == "adam" ? 8.0 : optimizer == "sgd" ? 0.0 : 4.0;
    memory.weights = stored / (zero >= 3 ? devices : 1.0);
    memory.gradients = values * 4.0 / (zero >= 2 ? devices : 1.0);
    memory.optimizer = values * (states + (mixed ? 4.0 : 0.0)) / (zero >= 1 ? devices : 1.0);
    return memory;
}

} // namespace eyeroof::study
