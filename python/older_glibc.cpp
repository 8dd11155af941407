// What the static C++ runtime of Debian 12 takes of glibc 2.36 alone, so that a wheel built there
// also runs on glibc 2.34 (Ubuntu 22.04, RHEL 9). Hidden: other libraries of the process keep their
// own.
#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

#define EYEROOF_HIDDEN(name) __asm__(name) __attribute__((visibility("hidden"), used)) // NOLINT

// Random bits of std::random_device.
std::uint32_t eyeroof_random_word() EYEROOF_HIDDEN("arc4random");
std::uint32_t eyeroof_random_word() {
    std::uint32_t word = 0;
    while (getrandom(&word, sizeof(word), 0) != sizeof(word)) {
        if (errno != EINTR) { // refused, as by a sandbox: glibc's arc4random() ends there, too
            std::abort();
        }
    }
    return word;
}

// "Other threads may run": counts of std::shared_ptr are atomic. The static libraries take its
// address in a way that only a symbol of the same file satisfies.
extern char eyeroof_single_threaded EYEROOF_HIDDEN("__libc_single_threaded");
char eyeroof_single_threaded = 0;

// glibc 2.35 has a second hypot(), which sets no errno; the first one is everywhere.
extern "C" double eyeroof_first_hypot(double x, double y);
#if defined(__x86_64__)
__asm__(".symver eyeroof_first_hypot, hypot@GLIBC_2.2.5");
#else
__asm__(".symver eyeroof_first_hypot, hypot@GLIBC_2.17");
#endif
double eyeroof_hypot(double x, double y) EYEROOF_HIDDEN("hypot");
double eyeroof_hypot(double x, double y) {
    return eyeroof_first_hypot(x, y);
}
