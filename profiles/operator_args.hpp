// An operator's arguments: tensors with their elements and types, and the values of the others.
#pragma once

#include "base/checked.hpp"
#include "profiles/operator_work.hpp"

#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::profiles {

using Dims = std::vector<std::int64_t>;

// Elements of a tensor; 0 for none, and for more than a layer may have.
inline Count elements_of(const Dims& dims) {
    Count all = dims.empty() ? 0 : 1;
    for (const Count dim : dims) {
        const auto next = dim > 0 ? checked_mul(all, dim) : std::nullopt;
        if (!next || *next > 1'000'000'000'000) {
            return 0;
        }
        all = *next;
    }
    return all;
}

// Bytes of one element of a framework's type. Types that are not known have 4.
inline int element_bytes(std::string_view type) {
    struct Size {
        std::string_view name;
        int bytes;
    };
    constexpr std::array kSizes = {
        Size{"double", 8},   Size{"long", 8},          Size{"long int", 8},    Size{"int64", 8},
        Size{"Long", 8},     Size{"c10::complex", 8},  Size{"c10::Half", 2},   Size{"Half", 2},
        Size{"BFloat16", 2}, Size{"c10::BFloat16", 2}, Size{"short", 2},       Size{"short int", 2},
        Size{"bool", 1},     Size{"unsigned char", 1}, Size{"signed char", 1}, Size{"char", 1},
        Size{"Byte", 1},     Size{"Char", 1},          Size{"c10::Float8", 1}, Size{"Float8", 1},
        Size{"Bool", 1},     Size{"Double", 8}};
    int bytes = 4;
    std::size_t longest = 0;
    for (const Size& size : kSizes) {
        if (type.starts_with(size.name) && size.name.size() > longest) {
            bytes = size.bytes;
            longest = size.name.size();
        }
    }
    return bytes;
}

class OperatorArgs {
  public:
    explicit OperatorArgs(const Operator& op) : op_(op) {}

    std::size_t size() const { return op_.input_dims.size(); }
    const Dims& dims(std::size_t i) const {
        static const Dims none;
        return i < op_.input_dims.size() ? op_.input_dims[i] : none;
    }
    const Dims& strides(std::size_t i) const { // empty: not recorded
        static const Dims none;
        return i < op_.input_strides.size() ? op_.input_strides[i] : none;
    }
    Count elements(std::size_t i) const { return elements_of(dims(i)); }
    bool tensor(std::size_t i) const { return elements(i) > 0; }
    std::string_view type_name(std::size_t i) const {
        return i < op_.input_types.size() ? std::string_view(op_.input_types[i])
                                          : std::string_view();
    }
    // fp32 where it is not known. Whole numbers of 8 bytes are taken as two of 4.
    model::DataType type(std::size_t i) const {
        if (const auto known = data_type_of(type_name(i))) {
            return *known;
        }
        switch (element_bytes(type_name(i))) {
        case 1:
            return model::DataType::int8;
        case 2:
            return model::DataType::int16;
        case 8:
            return model::DataType::int32;
        default:
            return model::DataType::fp32;
        }
    }
    // Elements of type(i) in one element of the tensor.
    Count words(std::size_t i) const {
        return element_bytes(type_name(i)) == 8 && type(i) != model::DataType::fp64 ? 2 : 1;
    }
    Count bytes(std::size_t i) const { return elements(i) * element_bytes(type_name(i)); }

    // "-1", "[1, 2]", "True". Empty where nothing was recorded.
    std::string_view text(std::size_t i) const {
        return i < op_.concrete_inputs.size() ? std::string_view(op_.concrete_inputs[i])
                                              : std::string_view();
    }
    bool truth(std::size_t i) const { return text(i).starts_with("True"); }
    std::vector<std::int64_t> numbers(std::size_t i) const {
        std::vector<std::int64_t> found;
        const std::string_view all = text(i);
        const char* at = all.data();
        const char* const end = all.data() + all.size();
        while (at != end) {
            std::int64_t value = 0;
            const auto [stop, error] = std::from_chars(at, end, value);
            if (error == std::errc{}) {
                found.push_back(value);
                at = stop;
            } else {
                ++at;
            }
        }
        return found;
    }
    std::optional<std::int64_t> number(std::size_t i) const {
        const auto all = numbers(i);
        return all.size() == 1 ? std::optional(all[0]) : std::nullopt;
    }
    // Elements of all tensors of a list.
    Count listed(std::size_t argument) const {
        Count sum = 0;
        for (const ListedTensor& tensor : op_.listed) {
            sum += tensor.argument == argument ? elements_of(tensor.dims) : 0;
        }
        return sum;
    }

  private:
    const Operator& op_;
};

// The dimension of more than one element along which a tensor's elements are neighbors; nullopt
// where strides are not recorded or two dimensions qualify.
inline std::optional<std::size_t> fastest(const OperatorArgs& args, std::size_t tensor) {
    const Dims& dims = args.dims(tensor);
    const Dims& strides = args.strides(tensor);
    std::optional<std::size_t> found;
    for (std::size_t i = 0; strides.size() == dims.size() && i < dims.size(); ++i) {
        if (dims[i] > 1 && strides[i] == 1) {
            if (found) {
                return std::nullopt;
            }
            found = i;
        }
    }
    return found;
}

// Are neighbors of one side no neighbors of the other? Then single elements are scattered, as in a
// pass between layouts.
inline bool transposes(const OperatorArgs& args) {
    const auto to = fastest(args, 0), from = fastest(args, 1);
    return args.dims(0).size() == args.dims(1).size() && to && from && *to != *from;
}

// Do the elements of one side lie in another order or further apart than those of the other? Then
// a copy addresses each on its own.
inline bool strided(const OperatorArgs& args) {
    const Dims& dims = args.dims(0);
    const Dims &to = args.strides(0), &from = args.strides(1);
    if (dims != args.dims(1) || to.size() != dims.size() || from.size() != dims.size()) {
        return false;
    }
    bool apart = false;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        apart = apart || (dims[i] > 1 && to[i] != from[i]);
    }
    return apart;
}

// "aten::add_" -> "add", "aten::_foreach_add_" -> "_foreach_add".
inline std::string_view operator_stem(std::string_view name) {
    const std::size_t colon = name.rfind("::");
    name = colon == std::string_view::npos ? name : name.substr(colon + 2);
    return name.size() > 1 && name.ends_with('_') && !name.ends_with("__")
               ? name.substr(0, name.size() - 1)
               : name;
}

// Rows and columns of so many elements; columns a divisor at hand. nullopt beyond a layer's sizes.
inline std::optional<std::pair<Count, Count>> rows_and_columns(Count elements, Count columns) {
    if (elements <= 0) {
        return std::nullopt;
    }
    if (columns <= 0 || elements % columns != 0) {
        columns = 1;
    }
    while (elements / columns > model::kMaxDimension) {
        columns *= 2;
        elements += elements % columns == 0 ? 0 : columns - elements % columns;
    }
    return columns > model::kMaxDimension ? std::nullopt
                                          : std::optional(std::pair(elements / columns, columns));
}

// A pointwise function over so many elements.
inline std::optional<OperatorLayer> pointwise_layer(std::string fn, Count elements, Count columns,
                                                    model::TensorTypes types,
                                                    model::Direction direction = {}) {
    const auto sizes = rows_and_columns(elements, columns);
    if (!sizes) {
        return std::nullopt;
    }
    OperatorLayer made;
    made.layer.op = model::Op::elementwise;
    made.layer.shape = model::ElementwiseShape{sizes->first, sizes->second, std::move(fn)};
    made.layer.types = types;
    made.layer.direction = direction;
    return made;
}

} // namespace eyeroof::profiles
