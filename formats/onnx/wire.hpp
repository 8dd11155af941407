// The wire format of protocol buffers, read in place and within bounds: field by field, nothing is
// copied or allocated.
//
// Why not a library: Debian's libonnx knows opset 17, today's exporters write
// 18 to 26; generated code would parse gigabytes of weights that no shape
// needs. The wire format has four kinds of field
// (https://protobuf.dev/programming-guides/encoding/).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace eyeroof::formats::onnx {

enum class Wire { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct Field {
    std::uint32_t number = 0;
    Wire wire = Wire::varint;
    std::uint64_t value = 0;     // of a varint or a fixed number, as its bits
    std::string_view bytes = {}; // of text, a message or packed numbers

    std::int64_t integer() const { return static_cast<std::int64_t>(value); }
    float real() const; // of fixed32
};

// Goes over the fields of a message. After the last one, or where the bytes
// break off or make no sense, next() gives nothing; broken() tells which it
// was.
class Fields {
  public:
    explicit Fields(std::string_view message) : rest_(message), size_(message.size()) {}

    std::optional<Field> next();
    bool broken() const { return broken_; }
    std::size_t offset() const { return size_ - rest_.size(); }

  private:
    std::optional<Field> fail();
    bool varint(std::uint64_t& value);
    bool fixed(std::size_t bytes, std::uint64_t& value);

    std::string_view rest_;
    std::size_t size_;
    bool broken_ = false;
};

// The numbers of a repeated field, packed or not: calls `take` with each varint
// of `field` until it says that it has enough; false where the bytes up to
// there make no sense.
template <class Take> bool each_varint(const Field& field, Take take) {
    if (field.wire != Wire::bytes) {
        take(field.value);
        return field.wire == Wire::varint;
    }
    std::uint64_t value = 0;
    int shift = 0;
    for (const char c : field.bytes) {
        const auto byte = static_cast<std::uint8_t>(c);
        if (shift > 63) {
            return false;
        }
        value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
        shift += 7;
        if ((byte & 0x80U) == 0) {
            if (!take(value)) {
                return true;
            }
            value = 0;
            shift = 0;
        }
    }
    return shift == 0;
}

} // namespace eyeroof::formats::onnx
