#include "model/base/checked.hpp"
#include "study/formats/onnx/messages.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace eyeroof::study::onnx {

namespace {

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
    model::Count product = 1;
    for (const std::int64_t dim : dims) {
        const auto next = dim < 0 ? std::nullopt : model::checked_mul(product, dim);
        if (!next) {
            return std::nullopt;
        }
        product = *next;
    }
    return static_cast<std::size_t>(product);
}

// What stands in the fields of a tensor that list its elements one by one.
void take_listed(Messages& messages, const Field& f, std::vector<double>& listed) {
    if (f.number == 5 || f.number == 7) { // int32_data, int64_data
        messages.numbers(f, listed);
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
        constant.values = raw.empty() ? listed : raw_values(raw, constant.element);
        if (constant.values && constant.values->size() != *elements) {
            constant.values.reset(); // the data lies in another file, or not at all
        }
    }
    messages.store(constant.values ? constant.values->size() * sizeof(double) : 0);
    return named;
}

} // namespace eyeroof::study::onnx
