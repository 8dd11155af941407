// The runner with stand-ins for the profiled program: shell scripts that leave the files which the
// injected library would leave.
#include "base/group_guard.hpp"
#include "base/terminal_process.hpp"
#include "profiles/collect/collector.hpp"
#include "profiles/collect/device_check.hpp"
#include "profiles/collect/runner.hpp"
#include "profiles/collect/work_folder.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <stop_token>
#include <string>
#include <thread>

namespace test_profiles_runner {

using namespace eyeroof;
using namespace eyeroof::profiles;

namespace {

namespace fs = std::filesystem;

struct Folder {
    fs::path path;
    Folder() {
        static int number = 0;
        path = fs::temp_directory_path() /
               ("eyeroof_runner_" + std::to_string(::getpid()) + "_" + std::to_string(++number));
        fs::create_directories(path / "out");
        fs::permissions(path / "out", fs::perms::owner_all);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { fs::remove_all(path); }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path / name) << text;
    }
};

Profile run_of(const std::vector<std::string>& kernels, bool counted) {
    ProfileBuilder built;
    built.source("p");
    built.profile.run.gpu = "Some GPU";
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        Launch launch;
        launch.kernel = built.kernel(kernels[i]);
        launch.duration_ns = 10.0 * static_cast<double>(i + 1);
        launch.under_replay = counted;
        if (counted) {
            launch.counters["dram__bytes.sum"] = 7.0;
        } else {
            launch.counters["correlation"] = static_cast<double>(i);
        }
        built.profile.launches.push_back(launch);
    }
    return built.profile;
}

RunnerOptions options_for(const Folder& folder, const std::string& script) {
    RunnerOptions options;
    options.command = {"/bin/sh", "-c", "cd " + folder.path.string() + " && " + script};
    options.inject_library = "/nowhere/lib.so";
    options.folder = folder.path / "out";
    return options;
}

// Copies what was prepared for the pass that is running.
const std::string kLeave =
    "begin=${EYEROOF_COLLECT%.request}; case $begin in *timing*) cp timing-1.jsonl $begin-1.jsonl "
    ";; *) for f in counters-1.*; do cp $f $begin-1.${f##*.}; done ;; esac";

bool has(const Diagnostics& found, const std::string& code) {
    return std::any_of(found.begin(), found.end(), [&](const auto& d) { return d.code == code; });
}

} // namespace

TEST_CASE("times of one run and counters of the other become one profile") {
    const Folder folder;
    Profile times = run_of({"a", "b", "a"}, false);
    std::swap(times.launches[0], times.launches[2]); // as the device finished them
    folder.write("timing-1.jsonl", profile_text(times));
    folder.write("counters-1.jsonl", profile_text(run_of({"a", "b", "a"}, true)));
    const auto profile = profile_program(options_for(folder, kLeave));
    REQUIRE(profile.ok());
    REQUIRE(profile->launches.size() == 3);
    CHECK(profile->launches[0].duration_ns == 10.0);
    CHECK_FALSE(profile->launches[0].under_replay);
    CHECK(profile->launches[0].counters.size() == 1);
    CHECK(profile->launches[0].counters.at("dram__bytes.sum") == 7.0);
    CHECK(profile->run.command.find("/bin/sh -c") == 0);
}

TEST_CASE("runs that launched different kernels are kept side by side, with a warning") {
    const Folder folder;
    folder.write("timing-1.jsonl", profile_text(run_of({"a", "b"}, false)));
    folder.write("counters-1.jsonl", profile_text(run_of({"a", "c"}, true)));
    const auto profile = profile_program(options_for(folder, kLeave));
    REQUIRE(profile.ok());
    CHECK(profile->launches.size() == 4);
    CHECK(has(profile.diagnostics(), "runs-differ"));
}

TEST_CASE("counters that are not permitted end in one line of advice") {
    const Folder folder;
    folder.write("timing-1.jsonl", profile_text(run_of({"a"}, false)));
    folder.write("counters-1.fault", fault_text(fault_of_cupti(35, "cuptiRangeProfilerEnable")));
    const auto refused = profile_program(options_for(folder, kLeave));
    REQUIRE_FALSE(refused.ok());
    REQUIRE(refused.diagnostics().size() == 1);
    CHECK(refused.diagnostics().items()[0].code == "unavailable");
    CHECK(refused.diagnostics().items()[0].message.find("not permitted") != std::string::npos);

    RunnerOptions times_only = options_for(folder, kLeave);
    times_only.counters = false;
    const auto profile = profile_program(times_only);
    REQUIRE(profile.ok());
    CHECK(profile->launches.size() == 1);
}

TEST_CASE("a program that crashes keeps what was written, and its failure is told") {
    const Folder folder;
    std::string cut = profile_text(run_of({"a", "b"}, false));
    cut.resize(cut.rfind("{\"end\""));
    folder.write("timing-1.jsonl", cut);
    RunnerOptions options = options_for(folder, kLeave + "; kill -SEGV $$");
    options.counters = false;
    const auto profile = profile_program(options);
    REQUIRE(profile.ok());
    CHECK(profile->launches.size() == 2);
    CHECK(has(profile.diagnostics(), "program-failed"));
    CHECK(has(profile.diagnostics(), "cut-off"));
}

TEST_CASE("a program without CUDA, and one that does not exist, are told apart") {
    const Folder folder;
    const auto silent = profile_program(options_for(folder, "true"));
    REQUIRE_FALSE(silent.ok());
    CHECK(silent.diagnostics().items()[0].message.find("never used CUDA") != std::string::npos);
    RunnerOptions missing = options_for(folder, "true");
    missing.command = {"/no/such/program"};
    const auto not_run = profile_program(missing);
    REQUIRE_FALSE(not_run.ok());
    CHECK(not_run.diagnostics().items()[0].code == "cannot-run");
    CHECK_FALSE(profile_program({}).ok());
}

TEST_CASE("a measurement that is cancelled asks the program to end") {
    const Folder folder;
    std::stop_source stop;
    stop.request_stop();
    const auto cancelled = profile_program(options_for(folder, "exec sleep 30"), stop.get_token());
    REQUIRE_FALSE(cancelled.ok());
    CHECK(cancelled.diagnostics().items()[0].code == "cancelled");
}

TEST_CASE("a guard blocks signals from its first instruction") {
    for (int i = 0; i < 100; ++i) {
        const GroupGuard guard;
        REQUIRE(guard.group() > 0);
        std::ifstream status("/proc/" + std::to_string(guard.group()) + "/status");
        std::string line;
        while (std::getline(status, line) && !line.starts_with("SigBlk:")) {
        }
        REQUIRE(line.starts_with("SigBlk:"));
        const auto blocked = std::stoull(line.substr(7), nullptr, 16);
        REQUIRE((blocked & 1ULL << (SIGINT - 1)) != 0);
    }
}

TEST_CASE("only what this very run has left is taken for a measurement") {
    const Folder folder;
    const std::string stale = profile_text(run_of({"stale"}, false));
    folder.write("out/timing-1.jsonl", stale);
    folder.write("out/timing-0123456789abcdef0123456789abcdef-1.jsonl", stale);
    folder.write("stale.jsonl", stale);
    fs::create_symlink(folder.path / "stale.jsonl", folder.path / "out/timing-link.jsonl");
    const auto nothing = profile_program(options_for(folder, "true"));
    REQUIRE_FALSE(nothing.ok());
    CHECK(nothing.diagnostics().items()[0].message.find("never used CUDA") != std::string::npos);
    const auto linked = profile_program(
        options_for(folder, "ln -s ../stale.jsonl ${EYEROOF_COLLECT%.request}-9.jsonl"));
    CHECK_FALSE(linked.ok());
}

TEST_CASE("a folder that others may enter, or a link to one, is refused before the program runs") {
    const Folder folder;
    fs::permissions(folder.path / "out", fs::perms::owner_all | fs::perms::others_read);
    const RunnerOptions open = options_for(folder, "touch ran");
    CHECK(has(profile_program(open).diagnostics(), "unsafe-folder"));
    fs::permissions(folder.path / "out", fs::perms::owner_all);
    fs::create_directory_symlink(folder.path / "out", folder.path / "link");
    RunnerOptions link = open;
    link.folder = folder.path / "link";
    CHECK(has(profile_program(link).diagnostics(), "unsafe-folder"));
    CHECK_FALSE(fs::exists(folder.path / "ran"));
}

TEST_CASE("the work folder is new, private, and goes with its owner") {
    fs::path path;
    {
        const auto made = WorkFolder::create();
        REQUIRE(made.ok());
        path = made->path();
        CHECK(is_private_folder(path));
        CHECK(WorkFolder::create()->path() != path);
    }
    CHECK_FALSE(fs::exists(path));
    CHECK(random_token().size() == 32);
    CHECK(random_token() != random_token());
}

TEST_CASE("the program's status is passed on, and the second pass has an empty stdin") {
    const Folder folder;
    folder.write("timing-1.jsonl", profile_text(run_of({"a"}, false)));
    folder.write("counters-1.jsonl", profile_text(run_of({"a"}, true)));
    ProgramEnd end;
    const auto profile = profile_program(options_for(folder, kLeave + "; exit 7"), {}, {}, &end);
    CHECK(profile.ok());
    CHECK(end.status == 7);
    ProgramEnd missing;
    RunnerOptions nowhere = options_for(folder, "true");
    nowhere.command = {"/no/such/program"};
    CHECK_FALSE(profile_program(nowhere, {}, {}, &missing).ok());
    CHECK(missing.status == 127);
    ChildCommand reads{{"/bin/sh", "-c", "test -z \"$(cat)\""}, {}, true};
    CHECK(run_in_terminal(reads, {}, {}).status == 0);
}

TEST_CASE("a program that ignores every polite signal is ended, and what it started too") {
    const Folder folder;
    std::stop_source stop;
    const std::jthread asks([&] { // once the program no longer listens
        for (int i = 0; i < 500 && !std::filesystem::exists(folder.path / "pid"); ++i) {
            ::usleep(10'000);
        }
        stop.request_stop();
    });
    ProgramEnd end;
    const auto begin = std::chrono::steady_clock::now();
    const std::string pid = (folder.path / "pid").string();
    const auto cancelled = profile_program(
        options_for(folder, "trap '' INT TERM; sleep 50 & echo $! > " + pid + "; sleep 50"),
        stop.get_token(), {}, &end);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    CHECK_FALSE(cancelled.ok());
    CHECK(end.cancelled);
    CHECK(end.status == 128 + SIGKILL);
    CHECK(took.count() < 10.0);
    pid_t started = 0;
    std::ifstream(folder.path / "pid") >> started;
    for (int i = 0; i < 200 && started > 0 && ::kill(started, 0) == 0; ++i) {
        ::usleep(10'000);
    }
    CHECK((started == 0 || ::kill(started, 0) != 0));
}

TEST_CASE("several processes are all in the profile") {
    const Folder folder;
    folder.write("timing-1.jsonl", profile_text(run_of({"a"}, false)));
    folder.write("timing-2.jsonl", profile_text(run_of({"b", "c"}, false)));
    RunnerOptions options = options_for(
        folder, "for i in 1 2; do cp timing-$i.jsonl ${EYEROOF_COLLECT%.request}-$i.jsonl; done");
    options.counters = false;
    const auto profile = profile_program(options);
    REQUIRE(profile.ok());
    CHECK(profile->launches.size() == 3);
}

TEST_CASE("a machine without a driver is told from one with something else in its place") {
    const auto none = check_device("/no/such/libcuda.so");
    REQUIRE(none);
    CHECK(none->fault == Fault::no_driver);
    const auto other = check_device("libz.so.1");
    REQUIRE(other);
    CHECK(other->fault == Fault::no_driver);
    CHECK(diagnostic_of(*other).message.find("libz.so.1") != std::string::npos);
}

} // namespace test_profiles_runner
