#include "model/workload/input_footprint.hpp"

#include <algorithm>
#include <numeric>

namespace eyeroof::model {

namespace {

// sum over i in [0, n) of floor((a i + b) / m), for a, b >= 0 (Euclid's algorithm on lattice
// points).
Count floor_sum(Count n, Count m, Count a, Count b) {
    Count sum = 0;
    while (n > 0) {
        sum += (a / m) * (n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n);
        sum += (b / m) * n;
        a %= m;
        b %= m;
        const Count last = a * n + b;
        if (last < m) {
            break;
        }
        n = last / m;
        b = last % m;
        std::swap(m, a);
    }
    return sum;
}

// Pairs (p, r) in [0, outputs) x [0, taps) with p stride + r dilation <= limit.
Count pairs_up_to(Count outputs, Count taps, Count stride, Count dilation, Count limit) {
    if (outputs <= 0 || taps <= 0 || limit < 0) {
        return 0;
    }
    const Count rows = std::min(taps, limit / dilation + 1); // taps with at least one output
    const Count reach = limit - (outputs - 1) * stride;      // taps up to here have all outputs
    const Count full = reach < 0 ? 0 : std::min(rows, reach / dilation + 1);
    // The others have floor((limit - r dilation) / stride) + 1 outputs; summed from the last one
    // up.
    const Count partial = rows - full;
    const Count smallest = limit - (rows - 1) * dilation;
    return full * outputs + floor_sum(partial, stride, dilation, smallest) + partial;
}

// Distinct values of p stride + r dilation that are <= limit. With stride = g s', dilation = g d'
// and s', d' coprime, (p, r) and (p + d', r - s') give the same value and no others do, so each
// value is counted once by the pair with the smallest r: all pairs minus those that have such a
// predecessor.
Count distinct_up_to(const SlidingWindow& w, Count limit) {
    const Count g = std::gcd(w.stride, w.dilation);
    const Count s = w.stride / g;
    const Count d = w.dilation / g;
    const Count repeated_from = s * w.dilation; // value of the first pair (0, s')
    return pairs_up_to(w.outputs, w.taps, w.stride, w.dilation, limit) -
           pairs_up_to(w.outputs - d, w.taps - s, w.stride, w.dilation, limit - repeated_from);
}

} // namespace

Count input_footprint_rows(const SlidingWindow& w) {
    return distinct_up_to(w, w.pad + w.size - 1) - distinct_up_to(w, w.pad - 1);
}

} // namespace eyeroof::model
