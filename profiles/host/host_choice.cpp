// Which of the instruction sets this processor has.
#include "profiles/host/host_gemm.hpp"
#include "profiles/host/host_loops.hpp"

namespace eyeroof::profiles {

const HostLoops& host_loops() {
#ifdef EYEROOF_HOST_X86
    if (__builtin_cpu_supports("avx512f")) {
        return host_loops_avx512();
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return host_loops_avx2();
    }
#endif
    return host_loops_base();
}

const HostGemm& host_gemm() {
#ifdef EYEROOF_HOST_X86
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return host_gemm_avx2();
    }
#endif
    return host_gemm_base();
}

} // namespace eyeroof::profiles
