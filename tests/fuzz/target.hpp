// The body of a fuzz target: any bytes to a promise, whose breach is told before the program ends.
// Used by fuzz_*.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#define EYEROOF_FUZZ_TARGET(broken_promise)                                                        \
    extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {            \
        const std::string broken =                                                                 \
            broken_promise(std::string(reinterpret_cast<const char*>(data), size));                \
        if (!broken.empty()) {                                                                     \
            std::fprintf(stderr, "%s\n", broken.c_str());                                          \
            std::abort();                                                                          \
        }                                                                                          \
        return 0;                                                                                  \
    }
