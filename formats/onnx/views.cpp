// Operators that change sizes and move nothing, and those that make sizes.
#include "formats/onnx/operators.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::formats::onnx {

namespace {

void give_view(Step& step, std::optional<Dims> dims) {
    if (!dims) {
        return step.fail("the sizes of its operands are not known");
    }
    step.give(*std::move(dims));
    if (!step.outputs.empty()) {
        step.outputs[0].values = step.in(0).values;
        step.outputs[0].stored = step.in(0).stored;
    }
    step.outcome = Outcome::view;
}

void identity(Step& step) {
    give_view(step, step.in(0).dims);
    if (!step.outputs.empty() && step.in(0).origin == Origin::input) {
        step.outputs[0].origin = Origin::input;
    }
}

void reshape(Step& step) {
    const Value& x = step.in(0);
    auto shape = step.integers("shape", 1);
    const auto all = x.elements();
    if (!shape || !all) {
        return step.fail("the sizes of its operands are not known");
    }
    const bool zero_is_zero = step.integer("allowzero", 0) != 0;
    std::int64_t rest = 1;
    std::optional<std::size_t> open;
    for (std::size_t i = 0; i < shape->size(); ++i) {
        std::int64_t& size = (*shape)[i];
        size = size == 0 && !zero_is_zero && i < x.dims->size() ? (*x.dims)[i] : size;
        if (size == -1 && !open) {
            open = i;
        } else if (size < 0) {
            return step.fail("its sizes make no sense");
        } else {
            rest = checked_mul(rest, size).value_or(0);
        }
    }
    if (open) {
        (*shape)[*open] = rest > 0 ? *all / rest : 0;
        rest = checked_mul(rest, (*shape)[*open]).value_or(0);
    }
    if (rest != *all && !step.at_most() &&
        !step.bounds()) { // of upper bounds either may be the wider one
        return step.fail("its sizes do not match its input's");
    }
    give_view(step, *shape);
}

void flatten(Step& step) {
    const Value& x = step.in(0);
    std::int64_t axis = step.integer("axis", 1);
    axis += axis < 0 ? x.rank() : 0;
    if (!x.known() || axis < 0 || axis > x.rank()) {
        return step.fail("the sizes of its input are not known");
    }
    const auto at = static_cast<std::size_t>(axis);
    const auto rows = product(*x.dims, 0, at);
    const auto cols = product(*x.dims, at, x.dims->size());
    give_view(step, rows && cols ? std::optional(Dims{*rows, *cols}) : std::nullopt);
}

void squeeze(Step& step) {
    const Value& x = step.in(0);
    const auto axes = step.integers("axes", 1);
    if (!x.known() || (step.has(1) && !axes)) {
        return step.fail("the sizes of its operands are not known");
    }
    Dims result;
    for (std::int64_t i = 0; i < x.rank(); ++i) {
        const std::int64_t size = (*x.dims)[static_cast<std::size_t>(i)];
        const bool gone =
            axes ? std::any_of(axes->begin(), axes->end(),
                               [&](std::int64_t a) { return a == i || a + x.rank() == i; })
                 : size == 1;
        if (!gone) {
            result.push_back(size);
        }
    }
    give_view(step, std::move(result));
}

void unsqueeze(Step& step) {
    const Value& x = step.in(0);
    auto axes = step.integers("axes", 1);
    if (!x.known() || !axes) {
        return step.fail("the sizes of its operands are not known");
    }
    const std::int64_t rank = x.rank() + static_cast<std::int64_t>(axes->size());
    for (std::int64_t& axis : *axes) {
        axis += axis < 0 ? rank : 0;
    }
    std::sort(axes->begin(), axes->end());
    Dims result = *x.dims;
    for (const std::int64_t axis : *axes) {
        if (axis < 0 || axis > static_cast<std::int64_t>(result.size())) {
            return step.fail("its axes make no sense");
        }
        result.insert(result.begin() + axis, 1);
    }
    give_view(step, std::move(result));
}

void give_values(Step& step, std::vector<double> values, std::optional<Dims> dims = std::nullopt) {
    if (step.outputs.empty()) {
        return;
    }
    step.outputs[0].dims = dims ? *dims : Dims{static_cast<std::int64_t>(values.size())};
    step.outputs[0].element = step.outputs[0].element != 0 ? step.outputs[0].element : kInt64;
    step.outputs[0].values = std::move(values);
    step.outputs[0].origin = Origin::constant;
    step.outcome = Outcome::folded;
}

void shape_of(Step& step) {
    const Value& x = step.in(0);
    if (!x.known()) {
        return step.fail("the sizes of its input are not known");
    }
    const auto place = [&](std::int64_t at) {
        return std::clamp<std::int64_t>(at < 0 ? at + x.rank() : at, 0, x.rank());
    };
    const std::int64_t start = place(step.integer("start", 0));
    const std::int64_t end = place(step.integer("end", x.rank()));
    std::vector<double> sizes;
    for (std::int64_t i = start; i < end; ++i) {
        sizes.push_back(static_cast<double>((*x.dims)[static_cast<std::size_t>(i)]));
    }
    give_values(step, std::move(sizes));
}

void size_of(Step& step) {
    const auto all = step.in(0).elements();
    if (!all) {
        return step.fail("the sizes of its input are not known");
    }
    give_values(step, {static_cast<double>(*all)}, Dims{});
}

void constant(Step& step) {
    if (step.outputs.empty()) {
        return;
    }
    Value& out = step.outputs[0];
    const auto& attributes = step.node.attributes;
    if (const auto tensor = attributes.find("value");
        tensor != attributes.end() && tensor->second.tensor) {
        out.dims = tensor->second.tensor->dims;
        out.element = tensor->second.tensor->element;
        out.values = tensor->second.tensor->values;
    } else if (const auto whole = attributes.find("value_int"); whole != attributes.end()) {
        give_values(step, {static_cast<double>(whole->second.i)}, Dims{});
    } else if (const auto many = attributes.find("value_ints"); many != attributes.end()) {
        give_values(step, {many->second.ints.begin(), many->second.ints.end()});
    } else if (const auto real = attributes.find("value_float"); real != attributes.end()) {
        out.element = 1;
        give_values(step, {static_cast<double>(real->second.f)}, Dims{});
    } else if (const auto reals = attributes.find("value_floats"); reals != attributes.end()) {
        out.element = 1;
        give_values(step, reals->second.floats);
    } else {
        return step.fail("it holds no tensor");
    }
    out.origin = Origin::constant;
    step.outcome = Outcome::folded;
}

void constant_of_shape(Step& step) {
    const auto shape = step.integers("", 0);
    const auto all = shape ? product(*shape, 0, shape->size()) : std::nullopt;
    if (!all || *all < 0) {
        return step.fail("its sizes are not known");
    }
    double value = 0.0;
    int element = 1;
    if (const auto given = step.node.attributes.find("value");
        given != step.node.attributes.end() && given->second.tensor) {
        element = given->second.tensor->element;
        const auto& values = given->second.tensor->values;
        value = values && !values->empty() ? values->front() : 0.0;
    }
    step.outputs[0].element = element;
    step.give(*shape);
    step.outputs[0].origin = Origin::constant;
    if (*all <= static_cast<std::int64_t>(kMostKept)) {
        step.outputs[0].values = std::vector<double>(static_cast<std::size_t>(*all), value);
    }
    step.outcome = Outcome::folded;
}

void range(Step& step) {
    const auto one = [&](std::size_t i) {
        const auto& values = step.in(i).values;
        return values && values->size() == 1 ? std::optional(values->front()) : std::nullopt;
    };
    const auto start = one(0);
    const auto limit = one(1);
    const auto by = one(2);
    if (!start || !limit || !by || *by == 0.0) {
        return step.fail("its bounds are not known");
    }
    // Of upper bounds only that of the far end bounds the length: the limit's, or counting down the
    // start's.
    if (step.in(2).bounds || step.in(*by > 0.0 ? 0 : 1).bounds) {
        return step.fail("its bounds depend on the data");
    }
    const double n = std::clamp(std::ceil((*limit - *start) / *by), 0.0, 1e9);
    step.give(Dims{static_cast<std::int64_t>(n)});
    step.outputs[0].origin = Origin::constant;
    step.outcome = Outcome::folded;
    if (n <= static_cast<double>(kMostKept)) {
        std::vector<double> values(static_cast<std::size_t>(n));
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = *start + *by * static_cast<double>(i);
        }
        step.outputs[0].values = std::move(values);
    }
}

// The same bits as elements of another type; a whole tensor's, where they are as long.
void bit_cast(Step& step) {
    step.outputs[0].element = static_cast<int>(step.integer("to", step.in(0).element));
    give_view(step, step.in(0).dims);
    step.outputs[0].values.reset();
}

void eye_or_random(Step& step) {
    const auto shape = step.integers("shape");
    give_view(step, shape ? shape : step.in(0).dims);
}

} // namespace

void add_views(Handlers& handlers) {
    for (const char* op : {"Identity", "Dropout", "Optional", "OptionalGetElement"}) {
        handlers[op] = identity;
    }
    handlers["Reshape"] = reshape;
    handlers["Flatten"] = flatten;
    handlers["Squeeze"] = squeeze;
    handlers["Unsqueeze"] = unsqueeze;
    handlers["Shape"] = shape_of;
    handlers["Size"] = size_of;
    handlers["Constant"] = constant;
    handlers["ConstantOfShape"] = constant_of_shape;
    handlers["Range"] = range;
    handlers["BitCast"] = bit_cast;
    for (const char* op : {"EyeLike", "RandomNormal", "RandomNormalLike", "RandomUniform",
                           "RandomUniformLike", "Bernoulli"}) {
        handlers[op] = eye_or_random;
    }
}

} // namespace eyeroof::formats::onnx
