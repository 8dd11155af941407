// Folding of operators that move, repeat or select elements.
#include "formats/onnx/fold.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

namespace eyeroof::formats::onnx {

namespace {

using Position = Dims; // of an element, an index for each axis

Dims strides_along(const Dims& dims) {
    Dims strides(dims.size(), 1);
    for (std::size_t axis = dims.size(); axis-- > 1;) {
        strides[axis - 1] = strides[axis] * dims[axis];
    }
    return strides;
}

Position position_of(std::size_t at, const Dims& dims) {
    Position position(dims.size(), 0);
    auto rest = static_cast<std::int64_t>(at);
    for (std::size_t axis = dims.size(); axis-- > 0;) {
        position[axis] = rest % dims[axis];
        rest /= dims[axis];
    }
    return position;
}

// The element of a tensor at a position; nothing where it lies outside.
std::optional<double> element(const Value& value, const Position& position) {
    const Dims strides = strides_along(*value.dims);
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < position.size(); ++axis) {
        if (position[axis] < 0 || position[axis] >= (*value.dims)[axis]) {
            return std::nullopt;
        }
        at += position[axis] * strides[axis];
    }
    return (*value.values)[static_cast<std::size_t>(at)];
}

// Each element of the output by its position.
Values by_position(const Step& step,
                   const std::function<std::optional<double>(const Position&)>& value) {
    const Dims& dims = *step.outputs.front().dims;
    const auto all = static_cast<std::size_t>(product(dims, 0, dims.size()).value_or(0));
    std::vector<double> values;
    for (std::size_t i = 0; i < all; ++i) {
        const auto one = value(position_of(i, dims));
        if (!one) {
            return std::nullopt;
        }
        values.push_back(*one);
    }
    return values;
}

std::int64_t wrapped(double index, std::int64_t size) {
    const std::int64_t at = whole_of(index);
    return at < 0 ? at + size : at;
}

Values gathered(const Step& step) {
    const Value& x = step.in(0);
    const Value& indices = step.in(1);
    const auto axis = axis_of(x, step.integer("axis", 0));
    if (!axis) {
        return std::nullopt;
    }
    const auto more = static_cast<std::ptrdiff_t>(*axis);
    const auto rank = static_cast<std::ptrdiff_t>(indices.dims->size());
    return by_position(step, [&](const Position& p) -> std::optional<double> {
        const auto index = element(indices, Position(p.begin() + more, p.begin() + more + rank));
        if (!index) {
            return std::nullopt;
        }
        Position from(p.begin(), p.begin() + more);
        from.push_back(wrapped(*index, (*x.dims)[*axis]));
        from.insert(from.end(), p.begin() + more + rank, p.end());
        return element(x, from);
    });
}

Values elements_gathered(const Step& step) {
    const Value& x = step.in(0);
    const auto axis = axis_of(x, step.integer("axis", 0));
    if (!axis || x.rank() != step.in(1).rank()) {
        return std::nullopt;
    }
    return by_position(step, [&](Position p) -> std::optional<double> {
        const auto index = element(step.in(1), p);
        p[*axis] = wrapped(index.value_or(0.0), (*x.dims)[*axis]);
        return index ? element(x, p) : std::nullopt;
    });
}

Values nd_gathered(const Step& step) {
    const Value& x = step.in(0);
    const Value& indices = step.in(1);
    if (step.integer("batch_dims", 0) != 0 || indices.rank() < 1) {
        return std::nullopt;
    }
    const std::int64_t width = indices.dims->back();
    const auto outer = static_cast<std::ptrdiff_t>(indices.dims->size() - 1);
    return by_position(step, [&](const Position& p) -> std::optional<double> {
        Position from;
        for (std::int64_t i = 0; i < width; ++i) {
            Position at(p.begin(), p.begin() + outer);
            at.push_back(i);
            const auto index = element(indices, at);
            if (!index || i >= x.rank()) {
                return std::nullopt;
            }
            from.push_back(wrapped(*index, (*x.dims)[static_cast<std::size_t>(i)]));
        }
        from.insert(from.end(), p.begin() + outer, p.end());
        return element(x, from);
    });
}

Values expanded(const Step& step) {
    std::vector<double> values;
    for (const std::size_t at : stretched(*step.outputs.front().dims, *step.in(0).dims)) {
        values.push_back((*step.in(0).values)[at]);
    }
    return values;
}

Values tiled(const Step& step) {
    return by_position(step, [&](Position p) {
        for (std::size_t axis = 0; axis < p.size(); ++axis) {
            p[axis] %= (*step.in(0).dims)[axis];
        }
        return element(step.in(0), p);
    });
}

Values concatenated(const Step& step) {
    const auto axis = axis_of(step.in(0), step.integer("axis", 0));
    if (!axis) {
        return std::nullopt;
    }
    return by_position(step, [&](Position p) -> std::optional<double> {
        for (std::size_t i = 0; i < step.inputs(); ++i) {
            const std::int64_t size = (*step.in(i).dims)[*axis];
            if (p[*axis] < size) {
                return element(step.in(i), p);
            }
            p[*axis] -= size;
        }
        return std::nullopt;
    });
}

Values padded(const Step& step) {
    const Value& x = step.in(0);
    const auto pads = step.integers("pads", 1);
    if (step.text("mode", "constant") != "constant" || step.has(3) || !pads ||
        pads->size() != 2 * x.dims->size()) {
        return std::nullopt;
    }
    const double filler = scalar_of(step, 2).value_or(step.real("value", 0.0));
    return by_position(step, [&](Position p) -> std::optional<double> {
        for (std::size_t axis = 0; axis < p.size(); ++axis) {
            p[axis] -= (*pads)[axis];
        }
        return element(x, p).value_or(filler);
    });
}

Values elements_scattered(const Step& step) {
    const Value& x = step.in(0);
    const Value& indices = step.in(1);
    const auto axis = axis_of(x, step.integer("axis", 0));
    if (!axis || step.text("reduction", "none") != "none" || indices.dims != step.in(2).dims ||
        indices.rank() != x.rank()) {
        return std::nullopt;
    }
    std::vector<double> values = *x.values;
    const Dims strides = strides_along(*x.dims);
    for (std::size_t i = 0; i < indices.values->size(); ++i) {
        Position p = position_of(i, *indices.dims);
        p[*axis] = wrapped((*indices.values)[i], (*x.dims)[*axis]);
        std::int64_t at = 0;
        for (std::size_t a = 0; a < p.size(); ++a) {
            if (p[a] < 0 || p[a] >= (*x.dims)[a]) {
                return std::nullopt;
            }
            at += p[a] * strides[a];
        }
        values[static_cast<std::size_t>(at)] = (*step.in(2).values)[i];
    }
    return values;
}

Values nd_scattered(const Step& step) {
    const Value& x = step.in(0);
    const Value& indices = step.in(1);
    if (step.text("reduction", "none") != "none" || indices.rank() < 1 ||
        indices.dims->back() < 1 || indices.dims->back() > x.rank()) {
        return std::nullopt;
    }
    const auto width = static_cast<std::size_t>(indices.dims->back());
    const Dims strides = strides_along(*x.dims);
    const auto slice = static_cast<std::size_t>(strides[width - 1]);
    const std::size_t slices = indices.values->size() / width;
    if (step.in(2).values->size() != slices * slice) {
        return std::nullopt;
    }
    std::vector<double> values = *x.values;
    for (std::size_t i = 0; i < slices; ++i) {
        std::int64_t at = 0;
        for (std::size_t a = 0; a < width; ++a) {
            const std::int64_t index = wrapped((*indices.values)[i * width + a], (*x.dims)[a]);
            if (index < 0 || index >= (*x.dims)[a]) {
                return std::nullopt;
            }
            at += index * strides[a];
        }
        std::copy_n(step.in(2).values->begin() + static_cast<std::ptrdiff_t>(i * slice), slice,
                    values.begin() + at);
    }
    return values;
}

Values triangle_of(const Step& step) {
    const std::int64_t k = whole_of(scalar_of(step, 1).value_or(0.0));
    const bool upper = step.integer("upper", 1) != 0;
    if (step.in(0).rank() < 2) {
        return std::nullopt;
    }
    return by_position(step, [&](const Position& p) {
        const std::int64_t off = p[p.size() - 1] - p[p.size() - 2];
        const bool kept = upper ? off >= k : off <= k;
        return kept ? element(step.in(0), p) : std::optional(0.0);
    });
}

Values hot_of(const Step& step) {
    const Value& indices = step.in(0);
    std::int64_t axis = step.integer("axis", -1);
    axis += axis < 0 ? indices.rank() + 1 : 0;
    if (axis < 0 || axis > indices.rank() || step.inputs() < 3 || step.in(2).values->size() != 2) {
        return std::nullopt;
    }
    const std::int64_t depth = whole_of(scalar_of(step, 1).value_or(0.0));
    return by_position(step, [&](Position p) -> std::optional<double> {
        const std::int64_t here = p[static_cast<std::size_t>(axis)];
        p.erase(p.begin() + axis);
        const auto index = element(indices, p);
        const bool hot = index && wrapped(*index, depth) == here;
        return (*step.in(2).values)[hot ? 1 : 0];
    });
}

using Folder = Values (*)(const Step&);

const std::map<std::string_view, Folder>& folders() {
    static const std::map<std::string_view, Folder> all = {{"Gather", gathered},
                                                           {"GatherElements", elements_gathered},
                                                           {"GatherND", nd_gathered},
                                                           {"Expand", expanded},
                                                           {"Tile", tiled},
                                                           {"Concat", concatenated},
                                                           {"Pad", padded},
                                                           {"ScatterElements", elements_scattered},
                                                           {"Scatter", elements_scattered},
                                                           {"ScatterND", nd_scattered},
                                                           {"Trilu", triangle_of},
                                                           {"OneHot", hot_of}};
    return all;
}

} // namespace

Values fold_structure(const Step& step) {
    const auto folder = folders().find(step.node.op);
    return folder != folders().end() ? folder->second(step) : std::nullopt;
}

} // namespace eyeroof::formats::onnx
