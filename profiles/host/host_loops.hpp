// The loops that find a processor's ceilings: reading, triad, multiply-add; one set per instruction
// set, chosen at run time. Each loop runs on one thread over memory that the caller owns.
#pragma once

#include <cstddef>

namespace eyeroof::profiles {

struct HostLoops {
    const char* name; // "avx2"
    std::size_t vector_bytes;
    // Sum over `count` doubles (a multiple of 128): reads each once.
    double (*read)(const double* data, std::size_t count);
    // a[i] = b[i] + s * c[i], as STREAM's triad: 24 bytes an element by STREAM's counting.
    void (*triad)(double* a, const double* b, const double* c, double s, std::size_t count);
    // `rounds` times multiply-add on registers; the result keeps the compiler from dropping it.
    double (*fma_fp64)(std::size_t rounds, double seed);
    double (*fma_fp32)(std::size_t rounds, double seed);
    double fp64_flops_per_round;
    double fp32_flops_per_round;
};

// The widest that this processor has.
const HostLoops& host_loops();

const HostLoops& host_loops_base();
#ifdef EYEROOF_HOST_X86
const HostLoops& host_loops_avx2();
const HostLoops& host_loops_avx512();
#endif

} // namespace eyeroof::profiles
