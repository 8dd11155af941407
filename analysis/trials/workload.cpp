#include "analysis/trials/workload.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis::tune {

namespace {

constexpr Count kMostElements = Count{1} << 31;
constexpr Count kMostMacs = Count{1} << 40;

using Made = Result<Workload>;

Made refused(const model::Layer& layer, const std::string& why) {
    return Made::failure(
        "unsupported", fmt::format("'{}' cannot be tuned: {}", layer.name, why),
        "templates exist for forward convolutions in one group and matrix multiplications");
}

Workload product_of(const model::Layer& layer, const model::GemmShape& shape) {
    Workload work;
    work.name = layer.name;
    work.rows = shape.batch * shape.m;
    work.cols = shape.n;
    work.depth = shape.k;
    work.width = work.rows;
    work.out_w = work.rows;
    return work;
}

Workload convolution_of(const model::Layer& layer, const model::ConvShape& shape) {
    return {.name = layer.name,
            .convolution = true,
            .rows = shape.n * shape.p() * shape.q(),
            .cols = shape.k,
            .depth = shape.c,
            .taps_h = shape.r,
            .taps_w = shape.s,
            .images = shape.n,
            .height = shape.h,
            .width = shape.w,
            .stride = shape.stride,
            .pad = shape.pad,
            .dilation = shape.dilation,
            .out_h = shape.p(),
            .out_w = shape.q()};
}

bool too_large(const Workload& work) {
    const auto above = [](std::optional<Count> product, Count most) {
        return !product || *product > most;
    };
    return above(checked_product({work.rows, work.cols, work.depth, work.taps()}), kMostMacs) ||
           above(checked_product({work.rows, work.depth, work.taps()}), kMostElements) ||
           above(checked_product({work.cols, work.depth, work.taps()}), kMostElements) ||
           above(checked_mul(work.rows, work.cols), kMostElements) ||
           above(checked_product({work.images, work.padded_h(), work.padded_w(), work.depth}),
                 kMostElements);
}

} // namespace

bool Workload::same_shape(const Workload& other) const {
    Workload named = other;
    named.name = name;
    return *this == named;
}

Made workload_of(const model::Layer& layer) {
    const auto known = model::work_of(layer);
    if (!known) {
        return Made(known.diagnostics());
    }
    if (layer.direction != model::Direction::fwd) {
        return refused(layer, "it is a gradient");
    }
    Workload work;
    if (const auto* conv = std::get_if<model::ConvShape>(&layer.shape);
        conv != nullptr && layer.op == model::Op::conv2d) {
        if (conv->groups != 1) {
            return refused(layer, "its channels are in groups");
        }
        work = convolution_of(layer, *conv);
    } else if (const auto* gemm = std::get_if<model::GemmShape>(&layer.shape);
               gemm != nullptr && (layer.op == model::Op::gemm || gemm->batch == 1)) {
        work = product_of(layer, *gemm);
    } else {
        return refused(layer, fmt::format("there is no template for {}", op_name(layer.op)));
    }
    return too_large(work) ? refused(layer, "it is too large") : Made(std::move(work));
}

Result<std::vector<Workload>> workloads_of(const model::Network& network) {
    std::vector<Workload> all;
    Diagnostics found;
    for (const model::Layer& layer : network.layers) {
        auto work = workload_of(layer);
        if (!work) {
            for (Diagnostic diagnostic : work.diagnostics()) {
                diagnostic.severity = Severity::warning;
                found.add(std::move(diagnostic));
            }
            continue;
        }
        const auto same = [&](const Workload& other) { return other.same_shape(*work); };
        if (std::none_of(all.begin(), all.end(), same)) {
            all.push_back(*std::move(work));
        }
    }
    if (all.empty()) {
        found.error(
            "unsupported", "no layer of the network can be tuned",
            "templates exist for forward convolutions in one group and matrix multiplications");
        return found;
    }
    return {std::move(all), std::move(found)};
}

} // namespace eyeroof::analysis::tune
