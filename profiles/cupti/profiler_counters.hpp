// The counter backend over CUPTI's older Profiling API: automatic ranges, kernel replay. For Volta
// (CUDA 12 and before), and for toolkits before 12.6 U2, which have no range profiler.
// Made by the injected library, driven by the collector.
// Not yet run on a GPU: see docs/measuring.md.
#pragma once

#include "profiles/cupti/context_counters.hpp"
#include "profiles/cupti/perfworks.hpp"

#include <memory>
#include <string>
#include <vector>

namespace eyeroof::profiles {

class ProfilerCounters final : public ContextCounters {
  public:
    ProfilerCounters(const CuptiApi& api, std::string cupti_folder)
        : api_(api), folder_(std::move(cupti_folder)) {}

    void use(CUcontext context) override { context_ = context; }

    std::optional<BackendFault> begin(const MetricsForChip& metrics_for, std::size_t max_ranges,
                                      RunInfo& run, std::vector<std::string>& metrics) override;
    std::optional<BackendFault> start() override;
    std::optional<BackendFault> stop(CounterWindow& window) override;
    void end() override;

  private:
    std::optional<BackendFault> choose(const MetricsForChip& metrics_for, RunInfo& run,
                                       std::vector<std::string>& metrics);
    std::optional<BackendFault> make_images();
    std::optional<BackendFault> begin_session();
    void end_session();

    const CuptiApi& api_;
    std::string folder_;
    CUcontext context_ = nullptr;
    std::unique_ptr<Perfworks> perfworks_;
    std::vector<std::uint8_t> availability_, image_, scratch_;
    std::size_t max_ranges_ = 0;
    bool in_session_ = false;
};

} // namespace eyeroof::profiles
