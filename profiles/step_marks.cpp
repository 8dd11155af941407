#include "profiles/step_marks.hpp"

#include "base/ascii.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace eyeroof::profiles {

namespace {

// The whole number behind the first of these words; nullopt without one.
std::optional<std::int64_t> number_behind(std::string_view text, std::string_view word) {
    const std::size_t at = text.find(word);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    std::int64_t value = 0;
    const char* const begin = text.data() + at + word.size();
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
    return error == std::errc{} ? std::optional(value) : std::nullopt;
}

// The whole number before a word: "3 gen reqs".
std::optional<std::int64_t> number_before(std::string_view text, std::string_view word) {
    const std::size_t at = text.find(word);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    std::size_t begin = at;
    while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') {
        --begin;
    }
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + begin, text.data() + at, value);
    return error == std::errc{} ? std::optional(value) : std::nullopt;
}

std::string phase_of(std::int64_t prompts, std::int64_t decodes) {
    return prompts > 0 && decodes > 0 ? "mixed" : decodes > 0 ? "decode" : "prefill";
}

} // namespace

std::optional<std::string> step_kind(std::string_view range) {
    if (range.starts_with("execute_")) { // vLLM
        const auto prompts = number_behind(range, "context_");
        const auto decodes = number_behind(range, "generation_");
        return prompts && decodes ? std::optional(phase_of(*prompts, *decodes)) : std::nullopt;
    }
    if (range.starts_with("step[")) { // SGLang
        const std::string_view inside = range.substr(5);
        const std::string word = lowered(inside.substr(0, inside.find_first_of(" ]")));
        return word.empty() ? std::nullopt
                            : std::optional(word == "extend" ? std::string("prefill") : word);
    }
    if (range.find("_forward_step ") != std::string_view::npos) { // TensorRT-LLM
        const auto prompts = number_before(range, " ctx reqs");
        const auto decodes = number_before(range, " gen reqs");
        return prompts || decodes
                   ? std::optional(phase_of(prompts.value_or(0), decodes.value_or(0)))
                   : std::optional(std::string("forward"));
    }
    return std::nullopt;
}

std::string_view step_mark(std::string_view path) {
    while (!path.empty()) {
        const std::size_t end = std::min(path.find(kRangeJoint), path.size());
        if (step_kind(path.substr(0, end))) {
            return path.substr(0, end);
        }
        path.remove_prefix(std::min(end + kRangeJoint.size(), path.size()));
    }
    return {};
}

std::string joined_range(std::string_view outer, std::string_view inner) {
    std::string path(outer);
    if (!outer.empty() && !inner.empty()) {
        path += kRangeJoint;
    }
    return path.append(inner);
}

std::string_view innermost_range(std::string_view path) {
    const std::size_t at = path.rfind(kRangeJoint);
    return at == std::string_view::npos ? path : path.substr(at + kRangeJoint.size());
}

std::string_view outer_ranges(std::string_view path) {
    const std::size_t at = path.rfind(kRangeJoint);
    return at == std::string_view::npos ? std::string_view() : path.substr(0, at);
}

} // namespace eyeroof::profiles
