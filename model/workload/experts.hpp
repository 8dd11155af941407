// How many experts of a layer have work.
#pragma once

#include <cmath>

namespace eyeroof::model {

// Experts that have a token where every token goes to `topk` different ones of `experts`, all
// choices as likely: experts (1 - (1 - topk / experts)^tokens). Uniform routing spreads tokens
// most: a router that prefers some experts reaches fewer.
inline double expected_experts(double tokens, double topk, double experts) {
    if (topk >= experts) {
        return tokens > 0.0 ? experts : 0.0;
    }
    return experts * -std::expm1(tokens * std::log1p(-topk / experts));
}

} // namespace eyeroof::model
