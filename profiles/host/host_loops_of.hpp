// The loops for one vector width. Included once per instruction set, in a source file compiled for
// it. Must not use any library: inline functions compiled for a wide instruction set must not leak
// out.
#pragma once

#include "profiles/host/host_loops.hpp"

namespace eyeroof::profiles {

template <std::size_t kBytes> struct HostLoopsOf {
    typedef double Doubles __attribute__((vector_size(kBytes)));
    typedef float Floats __attribute__((vector_size(kBytes)));
    static constexpr std::size_t kDoubles = kBytes / sizeof(double);
    static constexpr std::size_t kFloats = kBytes / sizeof(float);
    // Enough independent chains to cover a latency of 4 to 5 cycles on two pipes, and few enough
    // for 16 registers.
    static constexpr std::size_t kChains = 12;
    static constexpr std::size_t kUnroll = 8;

    static Doubles load(const double* from) {
        Doubles vector;
        __builtin_memcpy(&vector, from, kBytes);
        return vector;
    }

    template <class Vector, class Number> static double sum_of(const Vector& vector) {
        constexpr std::size_t kLanes = kBytes / sizeof(Number);
        Number lanes[kLanes];
        __builtin_memcpy(lanes, &vector, kBytes);
        double total = 0.0;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            total += static_cast<double>(lanes[lane]);
        }
        return total;
    }

    static double read(const double* data, std::size_t count) {
        Doubles sums[kUnroll] = {};
        for (std::size_t i = 0; i < count; i += kUnroll * kDoubles) {
#pragma GCC unroll 8
            for (std::size_t u = 0; u < kUnroll; ++u) {
                sums[u] += load(data + i + u * kDoubles);
            }
        }
        double total = 0.0;
        for (std::size_t u = 0; u < kUnroll; ++u) {
            total += sum_of<Doubles, double>(sums[u]);
        }
        return total;
    }

    static void triad(double* a, const double* b, const double* c, double s, std::size_t count) {
        for (std::size_t i = 0; i < count; i += kDoubles) {
            const Doubles sum = load(b + i) + s * load(c + i);
            __builtin_memcpy(a + i, &sum, kBytes);
        }
    }

    // x <- x * m + a converges, so that no chain overflows or becomes denormal.
    template <class Vector, class Number>
    static double fma_chains(std::size_t rounds, Number seed) {
        const Vector m = Vector{} + Number(0.999);
        const Vector a = Vector{} + Number(0.001);
        Vector x0 = Vector{} + seed, x1 = x0 + a, x2 = x1 + a, x3 = x2 + a, x4 = x3 + a,
               x5 = x4 + a;
        Vector x6 = x5 + a, x7 = x6 + a, x8 = x7 + a, x9 = x8 + a, x10 = x9 + a, x11 = x10 + a;
        for (std::size_t i = 0; i < rounds; ++i) {
            x0 = x0 * m + a;
            x1 = x1 * m + a;
            x2 = x2 * m + a;
            x3 = x3 * m + a;
            x4 = x4 * m + a;
            x5 = x5 * m + a;
            x6 = x6 * m + a;
            x7 = x7 * m + a;
            x8 = x8 * m + a;
            x9 = x9 * m + a;
            x10 = x10 * m + a;
            x11 = x11 * m + a;
        }
        const Vector sum = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10 + x11;
        return sum_of<Vector, Number>(sum);
    }
    static double fma_fp64(std::size_t rounds, double seed) {
        return fma_chains<Doubles, double>(rounds, seed);
    }
    static double fma_fp32(std::size_t rounds, double seed) {
        return fma_chains<Floats, float>(rounds, static_cast<float>(seed));
    }

    static HostLoops make(const char* name) {
        return {name,
                kBytes,
                read,
                triad,
                fma_fp64,
                fma_fp32,
                2.0 * kChains * kDoubles,
                2.0 * kChains * kFloats};
    }
};

} // namespace eyeroof::profiles
