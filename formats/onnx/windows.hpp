// Windows of convolutions and pooling: kernel, strides, padding along each axis, however ONNX says
// them.
#pragma once

#include "formats/onnx/step.hpp"

#include <optional>
#include <vector>

namespace eyeroof::formats::onnx {

// Along one axis.
struct Window {
    std::int64_t size = 1; // of the input
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t before = 0, after = 0; // padding
    std::int64_t outputs = 1;
};

// One a spatial axis. `kernel`: the attribute's, or of the weights. Nothing
// where it makes no sense.
std::optional<std::vector<Window>> windows_of(const Step& step, const Dims& spatial,
                                              const Dims& kernel);
// The same for a transposed convolution: `size` is the output's, `outputs` the
// input's.
std::optional<std::vector<Window>> transposed_windows_of(const Step& step, const Dims& spatial,
                                                         const Dims& kernel);

// A layer pads alike on both sides: the smaller padding, on an input whose size
// gives exactly as many outputs. Fields of ConvShape and PoolShape: height
// (also of one axis) and width; a third axis in front of them multiplies the
// images, its taps the channels.
struct Image {
    std::int64_t images = 1, taps = 1;
    std::int64_t h = 1, w = 1, r = 1, s = 1;
    model::Extent2 stride{1, 1}, pad{0, 0}, dilation{1, 1};
};
std::optional<Image> image_of(const std::vector<Window>& windows);

} // namespace eyeroof::formats::onnx
