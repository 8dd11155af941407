#include "cli/metric_files.hpp"

namespace eyeroof::cli {

Result<std::vector<profiles::MetricFamily>> load_metric_files(const Context& context,
                                                              const std::string& folder) {
    if (!folder.empty()) {
        return formats::read_metric_families(folder);
    }
    for (const auto& data : context.environment().data_dirs) {
        std::error_code error;
        if (std::filesystem::is_directory(data / "metrics", error)) {
            return formats::read_metric_families(data / "metrics");
        }
    }
    return Result<std::vector<profiles::MetricFamily>>::failure(
        "unavailable", "there is no folder of metric files", "name it with --metrics-dir");
}

} // namespace eyeroof::cli
