#include "analysis/tune/gpu_data.hpp"

#include "analysis/trials/rng.hpp"

namespace eyeroof::analysis::tune {

namespace {

float value_at(std::uint64_t i) {
    constexpr std::uint64_t kSteps = 17; // -8 … 8 eighths
    return (static_cast<float>(mixed(i) % kSteps) - 8.0F) / 8.0F;
}

std::size_t size_of(Count count) {
    return static_cast<std::size_t>(count);
}

void fill_input(GpuData& data) {
    const Workload& work = data.work;
    data.in.assign(size_of(work.images * work.padded_h() * work.padded_w() * work.depth), 0.0F);
    std::uint64_t next = 0;
    for (Count image = 0; image < work.images; ++image) {
        for (Count y = 0; y < work.height; ++y) {
            const Count line = (image * work.padded_h() + y + work.pad.h) * work.padded_w();
            float* to = &data.in[size_of((line + work.pad.w) * work.depth)];
            for (Count i = 0; i < work.width * work.depth; ++i) {
                to[i] = value_at(next++);
            }
        }
    }
    for (Count x = 0; x < work.rows; ++x) {
        const Count column = x % work.out_w, line = x / work.out_w % work.out_h;
        const Count image = x / work.out_w / work.out_h;
        const Count at = (image * work.padded_h() + line * work.stride.h) * work.padded_w() +
                         column * work.stride.w;
        data.pixel.push_back(static_cast<std::int32_t>(at * work.depth));
    }
}

void add_pixel(GpuData& data, std::size_t x) {
    const Workload& work = data.work;
    float* to = &data.wanted[x * size_of(work.cols)];
    const float* w = data.w.data();
    for (Count r = 0; r < work.taps_h; ++r) {
        for (Count s = 0; s < work.taps_w; ++s) {
            const float* from = &data.in[static_cast<std::size_t>(data.pixel[x])] +
                                r * data.step_r() + s * data.step_s();
            for (Count c = 0; c < work.depth; ++c, w += work.cols) {
                for (Count n = 0; n < work.cols; ++n) {
                    to[n] += from[c] * w[n];
                }
            }
        }
    }
}

} // namespace

std::int32_t GpuData::step_r() const {
    return static_cast<std::int32_t>(work.dilation.h * work.padded_w() * work.depth);
}

std::int32_t GpuData::step_s() const {
    return static_cast<std::int32_t>(work.dilation.w * work.depth);
}

Result<GpuData> gpu_data(const Workload& work, const std::function<bool()>& stopped) {
    GpuData data;
    data.work = work;
    fill_input(data);
    constexpr std::uint64_t kOther = 1ULL << 40U; // weights are not the input again
    data.w.resize(size_of(work.taps() * work.depth * work.cols));
    for (std::size_t i = 0; i < data.w.size(); ++i) {
        data.w[i] = value_at(kOther + i);
    }
    data.wanted.assign(size_of(work.rows * work.cols), 0.0F);
    for (std::size_t x = 0; x < data.pixel.size(); ++x) {
        if (stopped && stopped()) {
            return Result<GpuData>::failure("cancelled", "stopped before the first trial");
        }
        add_pixel(data, x);
    }
    return data;
}

} // namespace eyeroof::analysis::tune
