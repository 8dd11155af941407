// NVIDIA's runtime compiler, opened when it is needed: CUDA C++ to a binary or to PTX. Needs no
// GPU.
#pragma once

#include "base/result.hpp"

#include <memory>
#include <string>
#include <vector>

namespace eyeroof::analysis::tune {

struct GpuImage {
    std::string bytes; // of a cubin, or PTX where this NVRTC does not know the GPU yet
    bool binary = false;
    std::string log; // what the compiler said
};

class Nvrtc {
  public:
    // `library`: empty: by its usual names where the loader looks, and in /usr/local/cuda. Error
    // "unavailable".
    static Result<Nvrtc> open(const std::string& library = {});

    const std::string& version() const { return version_; } // "NVRTC 13.0"
    // Compute capabilities that it compiles for, ascending: 75, 80, …; empty: it does not tell.
    const std::vector<int>& capabilities() const { return capabilities_; }
    // For a GPU of this capability. Errors "compile" (with the first complaint), "unavailable" when
    // the GPU is older than all it knows.
    Result<GpuImage> compile(const std::string& source, int capability,
                             const std::vector<std::string>& flags, bool ptx = false) const;

  private:
    struct Calls;
    std::shared_ptr<const Calls> calls_;
    std::string version_;
    std::vector<int> capabilities_;
};

} // namespace eyeroof::analysis::tune
