// Goes over the messages of a file within limits, and remembers how that ended.
#pragma once

#include "formats/onnx/graph.hpp"
#include "formats/onnx/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eyeroof::formats::onnx {

// Constants of more elements than this are weights, not shapes.
inline constexpr std::size_t kMostValues = 4096;

// How many fields of the wire format a file may have, and what its names, sizes
// and small constants may take in memory: bytes that mean nothing are not gone
// through to their end.
struct Limits {
    std::size_t fields = 100'000'000;
    std::size_t stored_bytes = std::size_t{1} << 30U;
};

// Reports from time to time up to where the bytes were read: nothing before it is
// looked at again, so that pages of a mapped file can be given back.
using BytesPassed = std::function<void(const char* until)>;

class Messages {
  public:
    Messages(BytesPassed passed, const Limits& limits)
        : passed_(std::move(passed)), limits_(limits) {}

    // Calls `take` with each field of a message until one of the limits is reached.
    template <class Take> void each(std::string_view message, Take take) {
        Fields fields(message);
        while (!full()) {
            const auto field = fields.next();
            if (!field) {
                break;
            }
            ++fields_;
            take(*field);
            pass(message.data() + fields.offset());
        }
        broken_ = broken_ || fields.broken();
    }
    // At most kMostValues; the field's others are not looked at.
    void integers(const Field& field, std::vector<std::int64_t>& values);
    void numbers(const Field& field, std::vector<double>& values);
    // Without control characters, cut after 1000 bytes: longer names are no one's.
    std::string text(const Field& field);

    void store(std::size_t bytes) { stored_ += bytes; }
    bool broken() const { return broken_; }
    bool full() const { return stored_ > limits_.stored_bytes || fields_ > limits_.fields; }

  private:
    void pass(const char* until);

    static constexpr std::ptrdiff_t kPassedAtOnce = std::ptrdiff_t{1} << 25U;

    BytesPassed passed_;
    Limits limits_;
    const char* told_ = nullptr;
    std::size_t stored_ = 0, fields_ = 0;
    bool broken_ = false;
};

// A TensorProto with its name; values only of those that may be a shape and lie in the file.
std::pair<std::string, Constant> read_tensor(Messages& messages, std::string_view bytes);

// Of a repeated field of floats, packed or one by one: at most kMostValues.
std::vector<double> read_floats(const Field& field);

} // namespace eyeroof::formats::onnx
