// Where a run keeps what its program leaves: apart from other runs and other users.
#include "profiles/collect/runner.hpp"
#include "profiles/collect/work_folder.hpp"
#include "profiles/profile_file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

namespace test_profiles_work_folder {

using namespace eyeroof;
using namespace eyeroof::profiles;

namespace {

namespace fs = std::filesystem;

// TMPDIR as it was, at the end.
class Temporary {
  public:
    explicit Temporary(const std::string& path) {
        const char* before = std::getenv("TMPDIR");
        before_ = before == nullptr ? "" : before;
        ::setenv("TMPDIR", path.c_str(), 1);
    }
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    ~Temporary() {
        if (before_.empty()) {
            ::unsetenv("TMPDIR");
        } else {
            ::setenv("TMPDIR", before_.c_str(), 1);
        }
    }

  private:
    std::string before_;
};

std::string profile_of(const std::string& kernel) {
    ProfileBuilder built;
    built.source("p");
    Launch launch;
    launch.kernel = built.kernel(kernel);
    launch.duration_ns = 10.0;
    built.profile.launches.push_back(launch);
    return profile_text(built.profile);
}

// A run of a program that waits until the other one runs too, and then leaves one kernel's time.
RunnerOptions run_beside(const fs::path& folder, const std::string& mine,
                         const std::string& other) {
    std::ofstream(folder / (mine + ".jsonl")) << profile_of(mine);
    RunnerOptions options;
    const std::string script = "cd " + folder.string() + " && touch " + mine + ".runs && i=0; " +
                               "while [ ! -e " + other +
                               ".runs ] && [ $i -lt 500 ]; do sleep 0.01; i=$((i + 1)); done; cp " +
                               mine + ".jsonl ${EYEROOF_COLLECT%.request}-1.jsonl";
    options.command = {"/bin/sh", "-c", script};
    options.inject_library = "/nowhere/lib.so";
    options.folder = folder / "shared";
    options.counters = false;
    return options;
}

} // namespace

TEST_CASE("two runs with one process number, in one folder at one time, keep apart") {
    const auto made = WorkFolder::create();
    REQUIRE(made.ok());
    fs::create_directory(made->path() / "shared");
    fs::permissions(made->path() / "shared", fs::perms::owner_all);
    const RunnerOptions options[] = {run_beside(made->path(), "one", "two"),
                                     run_beside(made->path(), "two", "one")};
    Result<Profile> second = Profile{};
    std::thread beside([&] { second = profile_program(options[1]); });
    const auto first = profile_program(options[0]);
    beside.join();
    REQUIRE(first.ok());
    REQUIRE(second.ok());
    REQUIRE(first->launches.size() == 1);
    REQUIRE(second->launches.size() == 1);
    CHECK(first->kernels[0].name == "one");
    CHECK(second->kernels[0].name == "two");
}

TEST_CASE("another user's folder is refused, however private it is") {
    const auto made = WorkFolder::create();
    REQUIRE(made.ok());
    fs::path folder = made->path() / "theirs";
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms::owner_all);
    CHECK(is_private_folder(folder));
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0) {
        REQUIRE(::chown(folder.c_str(), kNobody, kNobody) == 0);
    } else {
        folder = "/"; // the administrator's
    }
    CHECK_FALSE(is_private_folder(folder));
    RunnerOptions options = run_beside(made->path(), "one", "one");
    options.folder = folder;
    const auto refused = profile_program(options);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.diagnostics().items()[0].code == "unsafe-folder");
    CHECK_FALSE(fs::exists(made->path() / "one.runs"));
}

TEST_CASE("a TMPDIR that is missing, no folder, or closed is an error with a hint") {
    const auto made = WorkFolder::create();
    REQUIRE(made.ok());
    std::ofstream(made->path() / "file") << "x";
    for (const char* name : {"missing", "file", "missing/below"}) {
        CAPTURE(name);
        const Temporary elsewhere(made->path() / name);
        const auto refused = WorkFolder::create();
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.diagnostics().items()[0].code == "cannot-write");
        CHECK(refused.diagnostics().items()[0].hint.find("TMPDIR") != std::string::npos);
    }
    if (::geteuid() != 0) { // whom permissions hold
        fs::create_directory(made->path() / "closed");
        fs::permissions(made->path() / "closed", fs::perms::owner_read);
        const Temporary closed(made->path() / "closed");
        CHECK_FALSE(WorkFolder::create().ok());
    }
}

TEST_CASE("a private folder of the same kind of name that no run has made stays, empty or not") {
    const auto made = WorkFolder::create();
    REQUIRE(made.ok());
    const Temporary there(made->path().string());
    const fs::path empty = made->path() / "eyeroof-ABCDEF";
    const fs::path full = made->path() / "eyeroof-GHIJKL";
    for (const fs::path& folder : {empty, full}) {
        fs::create_directory(folder);
        fs::permissions(folder, fs::perms::owner_all);
    }
    std::ofstream(full / "file") << "x";
    CHECK(WorkFolder::create().ok());
    CHECK(fs::exists(empty));
    CHECK(fs::exists(full / "file"));
}

TEST_CASE("a run that is killed while it removes its folder leaves nothing to the next run") {
    const auto made = WorkFolder::create();
    REQUIRE(made.ok());
    const fs::path temporary = made->path() / "temporary";
    fs::create_directory(temporary);
    const Temporary there(temporary.string());
    constexpr int kFiles = 300;
    int cut_short = 0;
    for (int kill = 0; kill < 40; ++kill) {
        const pid_t child = ::fork();
        if (child == 0) {
            auto folder = WorkFolder::create();
            for (int i = 0; folder && i < kFiles; ++i) {
                std::ofstream(folder->path() / ("before-" + std::to_string(i))) << "x";
            }
            std::ofstream(temporary / "removing") << "x";
            { const WorkFolder gone = std::move(*folder); }
            ::_exit(0);
        }
        REQUIRE(child > 0);
        while (!fs::exists(temporary / "removing")) {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        std::this_thread::sleep_for(std::chrono::microseconds(50 * kill));
        ::kill(child, SIGKILL);
        int status = 0;
        ::waitpid(child, &status, 0);
        fs::remove(temporary / "removing");
        cut_short += fs::is_empty(temporary) ? 0 : 1;
        {
            const auto next = WorkFolder::create(); // removes what was left
            REQUIRE(next.ok());
        }
        CAPTURE(kill);
        REQUIRE(fs::is_empty(temporary));
    }
    MESSAGE(cut_short, " of 40 were killed before their end");
}

} // namespace test_profiles_work_folder
