/* What the stub driver and the stub CUPTI of the tests share. Both are FAKES: they answer as the real
   libraries do, and measure nothing. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct StubLaunch {
    const char* kernel; /* mangled */
    unsigned grid[3], block[3];
    uint32_t correlation;
} StubLaunch;

/* Called around every launch: site 0 before, 1 after. */
typedef void (*StubHook)(const StubLaunch* launch, int site);
void stub_cuda_set_hook(StubHook hook);
int stub_launch(const char* kernel, unsigned blocks, unsigned threads);

#ifdef __cplusplus
}
#endif
