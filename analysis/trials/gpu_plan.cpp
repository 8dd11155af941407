#include "analysis/trials/gpu_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis::tune {

namespace {

enum GpuKnob : std::size_t {
    kBlockM,
    kBlockN,
    kBlockK,
    kWarpM,
    kWarpN,
    kThreadM,
    kThreadN,
    kStages,
    kVectorIn,
    kVectorW,
    kSplitK,
    kPad,
    kSpread,
    kGroup,
    kUnroll,
    kMinCtas
};

// Powers of two from least to most, and none beyond what covers `whole`.
std::vector<Count> powers(Count least, Count most, Count whole) {
    std::vector<Count> values;
    for (Count value = least; value <= most; value *= 2) {
        values.push_back(value);
        if (value >= whole) {
            break;
        }
    }
    return values;
}

std::vector<Count> dividing(Count most, Count whole) {
    std::vector<Count> values;
    for (Count value = 1; value <= most && whole % value == 0; value *= 2) {
        values.push_back(value);
    }
    return values;
}

GpuPlan partial(std::span<const Count> v) {
    GpuPlan plan;
    plan.block_m = v[kBlockM];
    plan.block_n = v[kBlockN];
    plan.block_k = v[kBlockK];
    plan.warp_m = v[kWarpM];
    plan.warp_n = v[kWarpN];
    plan.thread_m = v[kThreadM];
    plan.thread_n = v[kThreadN];
    return plan;
}

std::vector<Rule> rules_of(const GpuMachine& machine) {
    Rule warp{"warp", {kWarpM, kWarpN, kThreadM, kThreadN}, [](std::span<const Count> v) {
                  return v[0] % v[2] == 0 && v[1] % v[3] == 0 && v[0] * v[1] == 32 * v[2] * v[3];
              }};
    Rule cta{"CTA", {kBlockM, kBlockN, kWarpM, kWarpN}, [](std::span<const Count> v) {
                 const Count warps = (v[0] / v[2]) * (v[1] / v[3]);
                 return v[0] % v[2] == 0 && v[1] % v[3] == 0 && warps >= 1 && warps <= 32;
             }};
    Rule shared{"shared memory",
                {kBlockM, kBlockN, kBlockK, kStages, kVectorIn, kPad},
                [most = machine.cta_shared_bytes](std::span<const Count> v) {
                    GpuPlan plan;
                    plan.block_m = v[0];
                    plan.block_n = v[1];
                    plan.block_k = v[2];
                    plan.stages = v[3];
                    plan.vector_in = v[4];
                    plan.pad = v[5];
                    return plan.shared_bytes() <= most;
                }};
    Rule registers{
        "registers",
        {kBlockM, kBlockN, kBlockK, kWarpM, kWarpN, kThreadM, kThreadN, kStages, kMinCtas},
        [machine](std::span<const Count> v) {
            GpuPlan plan = partial(v);
            plan.stages = v[7];
            plan.async = machine.capability >= 80 && plan.stages > 1;
            const Count warps =
                (v[0] / std::max<Count>(1, v[3])) * (v[1] / std::max<Count>(1, v[4]));
            return plan.registers() <= 255 &&
                   32 * warps * v[8] * plan.registers() <= machine.registers &&
                   32 * warps * v[8] <= machine.max_threads;
        }};
    return {std::move(warp), std::move(cta), std::move(shared), std::move(registers)};
}

} // namespace

Count GpuPlan::registers() const {
    constexpr Count kAddresses = 28; // and counters
    const Count threads_here = std::max<Count>(32, threads());
    const Count moved = async ? 0 : ceil_div(block_m * block_k + block_k * block_n, threads_here);
    return thread_m * thread_n + thread_m + thread_n + moved + kAddresses;
}

Space gpu_space(const Workload& work, const GpuMachine& machine) {
    const Count total = work.depth * work.taps();
    std::vector<Knob> knobs = {
        {"block_m", powers(16, 256, work.rows)},
        {"block_n", powers(16, 256, work.cols)},
        {"block_k", powers(8, 64, total)},
        {"warp_m", {8, 16, 32, 64, 128}},
        {"warp_n", {8, 16, 32, 64, 128}},
        {"thread_m", {1, 2, 4, 8, 16}},
        {"thread_n", {1, 2, 4, 8, 16}},
        {"stages", {1, 2, 3, 4}},
        {"vector_in", dividing(4, work.depth)},
        {"vector_w", dividing(4, work.cols)},
        {"split_k", powers(1, 32, ceil_div(total, Count{64}))},
        {"pad", {0, 1}},
        {"spread", {0, 1}},
        {"group", {1, 4, 16}},
        {"unroll", {1, 4, 8}},
        {"min_ctas", {1, 2, 4}},
    };
    return {std::move(knobs), rules_of(machine)};
}

GpuPlan gpu_plan(const Space& space, const Point& point, const Workload& work,
                 const GpuMachine& machine) {
    std::array<Count, kMostKnobs> v{};
    for (std::size_t knob = 0; knob < space.knobs().size(); ++knob) {
        v[knob] = space.value(point, knob);
    }
    GpuPlan plan = partial(v);
    plan.stages = v[kStages];
    plan.vector_in = v[kVectorIn];
    plan.vector_w = v[kVectorW];
    plan.split_k = v[kSplitK];
    plan.pad = v[kPad];
    plan.spread = v[kSpread] != 0;
    plan.group = v[kGroup];
    plan.unroll = v[kUnroll];
    plan.min_ctas = v[kMinCtas];
    plan.product = !work.convolution;
    plan.taps_uniform = work.depth % plan.block_k == 0;
    plan.async = machine.capability >= 80 && plan.stages > 1;
    return plan;
}

std::string plan_text(const GpuPlan& plan) {
    std::string text = fmt::format(
        "CTA {}x{}x{}, warp {}x{}, thread {}x{}{}, {} stage{}", plan.block_m, plan.block_n,
        plan.block_k, plan.warp_m, plan.warp_n, plan.thread_m, plan.thread_n,
        plan.spread ? " spread" : "", plan.stages, plan.stages == 1 ? "" : "s");
    text += fmt::format(", loads {}+{}", plan.vector_in, plan.vector_w);
    text += plan.pad > 0 ? " padded" : "";
    text += plan.split_k > 1 ? fmt::format(", sums split in {}", plan.split_k) : "";
    text += plan.group > 1 ? fmt::format(", {} rows of tiles together", plan.group) : "";
    text += fmt::format(", unroll {}", plan.unroll);
    text += plan.min_ctas > 1 ? fmt::format(", {} CTAs an SM", plan.min_ctas) : "";
    return text;
}

} // namespace eyeroof::analysis::tune
