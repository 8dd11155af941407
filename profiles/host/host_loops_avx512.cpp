// Compiled for the instruction set in its name; see CMakeLists.txt.
#include "profiles/host/host_loops_of.hpp"

namespace eyeroof::profiles {

#ifdef EYEROOF_HOST_X86
const HostLoops& host_loops_avx512() {
    static const HostLoops loops = HostLoopsOf<64>::make("avx512");
    return loops;
}
#endif

} // namespace eyeroof::profiles
