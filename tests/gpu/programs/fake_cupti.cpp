// A FAKE libcupti that is of another version, for the test of the refusal. It does nothing else.
#include <cstdint>

extern "C" int cuptiGetVersion(std::uint32_t* version) {
    *version = 11; // of CUDA 10
    return 0;
}
