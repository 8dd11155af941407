// Kernels of a large trace that wait in a temporary file.
#include "profiles/import/aside_kernels.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace test_profiles_aside_kernels {

using namespace eyeroof::profiles;

TEST_CASE("kernels that are set aside come back whole and in order") {
    AsideKernels aside;
    for (std::uint32_t i = 0; i < 1000; ++i) {
        AsideKernel kernel;
        kernel.kernel = i;
        kernel.dur_us = 0.5 * i;
        kernel.correlation = 7 * i;
        kernel.shape.grid.x = i + 1;
        aside.add(kernel);
    }
    std::vector<AsideKernel> back;
    CHECK(aside.each([&back](const AsideKernel& kernel) { back.push_back(kernel); }));
    REQUIRE(back.size() == 1000);
    CHECK(back[999].kernel == 999);
    CHECK(back[999].dur_us == 499.5);
    CHECK(back[999].correlation == 6993);
    CHECK(back[999].shape.grid.x == 1000);
}

TEST_CASE("where nothing was set aside nothing comes back") {
    AsideKernels aside;
    CHECK(aside.each([](const AsideKernel&) { FAIL("nothing was added"); }));
}

} // namespace test_profiles_aside_kernels
