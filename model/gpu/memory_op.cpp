#include "model/gpu/memory_op.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::model {

namespace {

constexpr double kCopyStartS = 1e-5;    // of the driver, before a copy runs
constexpr double kLinkShare = 0.8;      // of a link's bandwidth that large pinned copies reach
constexpr Count kRowInRegisters = 1024; // elements of a row that softmax keeps in registers

// Functions that multiply one half of a row by an activation of the other.
bool is_gated(const std::string& fn) {
    return fn == "swiglu" || fn == "silu_mul" || fn == "geglu" || fn == "gelu_mul" || fn == "glu";
}

double repeated_readings(const MemoryTerms& terms, const Layer& layer) {
    if (const auto* e = std::get_if<ElementwiseShape>(&layer.shape)) {
        const double once = static_cast<double>(e->rows) * static_cast<double>(e->cols) *
                            storage_bits(layer.types.input) / 8.0;
        return is_gated(e->fn) ? terms.gated_pass * once : 0.0;
    }
    const auto* rows = std::get_if<RowsShape>(&layer.shape);
    if (rows == nullptr) {
        return 0.0;
    }
    const double once = static_cast<double>(rows->rows) * static_cast<double>(rows->cols) *
                        storage_bits(layer.types.input) / 8.0;
    if (layer.op == Op::softmax) {
        return rows->cols > kRowInRegisters ? terms.softmax_pass * once : 0.0;
    }
    if (layer.op == Op::embedding || layer.op == Op::rope) {
        return (layer.op == Op::rope ? terms.rope_pass : terms.gather_pass) * once;
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

std::optional<double> link_of(const Gpu& gpu, const Layer& layer) {
    const auto* e = std::get_if<ElementwiseShape>(&layer.shape);
    if (e == nullptr || (e->fn != "h2d" && e->fn != "d2h" && e->fn != "peer")) {
        return std::nullopt;
    }
    constexpr double kDirections = 2.0; // link_bytes_per_s counts both
    const bool peer = e->fn == "peer" && gpu.link_bytes_per_s > 0.0;
    return peer ? gpu.link_bytes_per_s / kDirections : gpu.pcie_bytes_per_s;
}

MemoryTime memory_time(const Gpu& gpu, const MemoryTerms& terms, const Layer& layer,
                       const Work& work) {
    const double footprint = std::max(static_cast<double>(work.bytes()), 1.0);
    MemoryTime t;
    if (const auto link = link_of(gpu, layer)) {
        t.bytes = static_cast<double>(work.bytes_written());
        t.link_bytes_per_s = *link;
        t.body_s = kCopyStartS + t.bytes / (kLinkShare * std::max(*link, 1.0));
        return t;
    }
    const double fits = std::min(1.0, terms.resident_l2 * gpu.l2_bytes / footprint);
    t.resident = std::pow(fits, terms.resident_sharpness);
    t.bytes = footprint + repeated_readings(terms, layer);
    const double bandwidth = gpu.dram_bytes_per_s;
    t.body_s = terms.start_s +
               t.bytes * ((1.0 - t.resident) / (terms.dram_share * bandwidth) +
                          t.resident / (terms.resident_gain * l2_bandwidth(gpu))) +
               terms.row_s * reduced_rows(layer) / gpu.sms;
    return t;
}

} // namespace eyeroof::model
