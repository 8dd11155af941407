#include "formats/onnx/step.hpp"

#include <algorithm>
#include <limits>

namespace eyeroof::formats::onnx {

std::optional<std::size_t> axis_of(const Value& x, std::int64_t axis) {
    const std::int64_t at = axis < 0 ? axis + x.rank() : axis;
    return at >= 0 && at < x.rank() ? std::optional(static_cast<std::size_t>(at)) : std::nullopt;
}

std::optional<std::int64_t> product(const Dims& dims, std::size_t from, std::size_t to) {
    std::int64_t all = 1;
    for (std::size_t i = from; i < std::min(to, dims.size()); ++i) {
        const auto next = checked_mul(all, dims[i]);
        if (!next) {
            return std::nullopt;
        }
        all = *next;
    }
    return all;
}

std::optional<std::int64_t> Value::elements() const {
    return dims ? product(*dims, 0, dims->size()) : std::nullopt;
}

std::optional<Dims> broadcast(const Dims& a, const Dims& b) {
    Dims all(std::max(a.size(), b.size()), 1);
    for (std::size_t i = 0; i < all.size(); ++i) { // from the last size on
        const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
        const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (x != y && x != 1 && y != 1) {
            return std::nullopt;
        }
        all[all.size() - 1 - i] = x == 1 ? y : x;
    }
    return all;
}

std::optional<Dims> broadcast(const Value& a, const Value& b) {
    if (!a.known() || !b.known()) {
        return std::nullopt;
    }
    if (!a.at_most && !b.at_most) {
        return broadcast(*a.dims, *b.dims);
    }
    Dims x = *a.dims;
    Dims y = *b.dims;
    const std::size_t common = std::min(x.size(), y.size());
    for (std::size_t i = 1; i <= common; ++i) {
        std::int64_t& p = x[x.size() - i];
        std::int64_t& q = y[y.size() - i];
        if (p != 1 && q != 1) {
            p = q = std::min(p, q);
        }
    }
    return broadcast(x, y);
}

std::vector<std::string> Counted::take_back(std::size_t mark) {
    const auto first = log_.begin() + static_cast<std::ptrdiff_t>(std::min(mark, log_.size()));
    std::vector<std::string> taken(first, log_.end());
    log_.erase(first, log_.end());
    for (const std::string& name : taken) {
        names_.erase(name);
    }
    return taken;
}

namespace {

std::ptrdiff_t long_axes(const Value& value) {
    return std::count_if(value.dims->begin(), value.dims->end(), [](auto d) { return d != 1; });
}

} // namespace

bool Step::has(std::size_t i) const {
    return i < node.inputs.size() && !node.inputs[i].empty();
}

const Value& Step::in(std::size_t i) const {
    static const Value nothing;
    return i < inputs_.size() ? inputs_[i] : nothing;
}

bool Step::at_most() const {
    return std::any_of(inputs_.begin(), inputs_.end(), [](const Value& v) { return v.at_most; });
}

bool Step::bounds() const {
    return std::any_of(inputs_.begin(), inputs_.end(), [](const Value& v) { return v.bounds; });
}

std::int64_t Step::integer(const std::string& name, std::int64_t otherwise) const {
    const auto found = node.attributes.find(name);
    return found == node.attributes.end() ? otherwise : found->second.i;
}

double Step::real(const std::string& name, double otherwise) const {
    const auto found = node.attributes.find(name);
    return found == node.attributes.end() ? otherwise : static_cast<double>(found->second.f);
}

std::string Step::text(const std::string& name, const std::string& otherwise) const {
    const auto found = node.attributes.find(name);
    return found == node.attributes.end() || found->second.s.empty() ? otherwise : found->second.s;
}

std::optional<Dims> Step::integers(const std::string& name) const {
    const auto found = node.attributes.find(name);
    return found == node.attributes.end() ? std::nullopt : std::optional(found->second.ints);
}

std::optional<Dims> Step::integers(const std::string& name, std::size_t operand) const {
    if (!has(operand)) {
        return integers(name);
    }
    if (!in(operand).values) {
        return std::nullopt;
    }
    Dims whole;
    for (const double value : *in(operand).values) {
        constexpr double far = 9e18;
        whole.push_back(value > far    ? std::numeric_limits<std::int64_t>::max()
                        : value < -far ? std::numeric_limits<std::int64_t>::min() + 1
                                       : static_cast<std::int64_t>(value));
    }
    return whole;
}

void Step::give(Dims dims, std::size_t like) {
    if (outputs.empty()) {
        return;
    }
    outputs[0].dims = std::move(dims);
    outputs[0].element = outputs[0].element != 0 ? outputs[0].element : in(like).element;
}

std::int64_t Step::learned(std::size_t from, std::size_t to) {
    std::int64_t all = 0;
    for (std::size_t i = from; i < std::min(to, inputs_.size()); ++i) {
        for (const Stored& tensor : inputs_[i].made_of) {
            all += counted_.insert(tensor.name) ? tensor.elements : 0;
        }
    }
    return all;
}

std::int64_t Step::learned_constants() {
    const bool factors = node.op == "Mul";
    if (!factors && node.op != "Add" && node.op != "Sum" && node.op != "Concat") {
        return 0; // means and deviations of the data, exponents
    }
    std::int64_t all = 0;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const Value& value = inputs_[i];
        const bool real = value.element == kFloat || value.element == kHalf ||
                          value.element == kBfloat16 || value.element == kDouble;
        const bool several = value.elements().value_or(0) > 1;
        if (value.origin == Origin::constant && real && several &&
            (!factors || long_axes(value) == 1)) {
            all += learned(i, i + 1);
        }
    }
    return all;
}

model::TensorTypes Step::types() const {
    const auto of = [](const Value& value) {
        return data_type_of(value.stored != 0 ? value.stored : value.element);
    };
    const bool quantised = in(0).stored != 0 && in(1).stored != 0;
    model::TensorTypes types;
    types.input = quantised ? of(in(0)) : data_type_of(in(0).element);
    types.weight = inputs_.size() > 1 && in(1).element != 0
                       ? (quantised ? of(in(1)) : data_type_of(in(1).element))
                       : types.input;
    types.output =
        outputs.empty() || outputs[0].element == 0 ? types.input : data_type_of(outputs[0].element);
    return types;
}

void Step::add(model::Op op, model::Shape shape, std::int64_t parameters, std::string suffix,
               std::int64_t count) {
    model::Layer layer;
    layer.name = !node.name.empty()      ? node.name
                 : !node.outputs.empty() ? node.outputs.front()
                                         : node.op;
    layer.name += suffix;
    layer.op = op;
    layer.shape = std::move(shape);
    layer.types = types();
    layer.count = count;
    layer.parameters = parameters;
    layers.push_back(std::move(layer));
    outcome = Outcome::costed;
}

void Step::add_elementwise(const std::string& fn, std::int64_t parameters) {
    const Value& result = outputs.empty() ? in(0) : outputs[0];
    const auto all = result.elements();
    if (!all) {
        return fail("its sizes are not known");
    }
    const std::int64_t cols =
        result.rank() > 0 ? std::max<std::int64_t>(result.dims->back(), 1) : 1;
    if (*all == 0) {
        outcome = Outcome::view; // of nothing
        return;
    }
    add(model::Op::elementwise, model::ElementwiseShape{*all / cols, cols, fn}, parameters);
}

void Step::fail(std::string reason) {
    outcome = Outcome::unknown;
    why = std::move(reason);
    layers.clear();
}

} // namespace eyeroof::formats::onnx
