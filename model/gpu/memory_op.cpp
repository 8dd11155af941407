#include "model/gpu/memory_op.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::model {

namespace {

constexpr double kCopyStartS = 1e-5;    // of the driver, before a copy runs
constexpr double kLinkShare = 0.8;      // of a link's bandwidth that large pinned copies reach
constexpr Count kRowInRegisters = 1024; // elements of a row that softmax keeps in registers
constexpr double kNormThreads = 128.0;  // of the CTA that normalises a row

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
    return layer.op == Op::rope ? terms.rope_pass * once : 0.0;
}

bool is_norm(const Layer& layer) {
    return layer.op == Op::layernorm || layer.op == Op::batchnorm;
}

// A norm's second reading of its rows: from L2 while those in flight fit.
double second_reading_s(const Gpu& gpu, const MemoryTerms& terms, const Layer& layer,
                        double l2_s_per_byte) {
    const auto* rows = std::get_if<RowsShape>(&layer.shape);
    if (rows == nullptr || !is_norm(layer)) {
        return 0.0;
    }
    const double row_bytes =
        static_cast<double>(rows->cols) * storage_bits(layer.types.input) / 8.0;
    const double held = gpu.sms * std::max(gpu.max_threads_per_sm / kNormThreads, 1.0);
    const double flying = row_bytes * std::min(static_cast<double>(rows->rows), held);
    const double fill = terms.norm_cache * l2_reach_bytes(gpu) / flying;
    const double lost = 1.0 / (1.0 + fill * fill);
    return terms.norm_pass * row_bytes * static_cast<double>(rows->rows) *
           (lost / (terms.dram_share * gpu.dram_bytes_per_s) + (1.0 - lost) * l2_s_per_byte);
}

// An embedding's threads copy an element each.
double gather_s(const Gpu& gpu, const MemoryTerms& terms, const Layer& layer) {
    const auto* rows = std::get_if<RowsShape>(&layer.shape);
    if (rows == nullptr || layer.op != Op::embedding) {
        return 0.0;
    }
    return terms.gather_cycles * static_cast<double>(rows->rows) * static_cast<double>(rows->cols) /
           (gpu.sms * gpu.boost_hz);
}

double reduced_rows(const Layer& layer) {
    const auto* rows = std::get_if<RowsShape>(&layer.shape);
    const bool reduces = layer.op == Op::softmax || is_norm(layer);
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
    const double fits = std::min(1.0, terms.resident_l2 * l2_reach_bytes(gpu) / footprint);
    t.resident = std::pow(fits, terms.resident_sharpness);
    t.bytes = footprint + repeated_readings(terms, layer);
    const double dram_s = 1.0 / (terms.dram_share * gpu.dram_bytes_per_s); // of a byte
    const double l2_s = 1.0 / (terms.resident_gain * l2_bandwidth(gpu));
    const double moved_s = t.bytes * ((1.0 - t.resident) * dram_s + t.resident * l2_s) +
                           second_reading_s(gpu, terms, layer, l2_s);
    const double gathered_s = gather_s(gpu, terms, layer);
    t.gather_bound = gathered_s > moved_s;
    t.body_s =
        terms.start_s + std::max(moved_s, gathered_s) + terms.row_s * reduced_rows(layer) / gpu.sms;
    return t;
}

} // namespace eyeroof::model
