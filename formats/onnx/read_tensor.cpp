#include "base/checked.hpp"
#include "formats/onnx/messages.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace eyeroof::formats::onnx {

namespace {

double bfloat_value(unsigned bits) {
    const std::uint32_t wide = bits << 16U;
    float value = 0.0F;
    std::memcpy(&value, &wide, sizeof value);
    return static_cast<double>(value);
}

// IEEE 754 binary16: one sign, five bits of exponent, ten of fraction.
double half_value(unsigned bits) {
    const int exponent = static_cast<int>(bits >> 10U & 0x1FU);
    const double fraction = static_cast<double>(bits & 0x3FFU);
    const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
    if (exponent == 31) {
        return fraction == 0.0 ? sign * std::numeric_limits<double>::infinity()
                               : std::numeric_limits<double>::quiet_NaN();
    }
    return exponent == 0 ? sign * std::ldexp(fraction, -24)
                         : sign * std::ldexp(1024.0 + fraction, exponent - 25);
}

// Numbers of 16-bit floating-point patterns.
std::vector<double> widened(std::vector<double> patterns, int element) {
    for (double& value : patterns) {
        const auto bits = static_cast<unsigned>(value);
        value = element == kHalf ? half_value(bits) : bfloat_value(bits);
    }
    return patterns;
}

// Little-endian elements of `raw_data`.
std::optional<std::vector<double>> raw_values(std::string_view raw, int element) {
    const auto read = [&](auto sample) {
        using T = decltype(sample);
        std::vector<double> values(raw.size() / sizeof(T));
        for (std::size_t i = 0; i < values.size(); ++i) {
            T value;
            std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
            values[i] = static_cast<double>(value);
        }
        return values;
    };
    switch (element) {
    case kInt64:
        return read(std::int64_t{});
    case kInt32:
        return read(std::int32_t{});
    case kFloat:
        return read(float{});
    case kDouble:
        return read(double{});
    case kUint16:
        return read(std::uint16_t{});
    case kInt16:
        return read(std::int16_t{});
    case kUint32:
        return read(std::uint32_t{});
    case kUint64:
        return read(std::uint64_t{});
    case kHalf:
    case kBfloat16:
        return widened(read(std::uint16_t{}), element);
    case kBool:
    case kUint8:
        return read(std::uint8_t{});
    case kInt8:
        return read(std::int8_t{});
    default:
        return std::nullopt;
    }
}

std::optional<std::size_t> elements_of(const std::vector<std::int64_t>& dims) {
    Count product = 1;
    for (const std::int64_t dim : dims) {
        const auto next = dim < 0 ? std::nullopt : checked_mul(product, dim);
        if (!next) {
            return std::nullopt;
        }
        product = *next;
    }
    return static_cast<std::size_t>(product);
}

// What stands in the fields of a tensor that list its elements one by one. Longer lists are
// weights: those of wide elements are not looked at.
void take_listed(Messages& messages, const Field& f, std::vector<double>& listed) {
    constexpr std::size_t most = kMostValues * sizeof(double);
    if (f.number == 5 || f.number == 7) { // int32_data, int64_data
        messages.numbers(f, listed);
    } else if (f.number == 11 && f.bytes.size() <= most) { // uint64_data
        messages.numbers(f, listed);
    } else if (f.number == 10 && f.wire == Wire::bytes && f.bytes.size() <= most) { // double_data
        const auto values = raw_values(f.bytes, kDouble).value_or(std::vector<double>{});
        listed.insert(listed.end(), values.begin(), values.end());
    } else if (f.number == 4 && listed.size() <= kMostValues) { // float_data
        const std::vector<double> values = read_floats(f);
        listed.insert(listed.end(), values.begin(), values.end());
    }
}

} // namespace

std::vector<double> read_floats(const Field& field) {
    if (field.wire != Wire::bytes) {
        return {static_cast<double>(field.real())};
    }
    return raw_values(field.bytes.substr(0, kMostValues * sizeof(float)), kFloat)
        .value_or(std::vector<double>{});
}

std::pair<std::string, Constant> read_tensor(Messages& messages, std::string_view bytes) {
    std::pair<std::string, Constant> named;
    Constant& constant = named.second;
    std::string_view raw; // not looked at where it holds weights
    std::vector<double> listed;
    messages.store(sizeof named);
    messages.each(bytes, [&](const Field& f) {
        if (f.number == 1) {
            messages.integers(f, constant.dims);
        } else if (f.number == 2) {
            constant.element = static_cast<int>(f.value & 0xFFU);
        } else if (f.number == 8) {
            named.first = messages.text(f);
        } else if (f.number == 9) {
            raw = f.bytes;
        } else {
            take_listed(messages, f, listed);
        }
    });
    const auto elements = elements_of(constant.dims);
    if (elements && *elements <= kMostValues && raw.size() <= kMostValues * sizeof(double)) {
        const bool patterns = constant.element == kHalf || constant.element == kBfloat16;
        constant.values = !raw.empty() ? raw_values(raw, constant.element)
                          : patterns   ? widened(std::move(listed), constant.element)
                                       : std::move(listed);
        if (constant.values && constant.values->size() != *elements) {
            constant.values.reset(); // the data lies in another file, or not at all
        }
    }
    messages.store(constant.values ? constant.values->size() * sizeof(double) : 0);
    return named;
}

} // namespace eyeroof::formats::onnx
