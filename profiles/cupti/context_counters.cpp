#include "profiles/cupti/context_counters.hpp"

#include "profiles/cupti/profiler_counters.hpp"
#ifdef EYEROOF_RANGE_PROFILER
#include "profiles/cupti/cupti_counters.hpp"
#endif

namespace eyeroof::profiles {

namespace {

class ChosenCounters final : public ContextCounters {
  public:
    ChosenCounters(const CuptiApi& api, std::string folder)
        : api_(api), folder_(std::move(folder)) {}

    void use(CUcontext context) override {
        context_ = context;
        if (chosen_) {
            chosen_->use(context);
        }
    }
    std::optional<BackendFault> begin(const MetricsForChip& metrics_for, std::size_t max_ranges,
                                      RunInfo& run, std::vector<std::string>& metrics) override {
        std::uint32_t device = 0;
        std::string chip;
        if (auto fault = chip_of(api_, context_, device, chip)) {
            return fault;
        }
        chosen_ = make(chip.starts_with("GV"));
        chosen_->use(context_);
        return chosen_->begin(metrics_for, max_ranges, run, metrics);
    }
    std::optional<BackendFault> start() override { return chosen_->start(); }
    std::optional<BackendFault> stop(CounterWindow& window) override {
        return chosen_->stop(window);
    }
    void end() override {
        if (chosen_) {
            chosen_->end();
        }
    }

  private:
    std::unique_ptr<ContextCounters> make(bool volta) const {
#ifdef EYEROOF_RANGE_PROFILER
        if (!volta) {
            return std::make_unique<CuptiCounters>(api_);
        }
#endif
        (void)volta;
        return std::make_unique<ProfilerCounters>(api_, folder_);
    }

    const CuptiApi& api_;
    std::string folder_;
    CUcontext context_ = nullptr;
    std::unique_ptr<ContextCounters> chosen_;
};

} // namespace

std::unique_ptr<ContextCounters> choose_counters(const CuptiApi& api, std::string cupti_folder) {
    return std::make_unique<ChosenCounters>(api, std::move(cupti_folder));
}

std::optional<BackendFault> chip_of(const CuptiApi& api, CUcontext context, std::uint32_t& device,
                                    std::string& chip) {
    CUptiResult code = api.cuptiGetDeviceId(context, &device);
    if (code != CUPTI_SUCCESS) {
        return fault_of_cupti(static_cast<int>(code), "cuptiGetDeviceId");
    }
    CUpti_Profiler_Initialize_Params initialised{};
    initialised.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
    code = api.cuptiProfilerInitialize(&initialised);
    if (code != CUPTI_SUCCESS) {
        return fault_of_cupti(static_cast<int>(code), "cuptiProfilerInitialize");
    }
    CUpti_Device_GetChipName_Params params{};
    params.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
    params.deviceIndex = device;
    code = api.cuptiDeviceGetChipName(&params);
    if (code != CUPTI_SUCCESS) {
        return fault_of_cupti(static_cast<int>(code), "cuptiDeviceGetChipName");
    }
    chip = params.pChipName;
    return std::nullopt;
}

} // namespace eyeroof::profiles
