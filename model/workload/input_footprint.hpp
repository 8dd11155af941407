// How many rows of an input a sliding window touches, gaps and padding left out.
#pragma once

#include "base/checked.hpp"

namespace eyeroof::model {

// A window of `taps` rows, `dilation` apart, at `outputs` positions, `stride` apart, over `size`
// rows with `pad` rows of padding on both sides.
struct SlidingWindow {
    Count size = 1, taps = 1, stride = 1, pad = 0, dilation = 1, outputs = 1;
};

// The number of distinct i in [0, size) with i + pad = p stride + r dilation for some output p and
// tap r. Logarithmic time; every field at most kMaxDimension, outputs * taps below 2^62.
Count input_footprint_rows(const SlidingWindow& window);

} // namespace eyeroof::model
