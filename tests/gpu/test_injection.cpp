// The injected library in a program that starts as a CUDA program does. Without a GPU it must step
// aside with one clear line; with one, tests/gpu/validate.sh goes on from here.
#include "profiles/collect/device_check.hpp"
#include "profiles/collect/runner.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

namespace test_gpu_injection {

using namespace eyeroof;
using namespace eyeroof::profiles;

namespace {

namespace fs = std::filesystem;

RunnerOptions options_in(const fs::path& folder) {
    RunnerOptions options;
    options.command = {EYEROOF_INJECTED_PROGRAM};
    options.inject_library = EYEROOF_INJECT_LIBRARY;
    options.folder = folder;
    options.counters = false;
    return options;
}

struct Folder {
    fs::path path = fs::temp_directory_path() / ("eyeroof_injection_" + std::to_string(::getpid()));
    Folder() {
        fs::create_directories(path);
        fs::permissions(path, fs::perms::owner_all); // a folder that others may enter is refused
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { fs::remove_all(path); }
};

} // namespace

TEST_CASE("without a driver the library loads, steps aside, and one line says why") {
    if (!check_device()) {
        MESSAGE("skipped: this machine has a GPU");
        return;
    }
    for (const bool counters : {false, true}) {
        const Folder folder;
        RunnerOptions options = options_in(folder.path);
        options.counters = counters;
        options.timing = !counters;
        const auto profile = profile_program(options);
        REQUIRE_FALSE(profile.ok());
        REQUIRE(profile.diagnostics().size() == 1); // and no warning that the program failed
        const auto& error = profile.diagnostics().items()[0];
        CHECK(error.code == "unavailable");
        CHECK(error.message.find("cuptiSubscribe") != std::string::npos);
        CHECK(error.message.find('\n') == std::string::npos);
    }
}

TEST_CASE("a folder without CUPTI is told from a failing one") {
    const Folder folder;
    RunnerOptions options = options_in(folder.path);
    options.request.cupti_folder = "/no/such/folder";
    if (!check_device()) {
        MESSAGE("skipped: this machine has a GPU");
        return;
    }
    const auto profile = profile_program(options);
    REQUIRE_FALSE(profile.ok());
    CHECK(profile.diagnostics().items()[0].message.find("CUPTI cannot be opened") == 0);
}

TEST_CASE("a CUPTI of another version is refused by name, before anything of it is used") {
    if (!check_device()) {
        MESSAGE("skipped: this machine has a GPU");
        return;
    }
    const Folder folder;
    const fs::path cupti = folder.path / "cupti";
    fs::create_directories(cupti);
    for (const char* name : {"libcupti.so.11.8", "libcupti.so.12", "libcupti.so.13"}) {
        fs::copy_file(EYEROOF_FAKE_CUPTI, cupti / name);
    }
    RunnerOptions options = options_in(folder.path);
    options.request.cupti_folder = cupti.string();
    const auto profile = profile_program(options);
    REQUIRE_FALSE(profile.ok());
    const std::string& message = profile.diagnostics().items()[0].message;
    CHECK(profile.diagnostics().items()[0].code == "unavailable");
    CHECK(message.find("is CUPTI 11") != std::string::npos);
    CHECK(message.find("was built for") != std::string::npos);
}

} // namespace test_gpu_injection
