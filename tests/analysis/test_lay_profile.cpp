// The step below seven: what was measured against what was predicted, on hand-made numbers.
#include "analysis/measured/lay_ceilings.hpp"
#include "analysis/measured/lay_profile.hpp"
#include "formats/ceilings.hpp"
#include "profiles/ceilings.hpp"
#include "report/answers/answers.hpp"
#include "report/exam/exam_answer.hpp"
#include "report/exam/text.hpp"
#include "tests/json_schema.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"
#include "tests/report/fixture.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <numeric>

namespace test_analysis_lay_profile {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;

namespace {

// A machine of 100 MAC/cycle at 1 MHz with 1 MB/s. A product of 10 x 10 x 100: 10,000 MACs are
// 100 us at its peak, 1,000 bytes 1 ms: bound by memory. 2 ms with ramp-up, 1 ms launch.
analysis::Report one_layer() {
    analysis::Report report;
    report.machine.id = "box";
    report.machine.name = "Box";
    report.machine.kind = "gpu";
    report.machine.units = 100.0;
    report.machine.clock_hz = 1e6;
    report.machine.peak_macs_per_s = 1e8;
    report.machine.outer_bytes_per_s = 1e6;
    report.network_name = "net";
    analysis::LayerReport layer;
    layer.layer.name = "fc";
    layer.layer.op = model::Op::gemm;
    layer.layer.shape = model::GemmShape{1, 10, 10, 100};
    layer.layer.count = 3;
    layer.layer.types = {model::DataType::fp32, model::DataType::fp32, model::DataType::fp32};
    layer.macs = 10'000;
    layer.flops = 20'000;
    layer.outer_bytes = 1000.0;
    // 10,000 MAC in 100 cycles at step 3 and 5, 1000 at step 6, 3000 with everything.
    layer.steps = tests::chain_of({10'000, 1000, 100, 100, 100, 10, 10.0 / 3.0});
    layer.machine_steps = layer.steps;
    layer.time_s = 3e-3;
    layer.low_s = 2.5e-3;
    layer.high_s = 4e-3;
    layer.split.overhead_s = 1e-3;
    layer.limiter_step = 6;
    layer.limiter = "DRAM";
    report.layers.push_back(layer);
    return report;
}

profiles::Launch launch(std::int64_t start_us, double duration_us, std::int64_t call) {
    profiles::Launch l;
    l.range = 0;
    l.range_call = call;
    l.device = 0;
    l.start_ns = start_us < 0 ? profiles::kNone : start_us * 1000;
    l.duration_ns = duration_us * 1e3;
    return l;
}

profiles::Profile profile_of(std::vector<profiles::Launch> launches) {
    profiles::Profile profile;
    profile.run.gpu = "Box";
    profile.run.driver = "1.2";
    profile.sources = {"test"};
    profile.kernels = {{"gemm_kernel", ""}, {"stray_kernel", ""}};
    profile.ranges = {"eyeroof:layer=fc"};
    profile.launches = std::move(launches);
    return profile;
}

const analysis::Disagreement* find(const analysis::LayerMeasurement& m,
                                   const std::string& quantity) {
    const auto it = std::ranges::find(m.disagreements, quantity, &analysis::Disagreement::quantity);
    return it == m.disagreements.end() ? nullptr : &*it;
}

double accounted(const analysis::LayerMeasurement& m) {
    return std::accumulate(m.disagreements.begin(), m.disagreements.end(), 0.0,
                           [](double sum, const analysis::Disagreement& d) {
                               return sum + d.accounts_s.value_or(0.0);
                           });
}

analysis::LayerMeasurement laid(const profiles::Profile& profile) {
    analysis::Report report = one_layer();
    const auto done = analysis::lay_profile(report, profile, nullptr);
    REQUIRE(done.ok());
    REQUIRE(report.layers[0].measured);
    return *report.layers[0].measured;
}

} // namespace

TEST_CASE("without starts kernels are held against the prediction without launches") {
    // two executions of 2.5 ms and 3.5 ms: 3 ms against 3 ms - 1 ms of launch
    const auto m = laid(profile_of({launch(-1, 2500, 0), launch(-1, 3500, 1)}));
    CHECK(m.executions == 2);
    CHECK_FALSE(m.executions_assumed);
    CHECK(m.time_s == near(3e-3));
    CHECK_FALSE(m.gap_s);
    CHECK(m.predicted_s == near(2e-3));
    CHECK(m.unexplained_s == near(1e-3));
    CHECK(m.remaining_s == near(1e-3));
    CHECK(m.disagreements.empty());
    REQUIRE(m.in_interval); // 2.5 … 4 ms scaled by 2/3: 1.67 … 2.67 ms
    CHECK_FALSE(*m.in_interval);
}

TEST_CASE("two kernels of one call are one execution, without calls the rarest kernel counts") {
    auto a = launch(-1, 1000, 7);
    auto b = launch(-1, 500, 7);
    b.kernel = 1;
    CHECK(laid(profile_of({a, b})).executions == 1);
    CHECK(laid(profile_of({a, b})).time_s == near(1.5e-3));
    a.range_call = b.range_call = profiles::kNone;
    const auto m = laid(profile_of({a, a, a, a, b, b})); // two executions of a, a, b
    CHECK(m.executions == 2);
    CHECK(m.executions_assumed);
    CHECK(m.time_s == near(2.5e-3));
}

TEST_CASE("more bytes than predicted are step six, and account for the time they take") {
    auto l = launch(-1, 3500, 0);
    l.counters["bytes.dram"] = 2500.0; // 1000 predicted at 1 MB/s: 1.5 ms more
    const auto m = laid(profile_of({l}));
    const auto* bytes = find(m, "DRAM bytes");
    REQUIRE(bytes != nullptr);
    CHECK(bytes->step == 6);
    CHECK(bytes->predicted == near(1000.0));
    CHECK(bytes->measured == near(2500.0));
    REQUIRE(bytes->accounts_s);
    CHECK(*bytes->accounts_s == near(1.5e-3));
    CHECK(m.unexplained_s == near(1.5e-3)); // 3.5 ms against 2 ms
    CHECK(m.remaining_s == near(0.0));
    l.counters["bytes.dram"] = 1050.0; // within the tenth that is not told
    CHECK(find(laid(profile_of({l})), "DRAM bytes") == nullptr);
}

TEST_CASE("bytes that hide behind the arithmetic account for nothing") {
    analysis::Report report = one_layer();
    report.layers[0].steps = tests::chain_of({10'000, 1000, 2, 2, 2, 2, 2}); // 5 ms of arithmetic
    report.layers[0].time_s = 6e-3;
    auto l = launch(-1, 5000, 0);
    l.counters["bytes.dram"] = 2000.0; // 2 ms
    REQUIRE(analysis::lay_profile(report, profile_of({l}), nullptr).ok());
    const auto* bytes = find(*report.layers[0].measured, "DRAM bytes");
    REQUIRE(bytes != nullptr);
    CHECK(*bytes->accounts_s == near(0.0));
}

TEST_CASE("a lower clock stretches arithmetic and latencies, not the memory") {
    auto l = launch(-1, 3000, 0);
    l.counters["clock_hz"] = 0.5e6;
    const auto m = laid(profile_of({l}));
    const auto* clock = find(m, "clock");
    REQUIRE(clock != nullptr);
    CHECK(clock->step == 7);
    CHECK(*clock->accounts_s == near(1e-3)); // the 1 ms beside memory takes 2 ms
    CHECK(m.remaining_s == near(0.0));
    l.counters["clock_hz"] = 0.98e6;
    CHECK(find(laid(profile_of({l})), "clock") == nullptr);
}

TEST_CASE("gaps before and between kernels stand against the predicted launches") {
    // 500 us after the kernel before it, then 100 us between its two kernels
    auto stray = launch(0, 1000, 0);
    stray.range = profiles::kNone;
    stray.kernel = 1;
    const auto m = laid(profile_of({stray, launch(1500, 1000, 1), launch(2600, 1000, 1)}));
    REQUIRE(m.gap_s);
    CHECK(*m.gap_s == near(6e-4));
    CHECK(m.time_s == near(2.6e-3));
    CHECK(m.predicted_s == near(3e-3)); // with its launches: gaps are known
    const auto* gaps = find(m, "launch gaps");
    REQUIRE(gaps != nullptr);
    CHECK(gaps->step == 7);
    CHECK(*gaps->accounts_s == near(-4e-4));
    // a pause of 5 ms is the program's own
    const auto paused = laid(profile_of({stray, launch(6000, 2000, 1)}));
    CHECK(*paused.gap_s == near(0.0));
    // kernels that overlap leave no gap
    const auto beside = laid(profile_of({stray, launch(500, 1000, 1)}));
    CHECK(*beside.gap_s == near(0.0));
}

TEST_CASE("times under replay have no gaps") {
    auto l = launch(100, 2000, 0);
    l.under_replay = true;
    const auto m = laid(profile_of({launch(0, 50, 1), l}));
    CHECK_FALSE(m.gap_s);
    CHECK(m.under_replay);
}

TEST_CASE("operations beyond 2MNK are step four, fewer are told and no time is made of them") {
    auto l = launch(-1, 2000, 0);
    l.counters["flops.fp32.fma"] = 30'000.0; // 20,000 needed
    auto m = laid(profile_of({l}));
    CHECK(m.work_check == profiles::WorkCheck::padding);
    REQUIRE(find(m, "operations") != nullptr);
    CHECK(find(m, "operations")->step == 4);
    CHECK(*find(m, "operations")->accounts_s == near(0.0)); // behind the memory
    l.counters["flops.fp32.fma"] = 9000.0;
    m = laid(profile_of({l}));
    CHECK(m.work_check == profiles::WorkCheck::fewer);
    CHECK_FALSE(find(m, "operations")->accounts_s);
    l.counters["flops.fp32.fma"] = 20'000.0;
    m = laid(profile_of({l}));
    CHECK(m.work_check == profiles::WorkCheck::fits);
    CHECK(find(m, "operations") == nullptr);
}

TEST_CASE("operations account for the arithmetic that nothing hides, for each run of the layer") {
    analysis::Report report = one_layer();
    report.layers[0].steps = tests::chain_of({10'000, 1000, 2, 2, 2, 2, 2}); // 5 ms of arithmetic
    report.layers[0].time_s = 6e-3;
    auto l = launch(-1, 8000, 0);
    l.counters["flops.fp32.fma"] = 30'000.0; // half as many again
    REQUIRE(analysis::lay_profile(report, profile_of({l}), nullptr).ok());
    const auto* operations = find(*report.layers[0].measured, "operations");
    REQUIRE(operations != nullptr);
    CHECK(*operations->accounts_s == near(2.5e-3));
    REQUIRE(report.measured);
    const auto sum = std::ranges::find(report.measured->by_step, std::string("operations"),
                                       &analysis::Disagreement::quantity);
    REQUIRE(sum != report.measured->by_step.end());
    REQUIRE(sum->accounts_s);
    CHECK(*sum->accounts_s == near(3 * 2.5e-3)); // the layer runs three times
}

TEST_CASE("other units than the prediction's are step three, and foremost") {
    auto l = launch(-1, 3500, 0);
    l.counters = {
        {"flops.tf32.tensor", 15'000.0}, {"flops.fp32.fma", 5000.0}, {"bytes.dram", 2500.0}};
    const auto m = laid(profile_of({l}));
    REQUIRE_FALSE(m.disagreements.empty());
    CHECK(m.disagreements[0].quantity == "operations in fp32");
    CHECK(m.disagreements[0].step == 3);
    CHECK(m.disagreements[0].measured == near(25.0));
    CHECK(m.pipe == "tf32 tensor");
}

TEST_CASE("a tensor pipe that is less active is told as a symptom of step five") {
    auto l = launch(-1, 2000, 0);
    l.counters["flops.fp16.tensor"] = 20'000.0;
    l.counters["tensor_active_percent"] = 1.0; // 5 % predicted: 100 us of 2 ms
    const auto m = laid(profile_of({l}));
    const auto* pipe = find(m, "tensor pipe active");
    REQUIRE(pipe != nullptr);
    CHECK(pipe->step == 5);
    CHECK(pipe->predicted == near(5.0));
    CHECK_FALSE(pipe->accounts_s);
    CHECK(m.pipe == "fp16 tensor");
}

TEST_CASE("what is accounted for and what remains add up, whatever was counted") {
    for (const double bytes : {200.0, 1000.0, 9000.0}) {
        for (const double flops : {20'000.0, 700'000.0}) {
            for (const double clock : {0.3e6, 1e6, 1.7e6}) {
                auto l = launch(3000, 4000, 1);
                l.counters = {{"bytes.dram", bytes}, {"flops.fp32", flops}, {"clock_hz", clock}};
                auto before = launch(0, 2500, 0);
                before.range = profiles::kNone;
                const auto m = laid(profile_of({before, l}));
                CHECK(m.unexplained_s == near(accounted(m) + m.remaining_s));
            }
        }
    }
}

TEST_CASE("what the host measurement derives from shapes is no count") {
    auto l = launch(-1, 2000, 0);
    l.counters = {{"bytes.dram", 5000.0}, {"flops.fp32.fma", 90'000.0}};
    auto profile = profile_of({l});
    profile.run.tool = "eyeroof-measure-cpu";
    const auto m = laid(profile);
    CHECK(m.bytes.empty());
    CHECK_FALSE(m.flops);
    CHECK(m.work_check == profiles::WorkCheck::unknown);
}

TEST_CASE("totals count every execution of the network, and kernels without a layer are named") {
    analysis::Report report = one_layer();
    auto stray = launch(-1, 1000, 0);
    stray.range = profiles::kNone;
    stray.kernel = 1;
    REQUIRE(analysis::lay_profile(report, profile_of({launch(-1, 3000, 0), stray}), nullptr).ok());
    REQUIRE(report.measured);
    CHECK(report.measured->layers == 1);
    CHECK(report.measured->predicted_s == near(6e-3)); // three executions of 2 ms
    CHECK(report.measured->measured_s == near(9e-3));
    CHECK(report.measured->matched_share == near(0.75));
    REQUIRE(report.measured->unmatched.size() == 1);
    CHECK(report.measured->unmatched[0].name == "stray_kernel");
    CHECK(report.measured->unmatched[0].time_s == near(1e-3));
}

TEST_CASE("a profile of something else is warned about and changes no layer") {
    analysis::Report report = one_layer();
    auto stray = launch(-1, 1000, 0);
    stray.range = profiles::kNone;
    stray.kernel = 1;
    const auto done = analysis::lay_profile(report, profile_of({stray}), nullptr);
    REQUIRE(done.ok());
    REQUIRE(done.diagnostics().size() == 1);
    CHECK(done.diagnostics().items()[0].code == "no-match");
    CHECK_FALSE(report.layers[0].measured);
}

TEST_CASE("every writer shows the step below seven, and the JSON keeps to its schema") {
    analysis::Report report = one_layer();
    auto l = launch(1000, 3500, 1);
    l.counters = {{"bytes.dram", 2500.0}, {"clock_hz", 0.5e6}, {"flops.fp32", 20'000.0}};
    auto before = launch(0, 900, 0);
    before.range = profiles::kNone;
    before.kernel = 1;
    REQUIRE(analysis::lay_profile(report, profile_of({before, l}), nullptr).ok());
    model::Machine machine;
    machine.kind = model::Gpu{};
    analysis::lay_ceilings(report, machine,
                           {{.name = "dram read", .level = "dram", .value = 8e5, .spread = 0.01}});
    const std::string text = report::to_text(report);
    CHECK(text.find("unexplained (measured)") != std::string::npos);
    CHECK(text.find("step 6 average bandwidth: DRAM bytes 2.5 kB, 1 kB predicted") !=
          std::string::npos);
    CHECK(text.find("driver 1.2") != std::string::npos);
    CHECK(text.find("stray_kernel") != std::string::npos);
    CHECK(report::to_markdown(report::exam_answer(report)).find("| fc | 3 ms |") !=
          std::string::npos);
    CHECK(report::to_html(report::exam_answer(report)).find("Measured, below step seven") !=
          std::string::npos);
    const std::string csv = report::to_csv(report::exam_answer(report));
    CHECK(csv.find(",measured_s,compared_s,unexplained_s,remaining_s,executions,disagreements,"
                   "measured_roof_s,measured_roof,macs,") != std::string::npos);
    tests::SchemaCheck check(nlohmann::json::parse(report::schema_of("exam")));
    const auto json = nlohmann::json::parse(report::to_json(report::exam_answer(report)));
    CHECK(json["layers"][0]["measured"]["disagreements"][0]["step"] == 6);
    CHECK(json["measured"]["layers"] == 1);
    CHECK(json["ceilings"][0]["measured"] == 8e5);
    for (const auto& problem : check.faults(json)) {
        FAIL_CHECK(problem);
    }
}

TEST_CASE("measured ceilings stand beside the description, and allow a layer no less time") {
    analysis::Report report = one_layer();
    model::Machine machine;
    model::Gpu gpu;
    gpu.dram_bytes_per_s = 1e6;
    gpu.pcie_bytes_per_s = 5e5;
    gpu.rate(model::DataType::fp32) = {2e8, model::Pipe::vector};
    machine.kind = gpu;
    analysis::lay_ceilings(
        report, machine,
        {{.name = "dram read", .level = "dram", .value = 8e5},
         {.name = "dram copy", .level = "dram", .value = 9e5},
         {.name = "fma fp32", .precision = "fp32", .pipe = "fma", .value = 1e8},
         {.name = "tensor fp32", .precision = "fp32", .pipe = "tensor", .value = 3e8},
         {.name = "pcie h2d", .level = "pcie", .value = 4e5},
         {.name = "launch", .value = 2e-6}});
    REQUIRE(report.ceilings.size() == 6);
    CHECK(report.ceilings[0].described == near(1e6));
    CHECK(report.ceilings[2].described == near(2e8));
    CHECK(report.ceilings[3].described == 0.0); // the description's fp32 is not the tensor pipe's
    CHECK(report.ceilings[4].described == near(5e5));
    CHECK(report.ceilings[5].described == 0.0);
    REQUIRE(report.layers[0].roof);
    CHECK(report.layers[0].roof->by == "dram copy"); // 1000 B at 0.9 MB/s: 1.11 ms
    CHECK(report.layers[0].roof->time_s == near(1000.0 / 9e5));
}

TEST_CASE("the overlay that was written is read back") {
    profiles::Profile profile;
    profile.run.gpu = "Box \"2\"";
    profile.run.driver = "580.1";
    profile.run.sm_clock_hz = 1.98e9;
    profile.run.temperature_c = 61.0;
    profile.ceilings = {{"dram read", "dram", "", "", 2.9e12, 2.8e12, 0.02, 20, "float4, 4 x L2"},
                        {"tensor fp16", "", "fp16", "tensor", 7e14, 6.9e14, 0.01, 10, "cuBLASLt"},
                        {"launch eager", "", "", "", 2.1e-6, 2.2e-6, 0.1, 100, "empty kernel"}};
    const auto read = formats::parse_ceilings(profiles::ceilings_yaml(profile), "o.yaml");
    for (const auto& diagnostic : read.diagnostics()) {
        FAIL_CHECK(to_string(diagnostic));
    }
    REQUIRE(read.ok());
    CHECK(read->run.driver == "580.1");
    CHECK(read->run.sm_clock_hz == near(1.98e9));
    CHECK(read->run.temperature_c == near(61.0));
    REQUIRE(read->ceilings.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(read->ceilings[i].name == profile.ceilings[i].name);
        CHECK(read->ceilings[i].value == near(profile.ceilings[i].value));
        CHECK(read->ceilings[i].median == near(profile.ceilings[i].median));
        CHECK(read->ceilings[i].level == profile.ceilings[i].level);
        CHECK(read->ceilings[i].pipe == profile.ceilings[i].pipe);
    }
}

TEST_CASE("a broken overlay is refused with its lines") {
    const auto read =
        formats::parse_ceilings("eyeroof_ceilings: 1\n"
                                "ceilings:\n"
                                "  - {name: a, level: dram, value: 3 GFLOP/s}\n"
                                "  - {name: b, level: l2, precision: fp16, value: 1 GB/s}\n"
                                "  - {name: c, valeu: 1 us}\n",
                                "o.yaml");
    REQUIRE_FALSE(read.ok());
    std::string all;
    for (const auto& diagnostic : read.diagnostics()) {
        all += to_string(diagnostic) + "\n";
    }
    CHECK(all.find("o.yaml:3:") != std::string::npos);
    CHECK(all.find("o.yaml:4:") != std::string::npos);
    CHECK(all.find("o.yaml:5:") != std::string::npos);
    CHECK(all.find("did you mean 'value'") != std::string::npos);
}

} // namespace test_analysis_lay_profile
