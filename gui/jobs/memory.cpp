#include "gui/jobs/memory.hpp"

#include <cstdlib> // defines __GLIBC__

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace eyeroof::gui {

void keep_memory_level() {
#ifdef __GLIBC__
    constexpr int kGiveBackAbove = 8 << 20; // free bytes at the end of the heap
    constexpr int kOwnPagesFrom = 4 << 20;  // blocks that go back at once
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TRIM_THRESHOLD, kGiveBackAbove);
    mallopt(M_MMAP_THRESHOLD, kOwnPagesFrom);
#endif
}

} // namespace eyeroof::gui
