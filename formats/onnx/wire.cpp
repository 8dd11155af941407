#include "formats/onnx/wire.hpp"

#include <bit>

namespace eyeroof::formats::onnx {

float Field::real() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value));
}

std::optional<Field> Fields::fail() {
    broken_ = true;
    rest_ = {};
    return std::nullopt;
}

bool Fields::varint(std::uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
        const auto byte = static_cast<std::uint8_t>(rest_.front());
        rest_.remove_prefix(1);
        value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
        if ((byte & 0x80U) == 0) {
            return true;
        }
    }
    return false;
}

bool Fields::fixed(std::size_t bytes, std::uint64_t& value) {
    if (rest_.size() < bytes) {
        return false;
    }
    value = 0;
    for (std::size_t i = 0; i < bytes; ++i) { // little endian
        value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(rest_[i])) << (8 * i);
    }
    rest_.remove_prefix(bytes);
    return true;
}

std::optional<Field> Fields::next() {
    std::uint64_t tag = 0;
    if (rest_.empty()) {
        return std::nullopt;
    }
    if (!varint(tag) || tag >> 32U != 0 || tag >> 3U == 0) {
        return fail();
    }
    Field field;
    field.number = static_cast<std::uint32_t>(tag >> 3U);
    const auto kind = static_cast<int>(tag & 7U);
    if (kind != 0 && kind != 1 && kind != 2 && kind != 5) {
        return fail(); // groups are of before protocol buffers 3
    }
    field.wire = static_cast<Wire>(kind);
    const bool fine = field.wire == Wire::fixed64   ? fixed(8, field.value)
                      : field.wire == Wire::fixed32 ? fixed(4, field.value)
                                                    : varint(field.value);
    if (!fine || (field.wire == Wire::bytes && field.value > rest_.size())) {
        return fail();
    }
    if (field.wire == Wire::bytes) {
        field.bytes = rest_.substr(0, static_cast<std::size_t>(field.value));
        rest_.remove_prefix(field.bytes.size());
    }
    return field;
}

} // namespace eyeroof::formats::onnx
