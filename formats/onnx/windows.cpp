#include "formats/onnx/windows.hpp"

#include "model/workload/input_footprint.hpp"

#include <algorithm>

namespace eyeroof::formats::onnx {

namespace {

constexpr std::int64_t kLargest = 1'000'000'000;

bool sane(const Dims& values, std::int64_t least, std::size_t count) {
    return values.size() == count && std::all_of(values.begin(), values.end(), [&](std::int64_t v) {
               return v >= least && v <= kLargest;
           });
}

// Kernel, strides, dilations and pads, with ONNX's defaults.
std::optional<std::vector<Window>> plain(const Step& step, const Dims& spatial,
                                         const Dims& kernel) {
    const std::size_t axes = spatial.size();
    const Dims strides = step.integers("strides").value_or(Dims(axes, 1));
    const Dims dilations = step.integers("dilations").value_or(Dims(axes, 1));
    const Dims pads = step.integers("pads").value_or(Dims(2 * axes, 0));
    if (axes < 1 || axes > 3 || !sane(spatial, 1, axes) || !sane(kernel, 1, axes) ||
        !sane(strides, 1, axes) || !sane(dilations, 1, axes) || !sane(pads, 0, 2 * axes)) {
        return std::nullopt;
    }
    std::vector<Window> windows(axes);
    for (std::size_t i = 0; i < axes; ++i) {
        windows[i] = {spatial[i], kernel[i], strides[i], dilations[i], pads[i], pads[axes + i], 1};
    }
    return windows;
}

std::int64_t reach(const Window& w) {
    return w.dilation * (w.kernel - 1) + 1;
}

} // namespace

std::optional<std::vector<Window>> windows_of(const Step& step, const Dims& spatial,
                                              const Dims& kernel) {
    auto windows = plain(step, spatial, kernel);
    const std::string mode = step.text("auto_pad", "NOTSET");
    const bool ceils = step.integer("ceil_mode", 0) != 0;
    if (!windows) {
        return std::nullopt;
    }
    for (Window& w : *windows) {
        if (mode == "VALID") {
            w.before = w.after = 0;
        } else if (mode != "NOTSET") { // SAME_UPPER, SAME_LOWER
            const std::int64_t outputs = (w.size + w.stride - 1) / w.stride;
            const std::int64_t all =
                std::max<std::int64_t>((outputs - 1) * w.stride + reach(w) - w.size, 0);
            w.before = mode == "SAME_LOWER" ? all - all / 2 : all / 2;
            w.after = all - w.before;
        }
        const std::int64_t room = w.size + w.before + w.after - reach(w);
        if (room < 0) {
            return std::nullopt;
        }
        w.outputs = (room + (ceils ? w.stride - 1 : 0)) / w.stride + 1;
        if (ceils && (w.outputs - 1) * w.stride >= w.size + w.before) {
            --w.outputs; // no window begins in the padding behind
        }
    }
    return windows;
}

std::optional<std::vector<Window>> transposed_windows_of(const Step& step, const Dims& spatial,
                                                         const Dims& kernel) {
    auto windows = plain(step, spatial, kernel);
    const Dims added = step.integers("output_padding").value_or(Dims(spatial.size(), 0));
    const auto given = step.integers("output_shape");
    const std::string mode = step.text("auto_pad", "NOTSET");
    if (!windows || added.size() != spatial.size()) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < windows->size(); ++i) {
        Window& w = (*windows)[i];
        const std::int64_t full = w.stride * (w.size - 1) + added[i] + reach(w);
        std::int64_t size = full - w.before - w.after;
        if (given && given->size() >= spatial.size()) {
            size = (*given)[given->size() - spatial.size() + i];
        } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
            size = w.size * w.stride;
        }
        if (size < 1 || size > kLargest) {
            return std::nullopt;
        }
        w.before = w.after = std::max<std::int64_t>((full - size) / 2, 0);
        w.outputs = w.size;
        w.size = size;
    }
    return windows;
}

std::optional<Image> image_of(const std::vector<Window>& windows) {
    Image image;
    std::size_t first = 0;
    if (windows.size() == 3) {
        image.images = windows[0].outputs;
        image.taps = windows[0].kernel;
        first = 1;
    }
    const auto along = [](const Window& w, std::int64_t& size, std::int64_t& window, Count& stride,
                          Count& pad, Count& dilation) {
        window = w.kernel;
        stride = w.stride;
        dilation = w.dilation;
        pad = std::min(w.before, w.after);
        size = (w.outputs - 1) * w.stride + reach(w) - 2 * pad;
        if (size < 1) {
            size += 2 * pad;
            pad = 0;
        }
        // Rows that no window touches belong to the image all the same.
        size = pad == w.before && pad == w.after ? std::max(size, w.size) : size;
        if ((size + 2 * pad - reach(w)) / w.stride + 1 != w.outputs) {
            size = (w.outputs - 1) * w.stride + reach(w) - 2 * pad;
        }
        // Another padding on both sides may leave the input's own size.
        const auto touched = [&](Count of, Count padded) {
            return model::input_footprint_rows(
                {of, w.kernel, w.stride, padded, w.dilation, w.outputs});
        };
        const Count truly = touched(w.size, w.before);
        constexpr std::int64_t kMostTried = 64;
        for (std::int64_t p = 0; p < std::min(w.kernel, kMostTried); ++p) {
            if (touched(size, pad) != truly && touched(w.size, p) == truly &&
                w.size + 2 * p >= reach(w) &&
                (w.size + 2 * p - reach(w)) / w.stride + 1 == w.outputs) {
                size = w.size;
                pad = p;
            }
        }
    };
    along(windows[first], image.h, image.r, image.stride.h, image.pad.h, image.dilation.h);
    if (first + 1 < windows.size()) {
        along(windows[first + 1], image.w, image.s, image.stride.w, image.pad.w, image.dilation.w);
    }
    return image.h >= 1 && image.w >= 1 ? std::optional(image) : std::nullopt;
}

} // namespace eyeroof::formats::onnx
