// Folding of reductions and running sums.
#include "formats/onnx/fold.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

namespace eyeroof::formats::onnx {

namespace {

// Sizes before, along and behind an axis.
struct Around {
    std::size_t outer = 1, along = 1, inner = 1;
};

std::optional<Around> around(const Value& x, std::int64_t axis) {
    const auto at = axis_of(x, axis);
    if (!at) {
        return std::nullopt;
    }
    Around sizes;
    for (std::size_t i = 0; i < x.dims->size(); ++i) {
        std::size_t& size = i < *at ? sizes.outer : i == *at ? sizes.along : sizes.inner;
        size *= static_cast<std::size_t>((*x.dims)[i]);
    }
    return sizes;
}

struct Reduction {
    double start;
    double (*take)(double so_far, double next);
    double (*finish)(double all, double count);
};

const std::map<std::string_view, Reduction>& reductions() {
    constexpr double inf = std::numeric_limits<double>::infinity();
    static constexpr auto sum = [](double a, double b) { return a + b; };
    static constexpr auto squares = [](double a, double b) { return a + b * b; };
    static constexpr auto same = [](double a, double) { return a; };
    static const std::map<std::string_view, Reduction> all = {
        {"ReduceSum", {0.0, sum, same}},
        {"ReduceMean", {0.0, sum, [](double a, double n) { return a / n; }}},
        {"ReduceProd", {1.0, [](double a, double b) { return a * b; }, same}},
        {"ReduceMax", {-inf, [](double a, double b) { return std::max(a, b); }, same}},
        {"ReduceMin", {inf, [](double a, double b) { return std::min(a, b); }, same}},
        {"ReduceL1", {0.0, [](double a, double b) { return a + std::abs(b); }, same}},
        {"ReduceL2", {0.0, squares, [](double a, double) { return std::sqrt(a); }}},
        {"ReduceLogSum", {0.0, sum, [](double a, double) { return std::log(a); }}},
        {"ReduceLogSumExp",
         {0.0, [](double a, double b) { return a + std::exp(b); },
          [](double a, double) { return std::log(a); }}},
        {"ReduceSumSquare", {0.0, squares, same}}};
    return all;
}

Values reduced(const Step& step, const Reduction& how) {
    const Value& x = step.in(0);
    const auto gone = reduced_axes(step);
    if (!gone) {
        return std::nullopt;
    }
    Dims kept = *x.dims; // with a 1 in the place of each axis that is gone
    for (std::size_t axis = 0; axis < kept.size(); ++axis) {
        kept[axis] = (*gone)[axis] ? 1 : kept[axis];
    }
    const auto results = static_cast<std::size_t>(product(kept, 0, kept.size()).value_or(0));
    std::vector<double> values(results, how.start);
    const std::vector<std::size_t> places = stretched(*x.dims, kept);
    for (std::size_t i = 0; i < places.size(); ++i) {
        values[places[i]] = how.take(values[places[i]], (*x.values)[i]);
    }
    const double each = static_cast<double>(places.size()) / static_cast<double>(results);
    for (double& value : values) {
        value = how.finish(value, each);
    }
    return values;
}

Values extreme_position(const Step& step, bool most) {
    const Value& x = step.in(0);
    const auto sizes = around(x, step.integer("axis", 0));
    if (!sizes) {
        return std::nullopt;
    }
    const bool last = step.integer("select_last_index", 0) != 0;
    std::vector<double> values;
    for (std::size_t o = 0; o < sizes->outer * sizes->inner; ++o) {
        const std::size_t first = o / sizes->inner * sizes->along * sizes->inner + o % sizes->inner;
        std::size_t best = 0;
        for (std::size_t i = 1; i < sizes->along; ++i) {
            const double now = (*x.values)[first + i * sizes->inner];
            const double was = (*x.values)[first + best * sizes->inner];
            const bool better = most ? now > was : now < was;
            best = better || (last && now == was) ? i : best;
        }
        values.push_back(static_cast<double>(best));
    }
    return values;
}

Values running_sum(const Step& step) {
    const Value& x = step.in(0);
    const auto sizes = around(x, whole_of(scalar_of(step, 1).value_or(0.0)));
    if (!sizes) {
        return std::nullopt;
    }
    const bool exclusive = step.integer("exclusive", 0) != 0;
    const bool reverse = step.integer("reverse", 0) != 0;
    std::vector<double> values(x.values->size());
    for (std::size_t o = 0; o < sizes->outer * sizes->inner; ++o) {
        const std::size_t first = o / sizes->inner * sizes->along * sizes->inner + o % sizes->inner;
        double sum = 0.0;
        for (std::size_t n = 0; n < sizes->along; ++n) {
            const std::size_t i = reverse ? sizes->along - 1 - n : n;
            const std::size_t at = first + i * sizes->inner;
            const double next = sum + (*x.values)[at];
            values[at] = exclusive ? sum : next;
            sum = next;
        }
    }
    return values;
}

} // namespace

std::optional<std::vector<bool>> reduced_axes(const Step& step) {
    const Value& x = step.in(0);
    const auto axes = step.integers("axes", 1);
    if (!x.known() || (step.has(1) && !axes)) {
        return std::nullopt;
    }
    const bool none = !axes || axes->empty();
    const bool every = none && step.integer("noop_with_empty_axes", 0) == 0;
    std::vector<bool> gone(x.dims->size(), every);
    for (std::size_t i = 0; i < (none ? 0 : axes->size()); ++i) {
        const auto at = axis_of(x, (*axes)[i]);
        if (!at) {
            return std::nullopt;
        }
        gone[*at] = true;
    }
    return gone;
}

Values fold_reduction(const Step& step) {
    const std::string& op = step.node.op;
    if (op == "ArgMax" || op == "ArgMin") {
        return extreme_position(step, op == "ArgMax");
    }
    if (op == "CumSum" && step.has(1)) {
        return running_sum(step);
    }
    const auto how = reductions().find(op);
    return how != reductions().end() ? reduced(step, how->second) : std::nullopt;
}

} // namespace eyeroof::formats::onnx
