// What kernels of several products and their memory operators have in common: attention, experts.
// Made by attention.cpp and grouped.cpp; read by the chain and the reasons.
#pragma once

#include <algorithm>
#include <cmath>

namespace eyeroof::model {

// Share of `bytes` that a cache with room for `room` of them keeps from one call to the next:
// 1/(1 + (bytes/room)^4).
inline double kept_share(double bytes, double room) {
    constexpr double kSharpness = 4.0;
    return 1.0 / (1.0 + std::pow(bytes / std::max(room, 1.0), kSharpness));
}

struct FusedTime {
    double body_s = 0.0;    // without launch
    double compute_s = 0.0; // products and scores on the SMs, waves and tails with them
    double dram_s = 0.0;    // what must move, at the sustained bandwidth
    double other_s = 0.0;   // further kernels
    double clock_share = 1.0;
    double resident = 0.0; // share of the bytes that L2 keeps between calls
    double ctas = 0.0;
    int tile_m = 0, tile_n = 0;
    int splits = 1; // of the keys among CTAs
    // What a tile waits for beside its products: "softmax exponentials", "CTA start and tail".
    const char* loss = "";

    bool dram_bound() const { return dram_s > compute_s; }
    bool operator==(const FusedTime&) const = default;
};

} // namespace eyeroof::model
