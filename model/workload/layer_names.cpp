// Names of operators, directions and data types, and back.
#include "model/workload/operators.hpp"

#include <array>
#include <span>
#include <utility>

namespace eyeroof::model {

namespace {

template <class E> using Name = std::pair<E, std::string_view>;

// The first name of a value is the one that is printed.
constexpr std::array<Name<Direction>, 5> kDirections = {{{Direction::fwd, "fwd"},
                                                         {Direction::bwd_data, "bwd_data"},
                                                         {Direction::bwd_weight, "bwd_weight"},
                                                         {Direction::fwd, "forward"},
                                                         {Direction::fwd, "infer"}}};

constexpr std::array<Name<DataType>, kDataTypes> kTypes = {{{DataType::fp64, "fp64"},
                                                            {DataType::fp32, "fp32"},
                                                            {DataType::tf32, "tf32"},
                                                            {DataType::fp16, "fp16"},
                                                            {DataType::bf16, "bf16"},
                                                            {DataType::fp8, "fp8"},
                                                            {DataType::mxfp8, "mxfp8"},
                                                            {DataType::mxfp6, "mxfp6"},
                                                            {DataType::fp4, "fp4"},
                                                            {DataType::mxfp4, "mxfp4"},
                                                            {DataType::nvfp4, "nvfp4"},
                                                            {DataType::int32, "int32"},
                                                            {DataType::int16, "int16"},
                                                            {DataType::int8, "int8"},
                                                            {DataType::int4, "int4"}}};

constexpr std::array<Name<DataType>, 14> kTypeAliases = {{{DataType::fp64, "float64"},
                                                          {DataType::fp64, "double"},
                                                          {DataType::fp32, "float32"},
                                                          {DataType::fp32, "float"},
                                                          {DataType::fp16, "float16"},
                                                          {DataType::fp16, "half"},
                                                          {DataType::bf16, "bfloat16"},
                                                          {DataType::fp8, "float8"},
                                                          {DataType::fp8, "e4m3"},
                                                          {DataType::fp8, "e5m2"},
                                                          {DataType::fp4, "float4"},
                                                          {DataType::fp4, "e2m1"},
                                                          {DataType::int8, "uint8"},
                                                          {DataType::int16, "uint16"}}};

template <class E> std::string_view name_of(std::span<const Name<E>> names, E value) {
    for (const auto& [candidate, name] : names) {
        if (candidate == value) {
            return name;
        }
    }
    return "unknown";
}

template <class E>
std::optional<E> value_of(std::span<const Name<E>> names, std::string_view wanted) {
    for (const auto& [candidate, name] : names) {
        if (name == wanted) {
            return candidate;
        }
    }
    return std::nullopt;
}

template <class E> std::vector<std::string_view> all_names(std::span<const Name<E>> names) {
    std::vector<std::string_view> list;
    for (const auto& entry : names) {
        list.push_back(entry.second);
    }
    return list;
}

} // namespace

std::string_view op_name(Op op) {
    return traits_of(op).name;
}
std::string_view direction_name(Direction direction) {
    return name_of<Direction>(kDirections, direction);
}
std::string_view data_type_name(DataType type) {
    return name_of<DataType>(kTypes, type);
}

std::optional<Op> op_from_name(std::string_view name) {
    for (const OperatorTraits& traits : operators()) {
        if (traits.name == name) {
            return traits.op;
        }
    }
    return std::nullopt;
}
std::optional<Direction> direction_from_name(std::string_view name) {
    return value_of<Direction>(kDirections, name);
}
std::optional<DataType> data_type_from_name(std::string_view name) {
    const auto type = value_of<DataType>(kTypes, name);
    return type ? type : value_of<DataType>(kTypeAliases, name);
}

std::vector<std::string_view> op_names() {
    std::vector<std::string_view> names;
    for (const OperatorTraits& traits : operators()) {
        names.push_back(traits.name);
    }
    return names;
}
std::vector<std::string_view> data_type_names() {
    return all_names<DataType>(kTypes);
}

int storage_bits(DataType type) {
    switch (type) {
    case DataType::fp64:
        return 64;
    case DataType::fp32:
    case DataType::tf32:
    case DataType::int32:
        return 32;
    case DataType::fp16:
    case DataType::bf16:
    case DataType::int16:
        return 16;
    case DataType::fp8:
    case DataType::mxfp8:
    case DataType::int8:
        return 8;
    case DataType::mxfp6:
        return 6;
    case DataType::fp4:
    case DataType::mxfp4:
    case DataType::nvfp4:
    case DataType::int4:
        break;
    }
    return 4;
}

BlockScale block_scale(DataType type) {
    switch (type) {
    case DataType::mxfp8:
    case DataType::mxfp6:
    case DataType::mxfp4:
        return {32, 8};
    case DataType::nvfp4:
        return {16, 8};
    default:
        return {};
    }
}

double bytes_per_element(DataType type) {
    const BlockScale scale = block_scale(type);
    const double share =
        scale.elements > 0 ? static_cast<double>(scale.bits) / scale.elements : 0.0;
    return (storage_bits(type) + share) / 8.0;
}

std::optional<Count> stored_bytes(DataType type, Count elements) {
    const BlockScale scale = block_scale(type);
    const auto bits = checked_mul(elements, storage_bits(type));
    if (!bits || scale.elements == 0) {
        return bits ? std::optional(ceil_div(*bits, 8)) : std::nullopt;
    }
    return checked_add(ceil_div(*bits, 8), ceil_div(elements, scale.elements) * scale.bits / 8);
}

bool is_narrow_float(DataType type) {
    switch (type) {
    case DataType::fp8:
    case DataType::mxfp8:
    case DataType::mxfp6:
    case DataType::fp4:
    case DataType::mxfp4:
    case DataType::nvfp4:
        return true;
    default:
        return false;
    }
}

} // namespace eyeroof::model
