#include "profiles/cupti/nvtx_stack.hpp"

#include <atomic>

namespace eyeroof::profiles {

std::vector<OpenRange>& nvtx_ranges() {
    thread_local std::vector<OpenRange> ranges;
    return ranges;
}

void push_nvtx(const char* text) {
    static std::atomic<std::int64_t> next{0};
    nvtx_ranges().push_back({text != nullptr ? text : "", next++});
}

void pop_nvtx() {
    if (!nvtx_ranges().empty()) {
        nvtx_ranges().pop_back();
    }
}

} // namespace eyeroof::profiles
