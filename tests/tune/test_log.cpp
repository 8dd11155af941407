// Logs of trials: what is written is read, what is broken is told, what was killed goes on.
#include "analysis/trials/log.hpp"
#include "analysis/tune/tuner.hpp"
#include "tests/tune/rank_correlation.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace test_tune_log {

using namespace eyeroof;
using namespace eyeroof::analysis::tune;
using eyeroof::tests::rank_correlation;
namespace fs = std::filesystem;

namespace {

Workload product(Count m, Count n, Count k) {
    Workload work;
    work.name = "product \"1\"\n";
    work.rows = work.width = work.out_w = m;
    work.cols = n;
    work.depth = k;
    return work;
}

TrialLine some_line(Count number) {
    const Workload work = product(64, 48, 32);
    const SearchTask search_task = cpu_task(work, CpuMachine{});
    Rng rng(static_cast<std::uint64_t>(number) + 1);
    TrialOrigin origin;
    origin.target = "cpu";
    origin.machine = "a processor";
    origin.lanes = 8;
    origin.registers = 16;
    origin.date = "2024-01-01T00:00:00Z";
    Trial trial{*search_task.space.draw(rng), {1.25e-3, {1.5e-3, 1.25e-3, 1e-3}}, 2, 0.5, 3.25};
    return line_of(search_task, work, origin, trial, number);
}

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

struct Folder {
    fs::path path = fs::temp_directory_path() / "eyeroof-test-log";
    Folder() {
        fs::remove_all(path);
        fs::create_directory(path);
    }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
};

TuneOptions quick(std::size_t trials) {
    TuneOptions options;
    options.target = TargetKind::model;
    options.plan.trials = trials;
    options.plan.strategy.trees.rounds = 10;
    return options;
}

} // namespace

TEST_CASE("a line comes back as it was written, and so does its point") {
    TrialLine failed = some_line(7);
    failed.outcome = {kNoCost, {}, "crash", "SIGSEGV"};
    for (const TrialLine& line : {some_line(3), failed}) {
        const auto back = parse_trials(trial_text(line), "log");
        REQUIRE(back);
        REQUIRE(back->size() == 1);
        CHECK(back->front() == line);
        const SearchTask search_task = cpu_task(line.work, CpuMachine{});
        const auto point = point_of(search_task.space, line);
        REQUIRE(point);
        CHECK(line_of(search_task, line.work, line.origin,
                      {*point, line.outcome, line.round, line.predicted, line.at_s},
                      line.trial) == line);
    }
}

TEST_CASE("a synthetic processor has the same caches and vectors on every host") {
    const Folder folder;
    auto log = TrialLog::open(folder.path / "log");
    REQUIRE(log);
    REQUIRE(tune_layers({some_line(0).work}, quick(2), &*log));
    const auto lines = load_trials(folder.path / "log");
    REQUIRE(lines);
    REQUIRE(lines->size() == 2);
    const CpuMachine machine = machine_of(lines->front().origin);
    CHECK(machine.cores == 2);
    CHECK(machine.lanes == 16);
    CHECK(machine.l1_bytes == 49152);
    CHECK(machine.l2_bytes == 1048576);
    CHECK(machine.l3_bytes == 33554432);
}

TEST_CASE("half a line at the end is dropped and told, and the others stay") {
    const std::string whole = trial_text(some_line(0)) + trial_text(some_line(1));
    const std::string half = trial_text(some_line(2));
    for (const std::size_t kept : {std::size_t{1}, half.size() / 2, half.size() - 1}) {
        const auto read = parse_trials(whole + half.substr(0, kept), "log");
        REQUIRE(read);
        CHECK(read->size() == 2);
        REQUIRE(read.diagnostics().size() == 1);
        CHECK(read.diagnostics().items().front().code == "half-a-line");
        CHECK(read.diagnostics().items().front().where.line == 3);
    }
}

TEST_CASE("everything that is wrong with a log is told at once, with its line") {
    std::string text = trial_text(some_line(0)) + "no json\n" + trial_text(some_line(1));
    std::string other = trial_text(some_line(2));
    other.replace(other.find("trial/1"), 7, "trial/9");
    std::string negative = trial_text(some_line(3));
    negative.replace(negative.find("\"cost\":0.00125"), 14, "\"cost\":-1     ");
    const auto read = parse_trials(text + other + negative, "log");
    REQUIRE(!read);
    REQUIRE(read.diagnostics().size() == 3);
    const auto& items = read.diagnostics().items();
    CHECK(items[0].code == "bad-json");
    CHECK(items[0].where.line == 2);
    CHECK(items[1].code == "unknown-schema");
    CHECK(items[1].where.line == 4);
    CHECK(items[2].code == "bad-trial");
    CHECK(items[2].field == "cost");
}

TEST_CASE("another file is no log, and is left as it is") {
    const Folder folder;
    const fs::path path = folder.path / "letter.txt";
    std::ofstream(path) << "Dear reader,";
    CHECK(!TrialLog::open(path));
    CHECK(text_of(path) == "Dear reader,");
    CHECK(!TrialLog::open(folder.path)); // a folder
    CHECK(!load_trials(folder.path / "nothing"));
}

TEST_CASE("a log is written by one process at a time") {
    const Folder folder;
    const auto first = TrialLog::open(folder.path / "log");
    REQUIRE(first);
    const auto second = TrialLog::open(folder.path / "log");
    REQUIRE(!second);
    CHECK(second.diagnostics().items().front().code == "in-use");
}

TEST_CASE("a search that was killed goes on to the same log as one that was not") {
    const Folder folder;
    const Workload work = product(96, 80, 64);
    const auto tuned = [&](const fs::path& path, std::size_t trials) {
        auto log = TrialLog::open(path);
        REQUIRE(log);
        const auto result = tune_layers({work}, quick(trials), &*log);
        REQUIRE(result);
        return result->layers.front().recalled;
    };
    const auto without_times = [](const fs::path& path) {
        auto lines = *load_trials(path);
        for (TrialLine& line : lines) {
            line.at_s = 0.0;
        }
        return lines;
    };
    CHECK(tuned(folder.path / "whole", 60) == 0);
    CHECK(tuned(folder.path / "killed", 37) == 0);
    const std::string text = text_of(folder.path / "killed");
    std::ofstream(folder.path / "killed") << text.substr(0, text.size() - 100); // inside the last
    CHECK(tuned(folder.path / "killed", 60) == 36);
    CHECK(without_times(folder.path / "killed") == without_times(folder.path / "whole"));
    CHECK(tuned(folder.path / "killed", 60) == 60); // nothing is measured again
}

TEST_CASE("merged logs hold each trial once") {
    const std::vector<TrialLine> one = {some_line(0), some_line(1)};
    const std::vector<TrialLine> two = {some_line(1), some_line(2)};
    CHECK(merged({one, two}).size() == 3);
}

TEST_CASE("what other layers' trials teach is right about the order of a layer that they are not") {
    std::vector<TrialLine> lines;
    const auto noted = [&](Count size, std::uint64_t seed) {
        const Workload work = product(size, size, size);
        const SearchTask search_task = cpu_task(work, CpuMachine{});
        const auto target = synthetic_target(work, CpuMachine{}, search_task, 1, {0.0, 1});
        Rng rng(seed);
        TrialOrigin origin;
        origin.target = "model";
        origin.machine = "synthetic target";
        const CpuMachine machine;
        origin.lanes = machine.lanes;
        origin.registers = machine.registers;
        std::vector<TrialLine> some;
        for (Count n = 0; n < 150; ++n) {
            const Point point = *search_task.space.draw(rng);
            some.push_back(line_of(search_task, work, origin,
                                   {point, target->measure(point), 0, 0.0, 0.0}, n));
        }
        return some;
    };
    for (const Count size : {96, 200, 384}) {
        const auto some = noted(size, static_cast<std::uint64_t>(size));
        lines.insert(lines.end(), some.begin(), some.end());
    }
    const GlobalModel global = learn_global(lines, kSteps, {}, kCpuTemplate);
    REQUIRE(global);
    const auto held = noted(256, 9);
    const SearchTask search_task = cpu_task(product(256, 256, 256), CpuMachine{});
    Table table;
    std::vector<double> speeds;
    for (const TrialLine& line : held) {
        search_task.features(*point_of(search_task.space, line), kSteps, table.values);
        speeds.push_back(1.0 / line.outcome.cost);
    }
    table.columns = table.values.size() / speeds.size();
    const auto scores = global(table);
    CHECK(rank_correlation({scores.begin(), scores.end()}, speeds) > 0.9);
    CHECK(!learn_global({}, kSteps, {}, kCpuTemplate));
}

} // namespace test_tune_log
