#include "profiles/collect/collector.hpp"

#include <doctest/doctest.h>

#include <sstream>

namespace test_profiles_collector {

using namespace eyeroof;
using namespace eyeroof::profiles;

namespace {

// A counter library that is none: it says what the test tells it to say.
class FakeBackend final : public CounterBackend {
  public:
    std::string chip = "XX100";
    std::optional<BackendFault> at_begin, at_start, at_stop;
    std::size_t drop = 0;     // ranges that "did not fit"
    std::size_t forget = 0;   // ranges that are missing without being called dropped
    std::size_t launched = 0; // by the program, in the open window
    int begins = 0, starts = 0, stops = 0, ends = 0;
    double next_value = 1.0;

    std::optional<BackendFault> begin(const MetricsForChip& metrics_for, std::size_t max_ranges,
                                      RunInfo& run, std::vector<std::string>& metrics) override {
        ++begins;
        limit = max_ranges;
        run.chip = chip;
        metrics = metrics_for(chip);
        if (metrics.empty()) {
            return BackendFault{Fault::no_metrics, 0, chip};
        }
        return at_begin;
    }
    std::optional<BackendFault> start() override {
        ++starts;
        launched = 0;
        return at_start;
    }
    std::optional<BackendFault> stop(CounterWindow& window) override {
        ++stops;
        CHECK(launched <= limit);
        for (std::size_t i = 0; i + drop + forget < launched; ++i) {
            window.values.push_back({next_value, 100.0 * next_value});
            next_value += 1.0;
        }
        window.dropped = drop;
        return at_stop;
    }
    void end() override { ++ends; }

  private:
    std::size_t limit = 0;
};

struct Run {
    FakeBackend backend;
    CollectRequest request;
    std::ostringstream out;
    std::optional<Collector> collector;

    Run() {
        request.mode = "counters";
        request.metrics = {{"XX100", {"gpu__time_duration.sum", "dram__bytes.sum"}}};
        request.window = 4;
    }
    void launch(const std::string& name, const std::string& range = {}) {
        if (!collector) {
            collector.emplace(backend, request, out);
        }
        collector->launch_begins({name, {2, 1, 1}, {32, 1, 1}, 7, range, kNone});
        ++backend.launched; // the kernel runs behind the callback
    }
    Profile profile() {
        collector->finish();
        const auto source = ByteSource::of_text(out.str(), "out");
        const auto read = read_profile(*source);
        REQUIRE(read.ok());
        return *read;
    }
};

bool has_note(const Profile& profile, const std::string& text) {
    for (const std::string& note : profile.notes) {
        if (note.find(text) != std::string::npos) {
            return true;
        }
    }
    return false;
}

} // namespace

TEST_CASE("range i becomes the counters of launch i, over several windows") {
    Run run;
    for (int i = 0; i < 10; ++i) {
        run.launch("_Z4gemmIfEvPT_");
    }
    const Profile profile = run.profile();
    REQUIRE(profile.launches.size() == 10);
    for (std::size_t i = 0; i < 10; ++i) {
        CHECK(profile.launches[i].counters.at("dram__bytes.sum") ==
              100.0 * static_cast<double>(i + 1));
        CHECK(profile.launches[i].duration_ns == static_cast<double>(i + 1));
        CHECK(profile.launches[i].under_replay);
    }
    CHECK(profile.kernels[0] == Kernel{"void gemm<float>(float*)", "_Z4gemmIfEvPT_"});
    CHECK(profile.run.chip == "XX100");
    CHECK(run.backend.starts == 3); // 4 + 4 + 2
    CHECK(run.backend.stops == 3);
    CHECK(run.backend.begins == 1);
    CHECK(run.backend.ends == 1);
}

TEST_CASE("when ranges were dropped or are missing, none of the window is attributed") {
    for (const bool told : {true, false}) {
        Run run;
        (told ? run.backend.drop : run.backend.forget) = 1;
        for (int i = 0; i < 3; ++i) {
            run.launch("k");
        }
        const Profile profile = run.profile();
        REQUIRE(profile.launches.size() == 3);
        for (const Launch& launch : profile.launches) {
            CHECK(launch.counters.empty());
        }
        CHECK(has_note(profile, "left out"));
        CHECK(run.collector->collected() == 0);
    }
}

TEST_CASE("name, range, skip and count choose launches, and the rest of the program runs free") {
    Run run;
    run.request.filter = {.name_regex = "^gemm", .range = "step", .skip = 1, .count = 2};
    run.launch("relu", "step");
    run.launch("gemm1", "warmup");
    run.launch("gemm2", "step"); // skipped
    CHECK(run.backend.begins == 0);
    run.launch("gemm3", "step");
    run.launch("relu", "step"); // inside the window: counted by the device, not wanted
    run.launch("gemm4", "step");
    run.launch("gemm5", "step"); // enough
    CHECK(run.backend.ends == 1);
    run.launch("gemm6", "step");
    const Profile profile = run.profile();
    REQUIRE(profile.launches.size() == 2);
    CHECK(profile.kernel_of(profile.launches[0]).name == "gemm3");
    CHECK(profile.launches[0].counters.at("dram__bytes.sum") == 100.0);
    CHECK(profile.kernel_of(profile.launches[1]).name == "gemm4");
    CHECK(profile.launches[1].counters.at("dram__bytes.sum") == 300.0); // the relu had the second
    CHECK(run.backend.starts == 1);
}

TEST_CASE("a fault at the beginning stops collecting and leaves the program alone") {
    Run run;
    run.backend.at_begin = fault_of_cupti(35, "cuptiRangeProfilerEnable");
    for (int i = 0; i < 5; ++i) {
        run.launch("k");
    }
    run.collector->finish();
    REQUIRE(run.collector->fault());
    CHECK(run.collector->fault()->fault == Fault::permission);
    CHECK(run.backend.begins == 1);
    CHECK(run.backend.starts == 0);
    CHECK(run.out.str().empty());
}

TEST_CASE("a fault in the middle keeps what was read before, and the launches without counters") {
    Run run;
    for (int i = 0; i < 5; ++i) {
        run.launch("k"); // the first window of four is read at the fifth launch
    }
    run.backend.at_stop = fault_of_cupti(9, "cuptiRangeProfilerStop");
    const Profile profile = run.profile();
    REQUIRE(profile.launches.size() == 5);
    CHECK(profile.launches[3].counters.size() == 2);
    CHECK(profile.launches[4].counters.empty());
    CHECK(has_note(profile, "collecting stopped"));
    CHECK(run.backend.ends == 1);
}

TEST_CASE("a chip that no metric file knows is a fault of its own") {
    Run run;
    run.backend.chip = "YY900";
    run.launch("k");
    REQUIRE(run.collector->fault());
    CHECK(run.collector->fault()->fault == Fault::no_metrics);
}

TEST_CASE("a context that goes away is drained first, and a new one begins again") {
    Run run;
    run.launch("a");
    run.collector->context_ends();
    CHECK(run.backend.ends == 1);
    run.backend.launched = 0;
    run.launch("b");
    const Profile profile = run.profile();
    CHECK(profile.launches.size() == 2);
    CHECK(run.backend.begins == 2);
    CHECK(profile.launches[1].counters.size() == 2);
}

TEST_CASE("a tail that is lost is said to be lost") {
    Run run;
    run.launch("a");
    run.collector->finish(true);
    CHECK(run.backend.stops == 0);
    const Profile profile = run.profile();
    REQUIRE(profile.launches.size() == 1);
    CHECK(profile.launches[0].counters.empty());
    CHECK(has_note(profile, "lost tail"));
}

TEST_CASE("nothing that was written is lost when the program dies") {
    Run run;
    for (int i = 0; i < 6; ++i) {
        run.launch("k");
    }
    const auto source = ByteSource::of_text(run.out.str(), "out"); // no finish: killed here
    const auto read = read_profile(*source);
    REQUIRE(read.ok());
    CHECK(read->launches.size() == 4);
    CHECK(read.diagnostics().items()[0].code == "cut-off");
}

TEST_CASE("every reason has a line of its own, ends in exit code 4, and survives its file") {
    std::vector<std::string> messages;
    for (const int code : {8, 14, 15, 26, 27, 35, 39, 40, 41, 42, 43, 44, 45, 46, 999}) {
        const BackendFault fault = fault_of_cupti(code, "cuptiX");
        const Diagnostic diagnostic = diagnostic_of(fault);
        CHECK(diagnostic.code == "unavailable");
        CHECK(diagnostic.message.find('\n') == std::string::npos);
        CHECK(fault_from_text(fault_text(fault)) == fault);
        messages.push_back(diagnostic.message);
    }
    CHECK(fault_of_cupti(35, "").fault == Fault::permission);
    CHECK(
        diagnostic_of(fault_of_cupti(35, "")).hint.find("NVreg_RestrictProfilingToAdminUsers=0") !=
        std::string::npos);
    CHECK(fault_of_cupti(39, "").fault == Fault::other_profiler);
    CHECK(fault_of_cupti(40, "").fault == Fault::vgpu);
    CHECK(fault_of_cupti(43, "").fault == Fault::mig);
    CHECK(fault_of_cupti(26, "").fault == Fault::busy);
    CHECK(fault_of_driver(100, "").fault == Fault::no_device);
    CHECK(fault_of_driver(803, "").fault == Fault::driver_mismatch);
    CHECK_FALSE(fault_from_text("{}"));
    CHECK_FALSE(fault_from_text("not json"));
    CHECK_FALSE(fault_from_text("{\"fault\":\"no-such\"}"));
}

TEST_CASE("a request survives its file") {
    CollectRequest request;
    request.mode = "counters";
    request.folder = "/tmp/a b";
    request.metrics = {{"GH100", {"dram__bytes.sum"}}};
    request.filter = {.name_regex = "ge\"mm", .range = "r", .skip = 3, .count = 9};
    const auto read = request_from_text(request_text(request));
    REQUIRE(read.ok());
    CHECK(*read == request);
    CHECK_FALSE(request_from_text("{}").ok());
    CHECK_FALSE(request_from_text("").ok());
}

} // namespace test_profiles_collector
