#include "profiles/cupti/nvtx_stack.hpp"

#include <atomic>
#include <string_view>

namespace eyeroof::profiles {

namespace {

// How many ranges are open above the deepest that is kept.
std::size_t& too_deep() {
    thread_local std::size_t ranges = 0;
    return ranges;
}

} // namespace

std::vector<OpenRange>& nvtx_ranges() {
    thread_local std::vector<OpenRange> ranges;
    return ranges;
}

void push_nvtx(const char* text) {
    constexpr std::size_t kDeepest = 10'000; // a program that only pushes
    constexpr std::size_t kLongestText = 4096;
    static std::atomic<std::int64_t> next{0};
    const std::string_view given = text != nullptr ? text : "";
    if (nvtx_ranges().size() >= kDeepest) {
        ++too_deep();
    } else {
        nvtx_ranges().push_back({std::string(given.substr(0, kLongestText)), next++});
    }
}

void pop_nvtx() {
    if (too_deep() > 0) {
        --too_deep();
    } else if (!nvtx_ranges().empty()) {
        nvtx_ranges().pop_back();
    }
}

} // namespace eyeroof::profiles
