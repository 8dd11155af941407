// Compiled for AVX2 and FMA, with Eigen's namespace renamed; see CMakeLists.txt.
#include "profiles/host/host_gemm_of.hpp"

namespace eyeroof::profiles {

#ifdef EYEROOF_HOST_X86
const HostGemm& host_gemm_avx2() {
    static const HostGemm gemm = HostGemmOf<2>::make();
    return gemm;
}
#endif

} // namespace eyeroof::profiles
