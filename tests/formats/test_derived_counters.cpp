// Places on the roofline from what standard exports of Nsight Compute and ROCm hold.
#include "formats/metric_family.hpp"
#include "profiles/derived_counters.hpp"
#include "profiles/import/importer.hpp"
#include "profiles/points.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <utility>
#include <vector>

namespace test_formats_derived_counters {

using namespace eyeroof;
using namespace eyeroof::profiles;
using eyeroof::tests::near;

namespace {

using Columns = std::vector<std::array<std::string, 3>>; // name, unit, value

// The raw page: a row of names, of units, and of a kernel.
std::string raw_page(const Columns& columns, const std::string& cc = "8.0") {
    std::string names = "\"ID\",\"Kernel Name\",\"CC\"", units = "\"\",\"\",\"\"",
                values = "\"0\",\"sgemm\",\"" + cc + "\"";
    for (const auto& [name, unit, value] : columns) {
        names += ",\"" + name + "\"";
        units += ",\"" + unit + "\"";
        values += ",\"" + value + "\"";
    }
    return names + "\n" + units + "\n" + values + "\n";
}

const std::vector<MetricFamily>& families() {
    static const auto read =
        formats::read_metric_families(eyeroof::tests::source_dir() + "/profiles/metrics");
    REQUIRE(read.ok());
    return *read;
}

Result<std::vector<MeasuredPoint>> points(const std::string& text) {
    const auto profile = import_profile(input_of_text(text, "in.csv"));
    REQUIRE(profile.ok());
    return points_of(*profile, family_of_profile(families(), *profile));
}

const std::array<std::string, 3> kTime = {"gpu__time_duration.sum", "msecond", "1.5"};
const std::array<std::string, 3> kFma = {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                                         "inst", "1,000,000,000"};

} // namespace

// 1.5 ms, 3 GB, 10^9 fused operations: 1.333 TFLOP/s at 0.667 FLOP/B.
TEST_CASE("every export of the same kernel has the same place") {
    const std::array<std::string, 3> per_cycle = {
        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed", "inst/cycle",
        "666.6666666667"};
    const std::array<std::string, 3> cycles = {"sm__cycles_elapsed.max", "cycle", "1,500,000"};
    const std::array<std::string, 3> clock = {"smsp__cycles_elapsed.avg.per_second",
                                              "cycle/nsecond", "1.0"};
    const std::array<std::string, 3> rate = {"dram__bytes.sum.per_second", "Tbyte/second", "2"};
    for (const Columns& columns : {
             Columns{kTime, {"dram__bytes.sum", "Gbyte", "3"}, kFma},
             {kTime, {"dram__bytes.sum", "GB", "3"}, kFma},
             {kTime,
              {"dram__bytes_read.sum", "Gbyte", "2"},
              {"dram__bytes_write.sum", "Gbyte", "1"},
              kFma},
             {kTime,
              {"dram__sectors_read.sum", "sector", "62,500,000"},
              {"dram__sectors_write.sum", "sector", "31,250,000"},
              kFma},
             {kTime, {"dram__sectors.sum", "sector", "93,750,000"}, kFma},
             {kTime, rate, cycles, per_cycle},
             {kTime, rate, clock, per_cycle},
             {kTime,
              rate,
              {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst", "1,000,000,000"}},
             {kTime,
              {"dram__bytes.sum", "Gbyte", "3"},
              {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_second", "inst/nsecond",
               "666.6666666667"}},
             {{"sm__cycles_elapsed.avg", "cycle", "1500000"},
              {"sm__cycles_elapsed.avg.per_second", "cycle/nsecond", "1.0"},
              {"dram__bytes.sum", "byte", "3000000000"},
              kFma},
             {kTime,
              {"dram__bytes.sum.pct_of_peak_sustained_elapsed", "%", "50"},
              {"dram__bytes.sum.peak_sustained", "byte/cycle", "4000"},
              {"dram__cycles_elapsed.avg.per_second", "cycle/nsecond", "1.0"},
              kFma},
         }) {
        CAPTURE(columns[1][0]);
        const auto made = points(raw_page(columns));
        REQUIRE(made.ok());
        REQUIRE(made->size() == 1);
        CHECK(made->front().flops_per_s() == near(4e12 / 3.0, 1e-3));
        CHECK(made->front().intensity("dram") == near(2.0 / 3.0, 1e-3));
    }
}

TEST_CASE("a family that counts a type over all results takes them one by one, too") {
    const auto made = points(raw_page({kTime,
                                       {"dram__bytes.sum", "Gbyte", "3"},
                                       {"sm__ops_path_tensor_src_fp16_dst_fp16.sum", "", "4e11"},
                                       {"sm__ops_path_tensor_src_fp16_dst_fp32.sum", "", "6e11"}},
                                      "9.0"));
    REQUIRE(made.ok());
    REQUIRE(made->size() == 1);
    CHECK(made->front().flops_per_s() == near(1e12 / 1.5e-3, 1e-3));
}

TEST_CASE("metrics that a place needs are named where they are missing") {
    const auto made = points(raw_page({kTime, {"gpu__compute_memory_throughput.pct", "%", "80"}}));
    REQUIRE(made.ok());
    REQUIRE(made.diagnostics().size() == 2);
    const std::string told =
        to_string(made.diagnostics().items()[0]) + to_string(made.diagnostics().items()[1]);
    for (const char* name : {"dram__bytes.sum", "dram__bytes_read.sum",
                             "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"}) {
        CHECK(told.find(name) != std::string::npos);
    }
    const auto half = points(raw_page({kTime, {"dram__bytes.sum", "Gbyte", "3"}}));
    REQUIRE(half.diagnostics().size() == 1);
}

TEST_CASE("summaries, repeated headers, and missing units of Nsight Compute") {
    const std::string summary =
        "\"Kernel Name\",\"Block Size\",\"Grid Size\",\"CC\",\"Invocations\",\"Metric Name\","
        "\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"\n"
        "\"sgemm\",\"(256, 1, 1)\",\"(16, 16, 1)\",\"8.0\",\"10\",\"gpu__time_duration.sum\","
        "\"nsecond\",\"1000000\",\"2000000\",\"1500000\"\n"
        "\"sgemm\",\"(256, 1, 1)\",\"(16, 16, 1)\",\"8.0\",\"10\",\"dram__bytes.sum\",\"byte\","
        "\"3000000000\",\"3000000000\",\"3000000000\"\n";
    const auto read = import_profile(input_of_text(summary, "s.csv"));
    REQUIRE(read.ok());
    REQUIRE(read->launches.size() == 1);
    CHECK(read->launches[0].calls == 10);
    CHECK(read->launches[0].duration_ns == near(15e6));
    CHECK(read->launches[0].counters.at("dram__bytes.sum") == near(3e10));

    const std::string header = "\"ID\",\"Process ID\",\"Kernel Name\",\"Metric Name\","
                               "\"Metric Unit\",\"Metric Value\"\n";
    const auto row = [](int process) {
        return fmt::format("\"0\",\"{}\",\"k\",\"gpu__time_duration.sum\",\"ns\",\"100\"\n",
                           process);
    };
    const auto twice = import_profile(input_of_text(header + row(1) + header + row(2), "t.csv"));
    REQUIRE(twice.ok());
    CHECK(twice->launches.size() == 2);

    std::string bare = raw_page({kTime});
    bare.erase(bare.find('\n') + 1, bare.find('\n', bare.find('\n') + 1) - bare.find('\n'));
    const auto without = import_profile(input_of_text(bare, "b.csv"));
    REQUIRE(!without.ok()); // its times may be in any unit
    CHECK(without.diagnostics().items()[0].code == "no-units");
}

TEST_CASE("AMD's counters have a place, by requests of every size") {
    const auto launch = [](std::vector<std::pair<std::string, double>> counters) {
        Launch made;
        for (const auto& [name, value] : counters) {
            made.counters[name] = value;
        }
        add_derived_counters(made);
        return made.counters;
    };
    const std::string header = "\"Dispatch_Id\",\"Agent_Id\",\"Kernel_Name\",\"Counter_Name\","
                               "\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n";
    std::string rows;
    for (const auto& [name, value] : {std::pair{"FETCH_SIZE", "98304.0"},
                                      {"WRITE_SIZE", "1024.0"},
                                      {"SQ_INSTS_VALU_MFMA_MOPS_F16", "1000.0"}}) {
        rows += fmt::format("1,4,\"matmul\",\"{}\",{},3000000000,3000020000\n", name, value);
    }
    const auto made = points(header + rows);
    REQUIRE(made.ok());
    REQUIRE(made->size() == 1);
    CHECK(made->front().flops() == near(512'000.0));
    CHECK(made->front().at_level("dram")->bytes == near(99'328.0 * 1024.0));
    // 400,000 reads of 128 bytes, 100,000 of 32, the other 500,000 of 64; writes of 64 and 32
    for (const char* large : {"TCC_BUBBLE_sum", "TCC_EA0_RDREQ_128B_sum"}) {
        const auto counters = launch({{"TCC_EA0_RDREQ_sum", 1e6},
                                      {"TCC_EA0_RDREQ_32B_sum", 1e5},
                                      {large, 4e5},
                                      {"TCC_EA0_WRREQ_sum", 5e5},
                                      {"TCC_EA0_WRREQ_64B_sum", 3e5}});
        CHECK(counters.at("FETCH_SIZE") == near(86.4e6 / 1024.0));
        CHECK(counters.at("WRITE_SIZE") == near(25.6e6 / 1024.0));
    }
    const auto older = launch({{"TCC_EA_RDREQ_sum", 1e6}, {"TCC_EA_RDREQ_32B_sum", 1e5}});
    CHECK(older.at("FETCH_SIZE") == near(60.8e6 / 1024.0));
    CHECK_FALSE(older.contains("WRITE_SIZE"));
}

} // namespace test_formats_derived_counters
