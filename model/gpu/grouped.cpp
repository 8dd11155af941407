#include "model/gpu/grouped.hpp"

#include "model/gpu/matmul.hpp"
#include "model/workload/experts.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::model {

namespace {

constexpr double kFlopsOfPair = 6.0; // three products, two operations a MAC
constexpr double kTileColumns = 128.0;

double tile_rows(double tokens) {
    for (const double rows : {16.0, 32.0, 64.0}) {
        if (tokens <= rows) {
            return rows;
        }
    }
    return 128.0;
}

} // namespace

FusedTime grouped_time(const Gpu& gpu, DataType type, const GroupedTerms& terms, const Layer& layer,
                       ExpertKernel kernel) {
    const auto& s = std::get<MoeShape>(layer.shape);
    const double n = static_cast<double>(s.n);
    const double k = static_cast<double>(s.k);
    const double routed = static_cast<double>(s.m) * static_cast<double>(s.topk);
    const double busy = expected_experts(static_cast<double>(s.m), static_cast<double>(s.topk),
                                         static_cast<double>(s.experts));
    const double rows = tile_rows(routed / busy);
    const double tiles_of_rows = busy * std::ceil(routed / busy / rows);
    const double tiles = tiles_of_rows * std::ceil(2.0 * k / kTileColumns); // of the first product
    const double wave = std::max(1.0, gpu.sms / tiles);
    const double in_bytes = bytes_per_element(layer.types.input);
    const double weight_bytes = bytes_per_element(layer.types.weight);

    FusedTime f;
    f.tile_m = static_cast<int>(rows);
    f.tile_n = static_cast<int>(kTileColumns);
    f.ctas = tiles;
    f.compute_s = terms.uneven * wave * kFlopsOfPair * tiles_of_rows * rows * n * k /
                  (terms.peak_share * gpu.rate(type).flops_per_s);
    const double bandwidth = terms.dram_share * gpu.dram_bytes_per_s;
    const double weights = busy * 3.0 * n * k * weight_bytes;
    const double tokens = 2.0 * static_cast<double>(s.m) * n * in_bytes;
    f.resident = kept_share(weights, terms.resident_l2 * l2_reach_bytes(gpu));
    f.dram_s = (weights + tokens) * ((1.0 - f.resident) / bandwidth +
                                     f.resident / std::max(l2_bandwidth(gpu), bandwidth));
    const double most = std::max(f.compute_s, f.dram_s);
    const double both = most * std::pow(std::pow(f.compute_s / most, terms.overlap) +
                                            std::pow(f.dram_s / most, terms.overlap),
                                        1.0 / terms.overlap);
    const bool slow = kernel == ExpertKernel::flashinfer && gpu.arch == GpuArch::hopper;
    const double cost = slow ? terms.flashinfer_cost : 1.0;
    f.other_s = terms.routing_s + terms.expert_s * busy +
                terms.routing_passes * routed * n * in_bytes / bandwidth;
    f.body_s = cost * both + f.other_s;
    return f;
}

} // namespace eyeroof::model
