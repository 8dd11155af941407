#include "model/workload/problem.hpp"

#include <algorithm>
#include <numeric>

namespace eyeroof::model {

namespace {

// Distinct values of i * a + j * b for 0 <= i < n, 0 <= j < m. With g = gcd(a, b) two points (i, j)
// coincide when they differ by a multiple of (b/g, -a/g), so every class is a chain and the number
// of classes is the number of points less the number of neighbours in a chain.
Count distinct_sums(Count n, Count a, Count m, Count b) {
    const Count g = std::gcd(a, b);
    return n * m - std::max<Count>(0, n - b / g) * std::max<Count>(0, m - a / g);
}

// Outputs o with o * stride = h - r * dilation that a tile of `rows` input rows and `taps` filter
// taps can touch, at the offset at which they are most.
Count scattered_outputs(Count rows, Count stride, Count taps, Count dilation, Count outputs) {
    Count touched = 0;
    if (dilation <= rows || taps == 1) { // one run of rows + (taps-1)*dilation positions
        touched = ceil_div(rows + (taps - 1) * dilation, stride);
    } else { // `taps` separate runs; the upper bound when each starts at its best offset
        touched = taps * ceil_div(rows, stride);
    }
    return std::min(touched, outputs);
}

Problem nest(const Layer& layer, const char* suffix) {
    Problem problem;
    problem.name = layer.name + suffix;
    problem.produced = layer.direction == Direction::fwd        ? Operand::output
                       : layer.direction == Direction::bwd_data ? Operand::input
                                                                : Operand::weight;
    problem.element_bits = {storage_bits(layer.types.input), storage_bits(layer.types.weight),
                            storage_bits(layer.types.output)};
    return problem;
}

Problem conv_problem(const Layer& layer, const ConvShape& s) {
    Problem problem = nest(layer, "");
    problem.bounds = {s.n, s.groups, s.k / s.groups, s.c / s.groups, s.p(), s.q(), s.r, s.s};
    problem.stride = s.stride;
    problem.dilation = s.dilation;
    problem.pad = s.pad;
    problem.stored = {s.h, s.w};
    return problem;
}

Problem gemm_problem(const Layer& layer, const GemmShape& s) {
    Problem problem = nest(layer, "");
    const bool shared_weights = layer.op == Op::gemm;
    problem.bounds = {
        shared_weights ? s.batch : 1, shared_weights ? 1 : s.batch, s.n, s.k, s.m, 1, 1, 1};
    return problem;
}

// Each channel is a group of its own, with one output and one input channel.
Problem pool_problem(const Layer& layer, const PoolShape& s) {
    Problem problem = nest(layer, "");
    problem.bounds = {s.n, s.c, 1, 1, s.p(), s.q(), s.r, s.s};
    problem.stride = s.stride;
    problem.pad = s.pad;
    problem.stored = {s.h, s.w};
    problem.has_weight = false;
    return problem;
}

// Q K^T and P V: one matrix product per batch and head each.
std::vector<Problem> attention_problems(const Layer& layer, const AttentionShape& s) {
    Problem scores = nest(layer, ".qk");
    scores.bounds = {1, s.batch * s.groups, s.n, s.k, s.m, 1, 1, 1};
    Problem values = nest(layer, ".pv");
    values.bounds = {1, s.batch * s.groups, s.value_size(), s.n, s.m, 1, 1, 1};
    return {scores, values};
}

// Up, gate and down, every routed token once; as if one expert held the weights.
std::vector<Problem> moe_problems(const Layer& layer, const MoeShape& s) {
    Problem up = nest(layer, ".up");
    up.bounds = {1, 1, s.k, s.n, s.routed(), 1, 1, 1};
    Problem gate = up;
    gate.name = layer.name + ".gate";
    Problem down = nest(layer, ".down");
    down.bounds = {1, 1, s.n, s.k, s.routed(), 1, 1, 1};
    return {up, gate, down};
}

std::vector<Problem> nests_of(const Layer& layer) {
    if (const auto* conv = std::get_if<ConvShape>(&layer.shape)) {
        return {conv_problem(layer, *conv)};
    }
    if (const auto* gemm = std::get_if<GemmShape>(&layer.shape)) {
        return {gemm_problem(layer, *gemm)};
    }
    if (const auto* pool = std::get_if<PoolShape>(&layer.shape)) {
        if (layer.direction == Direction::bwd_weight) {
            return {}; // nothing to learn
        }
        return {pool_problem(layer, *pool)};
    }
    if (const auto* attention = std::get_if<AttentionShape>(&layer.shape)) {
        return attention_problems(layer, *attention);
    }
    if (const auto* moe = std::get_if<MoeShape>(&layer.shape)) {
        return moe_problems(layer, *moe);
    }
    return {};
}

} // namespace

Extents loop_bounds(const Problem& problem) {
    Extents bounds = problem.bounds;
    if (problem.form == ConvForm::scatter) {
        const auto rows = [](Count p, Count stride, Count r, Count dilation) {
            return (p - 1) * stride + (r - 1) * dilation + 1;
        };
        const Extents& b = problem.bounds;
        bounds[index(Dim::P)] =
            rows(b[index(Dim::P)], problem.stride.h, b[index(Dim::R)], problem.dilation.h);
        bounds[index(Dim::Q)] =
            rows(b[index(Dim::Q)], problem.stride.w, b[index(Dim::S)], problem.dilation.w);
    }
    return bounds;
}

Count macs_of(const Problem& problem) {
    return std::accumulate(problem.bounds.begin(), problem.bounds.end(), Count{1},
                           [](Count a, Count b) { return a * b; });
}

// input  = N G C * distinct rows * distinct columns     weight = G K C R S     output = N G K P Q
// (scatter: input = N G C H W, output = N G K * outputs that the rows and taps can reach)
Count tile_elements(const Problem& problem, Operand operand, const Extents& t) {
    const auto at = [&](Dim d) { return t[index(d)]; };
    const bool scatter = problem.form == ConvForm::scatter;
    const auto rows = [&](Dim p, Dim r, Count stride, Count dilation) {
        return scatter ? at(p) : distinct_sums(at(p), stride, at(r), dilation);
    };
    const auto outputs = [&](Dim p, Dim r, Count stride, Count dilation) {
        return scatter ? scattered_outputs(at(p), stride, at(r), dilation, problem.bounds[index(p)])
                       : at(p);
    };
    switch (operand) {
    case Operand::input:
        return at(Dim::N) * at(Dim::G) * at(Dim::C) *
               rows(Dim::P, Dim::R, problem.stride.h, problem.dilation.h) *
               rows(Dim::Q, Dim::S, problem.stride.w, problem.dilation.w);
    case Operand::weight:
        return at(Dim::G) * at(Dim::K) * at(Dim::C) * at(Dim::R) * at(Dim::S);
    case Operand::output:
        break;
    }
    return at(Dim::N) * at(Dim::G) * at(Dim::K) *
           outputs(Dim::P, Dim::R, problem.stride.h, problem.dilation.h) *
           outputs(Dim::Q, Dim::S, problem.stride.w, problem.dilation.w);
}

Result<std::vector<Problem>> problems_of(const Layer& layer) {
    Diagnostics problems = validate(layer);
    if (problems.has_errors()) {
        return problems;
    }
    std::vector<Problem> nests = nests_of(layer);
    for (const Problem& nest : nests) {
        std::optional<Count> macs = 1;
        for (const Count bound : nest.bounds) {
            macs = macs ? checked_mul(*macs, bound) : std::nullopt;
        }
        if (!macs) {
            problems.error("overflow",
                           "layer '" + layer.name + "' has more MACs than a 63-bit count holds",
                           "make the layer smaller");
        }
    }
    if (problems.has_errors()) {
        return problems;
    }
    return Result<std::vector<Problem>>(std::move(nests), std::move(problems));
}

} // namespace eyeroof::model
