#include "profiles/cupti/cupti_api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <vector>

namespace eyeroof::profiles {

namespace {

// 13.0 on: xxyyzz; before: small numbers that grow with each release.
constexpr std::uint32_t kPerMajor = 10'000;
constexpr std::uint32_t kFirstOfNewScheme = 130'000;

// libcupti.so.13, libcupti.so.12, but libcupti.so.11.8.
std::string soname() {
    constexpr int kPerCudaMajor = 1000; // CUDA_VERSION is 12040 for 12.4
    const int major = CUDA_VERSION / kPerCudaMajor;
    const int minor = CUDA_VERSION % kPerCudaMajor / 10;
    return major >= 12 ? fmt::format("libcupti.so.{}", major)
                       : fmt::format("libcupti.so.{}.{}", major, minor);
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

int toolkit_of(std::uint32_t cupti_version) {
    constexpr std::uint32_t kFirstOf12 = 18; // each release of 11 and 12 counted one up
    constexpr std::uint32_t kFirstOf11 = 13;
    if (cupti_version >= kFirstOfNewScheme) {
        return static_cast<int>(cupti_version / kPerMajor);
    }
    return cupti_version >= kFirstOf12 ? 12 : cupti_version >= kFirstOf11 ? 11 : 0;
}

Result<CuptiApi> load_cupti(const std::string& folder) {
    using Loaded = Result<CuptiApi>;
    const std::string name = soname();
    void* library = nullptr;
    CuptiApi api;
    for (const std::string& place : folders_to_try(folder)) {
        dlopen((place + "libnvperf_host.so").c_str(), RTLD_NOW | RTLD_GLOBAL); // may be elsewhere
        api.path = place + name;
        library = dlopen(api.path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library != nullptr) {
            break;
        }
    }
    if (library == nullptr) {
        return Loaded::failure(
            "unavailable", fmt::format("{} cannot be opened", name),
            "install the CUDA toolkit's CUPTI, or name its folder with --cupti DIR");
    }
    // The version first: functions that a library of another version lacks say less.
    std::string missing;
    std::uint32_t version = 0;
    find(library, "cuptiGetVersion", api.cuptiGetVersion, missing);
    if (missing.empty()) {
        api.cuptiGetVersion(&version);
    }
    if (toolkit_of(CUPTI_API_VERSION) != toolkit_of(version)) {
        return Loaded::failure(
            "unavailable",
            fmt::format("{} is CUPTI {} (CUDA {}), and this collector was built for {} (CUDA {})",
                        api.path, version, toolkit_of(version), CUPTI_API_VERSION,
                        toolkit_of(CUPTI_API_VERSION)),
            "use the collector that was built with the same major version");
    }
#define EYEROOF_CUPTI_FIND(name) find(library, #name, api.name, missing);
    EYEROOF_CUPTI_FUNCTIONS(EYEROOF_CUPTI_FIND)
    EYEROOF_CUPTI_RANGE_FUNCTIONS(EYEROOF_CUPTI_FIND)
#undef EYEROOF_CUPTI_FIND
    if (!missing.empty()) {
        return Loaded::failure("unavailable", fmt::format("{} lacks {}", api.path, missing),
                               "it is older than the toolkit that eyeroof was built with");
    }
    std::string missing_older;
#define EYEROOF_CUPTI_FIND(name) find(library, #name, api.name, missing_older);
    EYEROOF_CUPTI_OLDER_FUNCTIONS(EYEROOF_CUPTI_FIND)
#undef EYEROOF_CUPTI_FIND
    api.has_older = missing_older.empty();
    return api;
}

} // namespace eyeroof::profiles
