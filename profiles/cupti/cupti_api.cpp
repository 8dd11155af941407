#include "profiles/cupti/cupti_api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <vector>

namespace eyeroof::profiles {

namespace {

// 13.0 on: xxyyzz; before: small numbers that grow with each release.
constexpr std::uint32_t kPerMajor = 10'000;
constexpr std::uint32_t kFirstOfNewScheme = 130'000;

bool same_major(std::uint32_t built_for, std::uint32_t found) {
    if (built_for < kFirstOfNewScheme || found < kFirstOfNewScheme) {
        return built_for == found;
    }
    return built_for / kPerMajor == found / kPerMajor;
}

std::vector<std::string> folders_to_try(const std::string& folder) {
    std::vector<std::string> folders;
    if (!folder.empty()) {
        return {folder + "/"};
    }
    const std::string built_with = EYEROOF_CUPTI_LIBRARY_DIR;
    if (!built_with.empty()) {
        folders.push_back(built_with + "/");
    }
    folders.emplace_back(); // by bare name
    return folders;
}

template <class Function>
void find(void* library, const char* name, Function& function, std::string& missing) {
    void* symbol = dlsym(library, name);
    if (symbol == nullptr) {
        missing += missing.empty() ? name : std::string(", ") + name;
    }
    function = reinterpret_cast<Function>(symbol); // NOLINT: what dlsym is for
}

} // namespace

model::Result<CuptiApi> load_cupti(const std::string& folder) {
    using Loaded = model::Result<CuptiApi>;
    const std::string soname = fmt::format("libcupti.so.{}", CUPTI_API_VERSION / kPerMajor);
    void* library = nullptr;
    CuptiApi api;
    for (const std::string& place : folders_to_try(folder)) {
        dlopen((place + "libnvperf_host.so").c_str(), RTLD_NOW | RTLD_GLOBAL); // may be elsewhere
        api.path = place + soname;
        library = dlopen(api.path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library != nullptr) {
            break;
        }
    }
    if (library == nullptr) {
        return Loaded::failure(
            "unavailable", fmt::format("{} cannot be opened", soname),
            "install the CUDA toolkit's CUPTI, or name its folder with --cupti DIR");
    }
    std::string missing;
#define EYEROOF_CUPTI_FIND(name) find(library, #name, api.name, missing);
    EYEROOF_CUPTI_FUNCTIONS(EYEROOF_CUPTI_FIND)
#undef EYEROOF_CUPTI_FIND
    if (!missing.empty()) {
        return Loaded::failure("unavailable", fmt::format("{} lacks {}", api.path, missing),
                               "it is older than the toolkit that eyeroof was built with");
    }
    std::uint32_t version = 0;
    api.cuptiGetVersion(&version);
    if (!same_major(CUPTI_API_VERSION, version)) {
        return Loaded::failure("unavailable",
                               fmt::format("{} is CUPTI {}, and this collector was built for {}",
                                           api.path, version, CUPTI_API_VERSION),
                               "use the collector that was built with the same major version");
    }
    return api;
}

} // namespace eyeroof::profiles
