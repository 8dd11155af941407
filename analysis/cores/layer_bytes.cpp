#include "analysis/cores/layer_bytes.hpp"

#include "model/workload/layer_work.hpp"

namespace eyeroof::analysis {

double bytes_out_of(const model::Layer& layer) {
    const auto work = model::work_of(layer);
    double bytes = 0.0;
    for (std::size_t i = 0; work && i < work->tensors.size(); ++i) {
        const model::TensorUse& tensor = work->tensors[i];
        bytes += tensor.written ? static_cast<double>(tensor.bytes) : 0.0;
    }
    return bytes;
}

} // namespace eyeroof::analysis
