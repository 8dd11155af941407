// The counter backend over CUPTI's range profiler: automatic ranges, kernel replay.
// Made by the injected library, driven by the collector.
// Not yet run on a GPU: see docs/measuring.md.
#pragma once

#include "profiles/cupti/context_counters.hpp"
#include "profiles/cupti/cupti_config.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::profiles {

class CuptiCounters final : public ContextCounters {
  public:
    explicit CuptiCounters(const CuptiApi& api) : api_(api), config_(api) {}

    void use(CUcontext context) override { context_ = context; }

    std::optional<BackendFault> begin(const MetricsForChip& metrics_for, std::size_t max_ranges,
                                      RunInfo& run, std::vector<std::string>& metrics) override;
    std::optional<BackendFault> start() override;
    std::optional<BackendFault> stop(CounterWindow& window) override;
    void end() override;

  private:
    std::optional<BackendFault> check_support(CUdevice device) const;
    std::optional<BackendFault> choose(const MetricsForChip& metrics_for, RunInfo& run,
                                       std::vector<std::string>& metrics);
    std::optional<BackendFault> enable();
    std::optional<BackendFault> reset_image();

    const CuptiApi& api_;
    CuptiConfig config_;
    CUcontext context_ = nullptr;
    CUpti_RangeProfiler_Object* profiler_ = nullptr;
    std::vector<std::uint8_t> image_; // of the counter data
    std::size_t max_ranges_ = 0;
};

} // namespace eyeroof::profiles
