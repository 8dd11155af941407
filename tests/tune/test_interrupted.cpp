// Searches that a full disk or a signal has ended: they lose one trial at most, and go on.
#include "analysis/tune/tuner.hpp"
#include "base/process.hpp"
#include "tests/tune/workloads.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

namespace test_tune_interrupted {

using namespace eyeroof;
using namespace eyeroof::analysis::tune;
using eyeroof::tests::product;
namespace fs = std::filesystem;

namespace {

struct Folder {
    fs::path path;
    Folder() {
        std::string name = (fs::temp_directory_path() / "tune-test-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
};

TuneOptions options_of(std::size_t trials) {
    TuneOptions options;
    options.target = TargetKind::model;
    options.plan.trials = trials;
    options.plan.strategy.trees.rounds = 10;
    return options;
}

// Exit status: 0 done, 2 the log could not be written.
int tuned(const fs::path& path, std::size_t trials) {
    auto log = TrialLog::open(path);
    if (!log) {
        return 3;
    }
    const auto result = tune_layers({product(96, 64, 80)}, options_of(trials), &*log);
    return result ? 0 : result.diagnostics().items().front().code == "cannot-write" ? 2 : 4;
}

// What was tried and found, without when.
std::vector<TrialLine> timeless(const fs::path& path) {
    const auto lines = load_trials(path);
    REQUIRE(lines);
    std::vector<TrialLine> all = *lines;
    for (TrialLine& line : all) {
        line.at_s = 0.0;
    }
    return all;
}

} // namespace

TEST_CASE("a disk that is full ends a search with its reason, the log keeps whole trials, and the "
          "search goes on from there") {
    const Folder folder;
    const fs::path whole = folder.path / "whole", cut = folder.path / "cut";
    REQUIRE(tuned(whole, 40) == 0);
    const auto room = static_cast<rlim_t>(fs::file_size(whole) / 2 + 17);
    const ProcessEnd end = run_forked(
        [&](int) {
            ::signal(SIGXFSZ, SIG_IGN); // writing fails instead
            const rlimit limit{room, room};
            ::setrlimit(RLIMIT_FSIZE, &limit);
            return tuned(cut, 40);
        },
        120.0, {});
    CHECK(end.status == 2);
    const auto kept = load_trials(cut);
    REQUIRE(kept);
    CHECK(kept.diagnostics().empty()); // no half line
    CHECK(kept->size() >= 15);
    CHECK(kept->size() < 40);
    CHECK(tuned(cut, 40) == 0);
    CHECK(timeless(cut) == timeless(whole));
}

TEST_CASE(
    "a search that is killed at any time loses one trial at most, and ends as if it was not") {
    const Folder folder;
    const fs::path whole = folder.path / "whole";
    REQUIRE(tuned(whole, 96) == 0);
    for (const double limit_s : {0.02, 0.05, 0.1, 0.2}) {
        const fs::path cut = folder.path / std::to_string(limit_s);
        const ProcessEnd end = run_forked([&](int) { return tuned(cut, 96); }, limit_s, {});
        CHECK((end.timed_out || end.status == 0));
        const auto kept = load_trials(cut); // warns of half a line at most
        if (fs::exists(cut)) {
            REQUIRE(kept);
            CHECK(kept.diagnostics().size() <= 1);
        }
        CHECK(tuned(cut, 96) == 0);
        CHECK(timeless(cut) == timeless(whole));
    }
}

} // namespace test_tune_interrupted
