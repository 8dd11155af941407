#include "model/gpu/memory_op.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::model {

namespace {

constexpr Count kRowInRegisters = 1024; // elements of a row that softmax keeps in registers

double repeated_readings(const MemoryTerms& terms, const Layer& layer) {
    const auto* rows = std::get_if<RowsShape>(&layer.shape);
    if (rows == nullptr) {
        return 0.0;
    }
    const double once = static_cast<double>(rows->rows) * static_cast<double>(rows->cols) *
                        storage_bits(layer.types.input) / 8.0;
    if (layer.op == Op::softmax) {
        return rows->cols > kRowInRegisters ? terms.softmax_pass * once : 0.0;
    }
    const bool norm = layer.op == Op::layernorm || layer.op == Op::batchnorm;
    return norm ? terms.norm_pass * once : 0.0;
}

double reduced_rows(const Layer& layer) {
    const auto* rows = std::get_if<RowsShape>(&layer.shape);
    const bool reduces =
        layer.op == Op::softmax || layer.op == Op::layernorm || layer.op == Op::batchnorm;
    return rows != nullptr && reduces ? static_cast<double>(rows->rows) : 0.0;
}

} // namespace

MemoryTime memory_time(const Gpu& gpu, const MemoryTerms& terms, const Layer& layer,
                       const Work& work) {
    const double footprint = std::max(static_cast<double>(work.bytes()), 1.0);
    MemoryTime t;
    const double fits = std::min(1.0, terms.resident_l2 * gpu.l2_bytes / footprint);
    t.resident = std::pow(fits, terms.resident_sharpness);
    t.bytes = footprint + repeated_readings(terms, layer);
    const double bandwidth = gpu.dram_bytes_per_s;
    t.body_s = terms.start_s +
               t.bytes * ((1.0 - t.resident) / (terms.dram_share * bandwidth) +
                          t.resident / (terms.resident_gain * bandwidth)) +
               terms.row_s * reduced_rows(layer) / gpu.sms;
    return t;
}

} // namespace eyeroof::model
