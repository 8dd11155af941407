// The NVTX ranges that are open on each thread, innermost last.
// Fed and asked by the injected library's callbacks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace eyeroof::profiles {

struct OpenRange {
    std::string text;
    std::int64_t number = 0; // of all ranges that were ever pushed, in order
};

// Of the calling thread.
std::vector<OpenRange>& nvtx_ranges();
void push_nvtx(const char* text);
void pop_nvtx();

} // namespace eyeroof::profiles
