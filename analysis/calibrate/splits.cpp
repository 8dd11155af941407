#include "analysis/calibrate/splits.hpp"

#include <cstdint>
#include <initializer_list>

namespace eyeroof::analysis {

namespace {

struct Hash {
    std::uint64_t value = 14695981039346656037ULL;

    void mix(std::initializer_list<Count> numbers) {
        for (const Count number : numbers) {
            for (int i = 0; i < 8; ++i) {
                const auto byte = (static_cast<std::uint64_t>(number) >> (8 * i)) & 0xffU;
                value = (value ^ byte) * 1099511628211ULL;
            }
        }
    }

    void operator()(const model::ConvShape& s) {
        mix({s.n, s.c, s.h, s.w, s.k, s.r, s.s, s.stride.h});
    }
    void operator()(const model::GemmShape& s) { mix({s.batch, s.m, s.n, s.k}); }
    void operator()(const model::PoolShape& s) { mix({s.n, s.c, s.h, s.w, s.r, s.s, s.stride.h}); }
    void operator()(const model::RowsShape& s) { mix({s.rows, s.cols}); }
    void operator()(const model::ElementwiseShape& s) { mix({s.rows, s.cols}); }
    void operator()(const model::AttentionShape& s) {
        mix({s.batch, s.groups, s.m, s.n, s.k, s.key_heads()});
        if (s.v > 0) {
            mix({s.v});
        }
    }
    void operator()(const model::MoeShape& s) { mix({s.m, s.n, s.k, s.topk, s.experts}); }
};

} // namespace

bool is_held_out(const model::Layer& layer) {
    Hash hash;
    hash.mix({static_cast<Count>(layer.op), static_cast<Count>(layer.direction)});
    std::visit(hash, layer.shape);
    return ((hash.value >> 32U) & 1U) != 0;
}

} // namespace eyeroof::analysis
