// Counter backends of CUPTI, that need the context first, and the choice between them.
// Made by the injected library, driven by the collector.
#pragma once

#include "profiles/collect/counter_backend.hpp"
#include "profiles/cupti/cupti_api.hpp"

#include <memory>
#include <string>

namespace eyeroof::profiles {

class ContextCounters : public CounterBackend {
  public:
    // The context that is about to launch; before begin().
    virtual void use(CUcontext context) = 0;
};

// The range profiler, or for Volta's chips (GV…), and where the toolkit has no range profiler, the
// older Profiling API; decided in begin(), when the chip is known.
std::unique_ptr<ContextCounters> choose_counters(const CuptiApi& api, std::string cupti_folder);

// The chip's name, "GH100", of a context; the device's number is filled in.
std::optional<BackendFault> chip_of(const CuptiApi& api, CUcontext context, std::uint32_t& device,
                                    std::string& chip);

} // namespace eyeroof::profiles
