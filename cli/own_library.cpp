#include "cli/own_library.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace eyeroof::cli {

namespace fs = std::filesystem;

std::optional<fs::path> find_own_library(const Context& context, const std::string& given,
                                         const std::string& name, const std::string& folder) {
    std::vector<fs::path> places;
    if (!given.empty()) {
        places.emplace_back(given);
    } else {
        for (const fs::path& data : context.environment().data_dirs) {
            for (const char* lib :
                 {"lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"}) {
                places.push_back(data / ".." / ".." / lib / "eyeroof" / name);
            }
            places.push_back(data / ".." / ".." / "profiles" / folder / name);
        }
    }
    const auto exists = [](const fs::path& path) {
        std::error_code error;
        return fs::exists(path, error);
    };
    const auto it = std::ranges::find_if(places, exists);
    return it == places.end() ? std::nullopt : std::optional(fs::absolute(*it));
}

std::string utc_now() {
    const auto now =
        std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
}

std::string utc_today() {
    return utc_now().substr(0, std::string_view("2026-11-22").size());
}

} // namespace eyeroof::cli
