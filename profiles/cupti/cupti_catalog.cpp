#include "profiles/cupti/cupti_catalog.hpp"

#include "profiles/cupti/cupti_api.hpp"
#include "profiles/cupti/cupti_config.hpp"

#include <fmt/format.h>

namespace eyeroof::profiles {

struct CuptiCatalog::State {
    CuptiApi api;
};

Result<CuptiCatalog> CuptiCatalog::open(const std::string& folder) {
    auto api = load_cupti(folder);
    if (!api) {
        return Result<CuptiCatalog>(api.diagnostics());
    }
    return CuptiCatalog(std::make_shared<State>(State{*api}));
}

const std::string& CuptiCatalog::library() const {
    return state_->api.path;
}

std::vector<std::string> CuptiCatalog::chips() const {
    CUpti_Profiler_Host_GetSupportedChips_Params params{};
    params.structSize = CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE;
    if (state_->api.cuptiProfilerHostGetSupportedChips(&params) != CUPTI_SUCCESS) {
        return {};
    }
    return {params.ppChipNames, params.ppChipNames + params.numChips};
}

std::vector<std::string>
CuptiCatalog::unknown_metrics(const std::string& chip,
                              const std::vector<std::string>& metrics) const {
    CuptiConfig config(state_->api);
    if (config.open(chip, nullptr) != CUPTI_SUCCESS) {
        return metrics;
    }
    std::vector<std::string> unknown;
    for (const std::string& metric : metrics) {
        if (!config.has_metric(metric)) {
            unknown.push_back(metric);
        }
    }
    return unknown;
}

Result<std::size_t> CuptiCatalog::passes(const std::string& chip,
                                         const std::vector<std::string>& metrics) const {
    CuptiConfig config(state_->api);
    CUptiResult code = config.open(chip, nullptr);
    code = code == CUPTI_SUCCESS ? config.add(metrics) : code;
    if (code != CUPTI_SUCCESS) {
        return Result<std::size_t>::failure(
            "unavailable",
            fmt::format("CUPTI cannot plan these metrics for {} (error {})", chip,
                        static_cast<int>(code)),
            "choose other metrics, or a driver that knows this chip");
    }
    return config.passes();
}

} // namespace eyeroof::profiles
