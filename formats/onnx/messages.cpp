#include "formats/onnx/messages.hpp"

#include <algorithm>

namespace eyeroof::formats::onnx {

void Messages::integers(const Field& field, std::vector<std::int64_t>& values) {
    const std::size_t before = values.size();
    broken_ |= !each_varint(field, [&](std::uint64_t v) {
        if (values.size() < kMostValues) {
            values.push_back(static_cast<std::int64_t>(v));
        }
        return values.size() < kMostValues;
    });
    store((values.size() - before) * sizeof(std::int64_t));
}

void Messages::numbers(const Field& field, std::vector<double>& values) {
    broken_ |= !each_varint(field, [&](std::uint64_t v) {
        const bool few = values.size() <= kMostValues; // one more: they are weights
        if (few) {
            values.push_back(static_cast<double>(static_cast<std::int64_t>(v)));
        }
        return few;
    });
}

std::string Messages::text(const Field& field) {
    std::string copy(field.bytes.substr(0, 1000));
    std::replace_if(
        copy.begin(), copy.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '_');
    store(sizeof(std::string) + copy.size());
    return copy;
}

void Messages::pass(const char* until) {
    told_ = told_ == nullptr ? until : told_;
    if (passed_ && until - told_ >= kPassedAtOnce) {
        passed_(until);
        told_ = until;
    }
}

} // namespace eyeroof::formats::onnx
