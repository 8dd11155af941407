// Compiled for the instruction set in its name; see CMakeLists.txt.
#include "profiles/host/host_loops_of.hpp"

namespace eyeroof::profiles {

const HostLoops& host_loops_base() {
    static const HostLoops loops = HostLoopsOf<16>::make("base");
    return loops;
}

} // namespace eyeroof::profiles
