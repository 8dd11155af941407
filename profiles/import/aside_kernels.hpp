// Kernels of a trace that is too large to be joined in memory, in a temporary file without a name.
#pragma once

#include "profiles/import/kineto_leaf.hpp"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <type_traits>

namespace eyeroof::profiles {

struct AsideKernel {
    LaunchShape shape;
    double dur_us = 0.0;
    std::int64_t correlation = kNone, external_id = kNone;
    std::uint32_t kernel = 0; // number in the profile
};
static_assert(std::is_trivially_copyable_v<AsideKernel>);

class AsideKernels {
  public:
    void add(const AsideKernel& kernel);
    // In the order in which they were added; false where the file did not take all of them.
    bool each(const std::function<void(const AsideKernel&)>& use);

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Close> file_;
    bool failed_ = false;
};

} // namespace eyeroof::profiles
