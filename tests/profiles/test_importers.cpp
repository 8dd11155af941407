#include "profiles/import/counter_units.hpp"
#include "profiles/import/csv_table.hpp"
#include "profiles/import/importer.hpp"
#include "profiles/matching.hpp"
#include "profiles/operator_work.hpp"
#include "profiles/profile_file.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace test_profiles_importers {

using namespace eyeroof;
using namespace eyeroof::profiles;
using eyeroof::tests::near;

namespace {

const std::string kSamples = eyeroof::tests::source_dir() + "/tests/profiles/samples/";

std::string text_of(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

Profile import_sample(const std::string& name) {
    const auto profile = import_file(kSamples + name);
    for (const auto& diagnostic : profile.diagnostics()) {
        MESSAGE(to_string(diagnostic));
    }
    REQUIRE(profile.ok());
    return *profile;
}

Result<Profile> import_text(const std::string& text) {
    return import_profile(input_of_text(text, "in"));
}

// The sample's SQL run in memory, with `more` behind it, as the bytes of a database file.
std::string database_of(const std::string& more = {}) {
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(":memory:", &db) == SQLITE_OK);
    const std::string sql = text_of(kSamples + "nsys.sql") + more;
    char* message = nullptr;
    const int code = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message);
    CAPTURE(std::string(message == nullptr ? "" : message));
    REQUIRE(code == SQLITE_OK);
    sqlite3_int64 size = 0;
    unsigned char* bytes = sqlite3_serialize(db, "main", &size, 0);
    std::string database(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    sqlite3_free(bytes);
    sqlite3_close(db);
    return database;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("Nsight Compute's raw page gives a launch a row, past what the program printed") {
    const Profile profile = import_sample("ncu_raw.csv");
    REQUIRE(profile.launches.size() == 2);
    const Launch& gemm = profile.launches[0];
    CHECK(profile.kernel_of(gemm).name == "void sgemm<float, (int)128>(const float *, float *)");
    CHECK(gemm.grid == Dim3{16, 16, 1});
    CHECK(gemm.block == Dim3{256, 1, 1});
    CHECK(gemm.stream == 7);
    CHECK(gemm.duration_ns == 1048576.0);
    CHECK(gemm.under_replay);
    CHECK(gemm.counters.at("dram__bytes.sum") == 50331648.0);
    CHECK(gemm.counters.at("sm__cycles_elapsed.avg.per_second") == 1700000000.5);
    CHECK_FALSE(gemm.counters.contains("launch__function_pcs")); // "n/a"
    CHECK(profile.run.gpu == "NVIDIA H200");
    CHECK(profile.run.compute_capability == "9.0");
    CHECK(profile.run.tool == "nsight-compute-csv");
}

TEST_CASE("a time or byte counter of Nsight Compute without a unit is refused, text in one named") {
    const auto read = [](const std::string& rows) {
        return import_text(
            "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"dram__bytes.sum\"\n" + rows);
    };
    CHECK(read("\"\",\"\",\"us\",\"Kbyte\"\n\"0\",\"k\",\"7\",\"3\"\n").diagnostics().size() == 0);
    for (const char* rows :
         {"\"0\",\"k\",\"7\",\"3\"\n", "\"\",\"\",\"\",\"Kbyte\"\n\"0\",\"k\",\"7\",\"3\"\n",
          "\"\",\"\",\"us\",\"\"\n\"0\",\"k\",\"7\",\"3\"\n",
          "\"\",\"\",\"us\",\"\"\n\"0\",\"k\",\"7\",\"3\"\n\"1\",\"k\",\"1.234,5\",\"3\"\n"}) {
        CAPTURE(rows);
        const auto profile = read(rows);
        REQUIRE_FALSE(profile.ok());
        CHECK(profile.diagnostics().items()[0].code == "no-units");
    }
    const auto text = read("\"\",\"\",\"us\",\"Kbyte\"\n\"0\",\"k\",\"7\",\"0x1F\"\n");
    REQUIRE(text.ok());
    CHECK(text.diagnostics().items()[0].code == "not-a-number");
    CHECK(
        read("\"\",\"\",\"us\",\"Kbyte\"\n\"0\",\"k\",\"7\",\"(!) n/a\"\n").diagnostics().size() ==
        0);
    const auto timeless = read("\"\",\"\",\"us\",\"Kbyte\"\n\"0\",\"k\",\"0x1F\",\"3\"\n");
    CHECK_FALSE(timeless.ok());
}

TEST_CASE("a table that is a view is not read, and a warning says so") {
    const auto profile = import_text(database_of(
        "ALTER TABLE StringIds RENAME TO Texts; CREATE VIEW StringIds AS SELECT * FROM Texts;"));
    REQUIRE(profile.ok());
    REQUIRE(!profile.diagnostics().empty());
    CHECK(profile.diagnostics().items()[0].code == "not-stored");
    CHECK(profile.diagnostics().items()[0].message.find("StringIds is a view") == 0);
}

TEST_CASE("a database that asks for a log is read without one") {
    std::string database = database_of();
    database[18] = database[19] = 2; // of the file format: write-ahead log
    const auto profile = import_text(database);
    REQUIRE(profile.ok());
    CHECK(profile->launches == import_text(database_of())->launches);
}

TEST_CASE("decimal commas and units with prefixes are read as what they mean") {
    const Profile profile = import_sample("ncu_raw_comma.csv");
    const Launch& launch = profile.launches.at(0);
    CHECK(launch.counters.at("lts__t_bytes.sum") == 27595520.0);
    CHECK(launch.counters.at("dram__bytes.sum") == near(50.33e6));
    CHECK(launch.duration_ns == near(1048570.0)); // 1.048,57 us
    CHECK(launch.counters.at("sm__warps_active.avg.pct_of_peak_sustained_active") == 65.77);
}

TEST_CASE("blanks and apostrophes between thousands are read in each country's numbers") {
    const std::string head = "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric "
                             "Value\"\n\"0\",\"k\",\"gpu__time_duration.sum\",\"ns\",\"";
    for (const char* number : {"1 500 000", "1\u00a0500\u202f000,00", "1'500'000.0", "15,00,000"}) {
        CAPTURE(std::string(number));
        const auto profile = import_profile(input_of_text(head + number + "\"\n", "n.csv"));
        REQUIRE(profile.ok());
        CHECK(profile->launches.at(0).duration_ns == near(1.5e6));
    }
}

TEST_CASE("a file that mixes decimal points and commas is refused") {
    std::string text = text_of(kSamples + "ncu_raw_comma.csv");
    text += replaced(text.substr(text.rfind("\"0\",\"12\"")), "65,77", "65.7734");
    const auto profile = import_text(text);
    REQUIRE_FALSE(profile.ok());
    CHECK(profile.diagnostics().items()[0].code == "mixed-numbers");
    CHECK(profile.diagnostics().items()[0].where.line == 4);
}

TEST_CASE("the details page is gathered into launches, with display names told apart") {
    const Profile profile = import_sample("ncu_details.csv");
    REQUIRE(profile.launches.size() == 2);
    const auto& counters = profile.launches[0].counters;
    CHECK(profile.launches[0].duration_ns == near(1234560.0)); // 1,234.56 us
    CHECK(counters.at("dram__cycles_elapsed.avg.per_second") == near(7.99e9));
    CHECK(counters.at("GPU Speed Of Light Throughput: Memory Throughput") == 45.5);
    CHECK(counters.at("Memory Workload Analysis: Memory Throughput") == near(345.6e9));
    CHECK(profile.launches[1].counters.at("dram__bytes.sum") == 2048e3);
}

TEST_CASE("rows of metrics may lack the columns of rules behind the value, but nothing else") {
    const std::string header = "\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\","
                               "\"Metric Unit\",\"Metric Value\",\"Rule Name\",\"Rule Type\"\n";
    const auto whole = import_text(header + "\"0\",\"k\",\"S\",\"Duration\",\"us\",\"2.5\",\"\"\n" +
                                   "\"0\",\"k\",\"S\",\"\",\"\",\"\",\"Bottleneck\",\"OPT\"\n");
    REQUIRE(whole.ok());
    CHECK(whole->launches.at(0).duration_ns == near(2500.0));
    const auto cut = import_text(header + "\"0\",\"k\",\"S\",\"Duration\",\"us\"\n");
    REQUIRE_FALSE(cut.ok());
    CHECK(cut.diagnostics().items()[0].where.line == 2);
}

TEST_CASE("a row shorter than a column that is read is refused, wherever the column stands") {
    const std::string header = "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric "
                               "Value\",\"Host Name\",\"CC\",\"Block Size\",\"Grid Size\","
                               "\"Device\",\"Stream\",\"Process ID\",\"Section Name\"\n";
    const auto refused = import_text(header + "\"0\",\"k\",\"Duration\",\"ns\",\"5\"\n");
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.diagnostics().items()[0].code == "bad-row");
    CHECK(refused.diagnostics().items()[0].where.line == 2);
}

TEST_CASE("names that would steer a terminal are kept as what they show") {
    const auto profile = import_text("kernel,time_us,layer\n\"gemm\033]0;owned\a\",1,a\xC2\x9B\n");
    REQUIRE(profile.ok());
    CHECK(profile->kernels[0].name == "gemm\\x1b]0;owned\\x07");
    CHECK(profile->ranges[0] == "a\\u009b");
    CHECK(profile.diagnostics().items()[0].code == "control-characters");
}

TEST_CASE("a CSV that is cut off is refused with its line") {
    std::string text = text_of(kSamples + "ncu_raw.csv");
    text.resize(text.find("9728"));
    const auto profile = import_text(text);
    REQUIRE_FALSE(profile.ok());
    CHECK(profile.diagnostics().items()[0].where.line == 7);
}

TEST_CASE("a header that lost a needed column is refused") {
    const auto profile = import_text(
        replaced(text_of(kSamples + "ncu_raw.csv"), "\"ID\",\"Process", "\"ID\"x,\"Process"));
    REQUIRE_FALSE(profile.ok());
    CHECK(profile.diagnostics().items()[0].code == "missing-column");
    CHECK(profile.diagnostics().items()[0].where.line == 4);
}

TEST_CASE("Kineto kernels carry the nearest operator that has a shape, and the annotation") {
    const Profile profile = import_sample("kineto.json");
    REQUIRE(profile.launches.size() == 4);
    const Launch& gemm = profile.launches[0];
    CHECK(profile.kernel_of(gemm).name == "void gemm_kernel<__half>(Params)");
    CHECK(gemm.start_ns == 1100500);
    CHECK(gemm.duration_ns == 20250.0);
    CHECK(gemm.grid == Dim3{4, 1, 1});
    CHECK(gemm.block == Dim3{128, 1, 1});
    const Operator& op = *profile.operator_of(gemm);
    CHECK(op.name == "aten::addmm");
    CHECK(op.input_dims ==
          std::vector<std::vector<std::int64_t>>{{10}, {32, 64}, {64, 10}, {}, {}});
    CHECK(op.input_types[1] == "c10::Half");
    CHECK(op.concrete_inputs[3] == "1");
    CHECK(profile.range_of(gemm) == "eyeroof:layer=fc1");
    // Both kernels of one call belong together.
    CHECK(profile.launches[1].op_call == gemm.op_call);
    CHECK(profile.launches[1].block == Dim3{32, 2, 1});
    // No operator with a shape contains it: the outermost is named.
    CHECK(profile.operator_of(profile.launches[2])->name == "aten::relu");
    CHECK(profile.launches[2].range == kNone);
    // No launch call: the External id names the operator.
    CHECK(profile.operator_of(profile.launches[3])->name == "aten::linear");
    CHECK(profile.run.gpu == "NVIDIA H200");
    CHECK(profile.run.compute_capability == "9.0");
    CHECK(profile.run.sm_count == 132);
}

TEST_CASE("a bare list of events is a trace too") {
    const auto profile = import_text(
        R"([{"ph":"X","cat":"Kernel","name":"k","ts":1,"dur":2,"pid":0,"tid":"stream 7","args":{"stream":"7"}}])");
    REQUIRE(profile.ok());
    CHECK(profile->launches.at(0).duration_ns == 2000.0);
    CHECK(profile->launches.at(0).stream == 7);
}

TEST_CASE("every cut of a trace is refused with a position") {
    const std::string text = text_of(kSamples + "kineto.json");
    for (std::size_t cut = 200; cut < text.rfind('}'); cut += 97) {
        const auto profile =
            import_profile(input_of_text(text.substr(0, cut), "t.json"), "kineto-json");
        REQUIRE_FALSE(profile.ok());
        CHECK(profile.diagnostics().items()[0].code == "cut-off");
        CHECK(profile.diagnostics().items()[0].where.line > 1);
    }
}

TEST_CASE("a trace with a broken character is refused at its line and column") {
    const std::string text = replaced(text_of(kSamples + "kineto.json"), "\"record_shapes\": 1,",
                                      "\"record_shapes\": ?,");
    const auto profile = import_text(text);
    REQUIRE_FALSE(profile.ok());
    const auto& error = profile.diagnostics().items()[0];
    CHECK(error.code == "not-json");
    CHECK(error.where.line == 7);
    CHECK(error.where.column >= 20);
    CHECK(error.where.column <= 22);
}

TEST_CASE("JSON nested without end is refused") {
    const auto deep = import_profile(
        input_of_text("{\"traceEvents\": " + std::string(100'000, '['), "t.json"), "kineto-json");
    REQUIRE_FALSE(deep.ok());
    CHECK(deep.diagnostics().items()[0].code == "too-deep");
}

TEST_CASE("Nsight Systems kernels have names, grids and the range of the launching thread") {
    const auto profile = import_text(database_of());
    REQUIRE(profile.ok());
    REQUIRE(profile->launches.size() == 2);
    const Launch& gemm = profile->launches[0]; // by start, not by row
    CHECK(profile->kernel_of(gemm).name == "void gemm<float>(float *)");
    CHECK(profile->kernel_of(gemm).mangled == "_Z4gemmIfEvPf");
    CHECK(gemm.duration_ns == 800.0);
    CHECK(gemm.grid == Dim3{16, 16, 1});
    CHECK(gemm.block == Dim3{128, 2, 1});
    CHECK(profile->range_of(gemm) == "forward > fc1 by id");
    CHECK(profile->range_of(profile->launches[1]) == "forward");
    CHECK(profile->run.gpu == "NVIDIA A100-SXM4-80GB");
    CHECK(profile->run.compute_capability == "8.0");
}

TEST_CASE("a database without optional columns is read, without kernels refused") {
    CHECK(import_text(database_of("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN mangledName;"
                                  "DROP TABLE NVTX_EVENTS; DROP TABLE TARGET_INFO_GPU;"))
              .ok());
    const auto none = import_text(database_of("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;"));
    REQUIRE_FALSE(none.ok());
    CHECK(none.diagnostics().items()[0].code == "missing-table");
    const auto column = import_text(
        database_of("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN gridX TO other;"));
    REQUIRE_FALSE(column.ok());
    CHECK(column.diagnostics().items()[0].code == "missing-column");
}

TEST_CASE("a database that is cut off or scribbled over is refused or read, never half") {
    const std::string whole = database_of();
    const Profile right = *import_text(whole);
    for (std::size_t cut = 100; cut < whole.size(); cut += 512) {
        CHECK_FALSE(import_text(whole.substr(0, cut)).ok());
    }
    CHECK(right.launches.size() == 2);
}

TEST_CASE("rocprofv3 grids are in work-items") {
    const Profile profile = import_sample("rocprof_kernel_trace.csv");
    REQUIRE(profile.launches.size() == 2);
    CHECK(profile.launches[0].duration_ns == 20000.0);
    CHECK(profile.launches[0].grid == Dim3{256, 256, 1}); // 4096 work-items / 16
    CHECK(profile.launches[0].device == 4);
    CHECK(profile.launches[1].grid == Dim3{4, 1, 1}); // 1000 / 256, rounded up
    const Profile counters = import_sample("rocprof_counters.csv");
    REQUIRE(counters.launches.size() == 2);
    CHECK(counters.launches[0].counters.at("FETCH_SIZE") == 98304.5);
    CHECK(counters.launches[0].grid.x == 65536);
}

TEST_CASE("a rocprofv3 kernel that ends before it starts is refused") {
    const auto profile = import_text(
        replaced(text_of(kSamples + "rocprof_kernel_trace.csv"), "3000031500", "2000031500"));
    REQUIRE_FALSE(profile.ok());
    CHECK(profile.diagnostics().items()[0].where.line == 3);
}

TEST_CASE("a plain CSV gives names, times, layers and neutral counters") {
    const Profile profile = import_sample("plain.csv");
    REQUIRE(profile.launches.size() == 2);
    CHECK(profile.launches[0].duration_ns == 12500.0);
    CHECK(profile.launches[0].counters.at("flops.fp16.tensor") == 2.5e9);
    CHECK(profile.launches[0].counters.at("bytes.dram") == 1e6);
    CHECK(profile.launches[0].counters.at("clock_mhz") == 1700.0);
    CHECK(profile.range_of(profile.launches[0]) == "fc1");
    CHECK(profile.launches[1].range == kNone);
    CHECK_FALSE(import_text("kernel,time_us\nx,-4\n").ok());
    CHECK_FALSE(import_text("kernel,time_us\nx,fast\n").ok());
    CHECK_FALSE(import_text("kernel,time_us,bytes_dram\nx,4,many\n").ok());
    CHECK_FALSE(import_text("kernel,time_us\nx,4,5\n").ok());
}

TEST_CASE("each sample is recognised by its own importer, and nothing else is guessed") {
    for (const char* name : {"ncu_raw.csv", "ncu_raw_comma.csv", "ncu_details.csv", "kineto.json",
                             "rocprof_kernel_trace.csv", "rocprof_counters.csv", "plain.csv"}) {
        CAPTURE(std::string(name));
        const auto input = input_of_file(kSamples + name);
        REQUIRE(input.ok());
        int claims = 0;
        for (const Importer* importer : importers()) {
            claims += importer->recognises(input->head) ? 1 : 0;
        }
        CHECK(claims == 1);
    }
    const auto unknown = import_text("what is this?\n");
    REQUIRE_FALSE(unknown.ok());
    CHECK(unknown.diagnostics().items()[0].code == "unknown-format");
    CHECK_FALSE(import_profile(input_of_text("", "empty")).ok());
    CHECK_FALSE(import_profile(input_of_text("x", "x"), "no-such-format").ok());
    CHECK_FALSE(import_file("/no/such/file").ok());
    CHECK_FALSE(import_file(kSamples).ok());
}

TEST_CASE("what was imported survives the profile file") {
    for (const char* name : {"ncu_raw.csv", "kineto.json", "rocprof_counters.csv", "plain.csv"}) {
        const Profile profile = import_sample(name);
        const auto again = import_text(profile_text(profile));
        REQUIRE(again.ok());
        CHECK(*again == profile);
    }
}

TEST_CASE("number styles are decided only by numbers that leave no doubt") {
    CHECK(style_of("27.595.520") == NumberStyle::comma);
    CHECK(style_of("27,595,520") == NumberStyle::point);
    CHECK(style_of("65,77") == NumberStyle::comma);
    CHECK(style_of("1,234.5") == NumberStyle::point);
    CHECK(style_of("0,125") == NumberStyle::comma);
    CHECK_FALSE(style_of("1.234"));
    CHECK_FALSE(style_of("1234"));
    CHECK(number_of("1,234.5", NumberStyle::point) == 1234.5);
    CHECK(number_of("-1e3", NumberStyle::point) == -1000.0);
    CHECK_FALSE(number_of("12,34.5", NumberStyle::point));
    CHECK_FALSE(number_of("1.5", NumberStyle::comma));
    CHECK_FALSE(number_of("", NumberStyle::point));
    CHECK_FALSE(number_of("1e999", NumberStyle::point));
}

TEST_CASE("every unit and prefix that tools print has its factor") {
    CHECK(base_factor("Mbyte") == 1e6);
    CHECK(base_factor("Kbyte/block") == 1e3);
    CHECK(base_factor("usecond") == 1e3);
    CHECK(base_factor("us") == 1e3);
    CHECK(base_factor("Gbyte/second") == 1e9);
    CHECK(base_factor("Gbyte/s") == 1e9);
    CHECK(base_factor("byte/nsecond") == 1e9);
    CHECK(base_factor("cycle/nsecond") == 1e9);
    CHECK(base_factor("cycle/usecond") == 1e6);
    CHECK(base_factor("inst/cycle") == 1.0);
    CHECK(base_factor("Ghz") == 1e9);
    CHECK(base_factor("%") == 1.0);
    CHECK(base_factor("Kthread") == 1e3);
    CHECK_FALSE(base_factor("furlong"));
    CHECK_FALSE(base_factor("Mfurlong/second"));
}

// A real trace: PyTorch 1.12.1 on a processor, two convolutions, ReLUs, pooling and a linear layer,
// batch 4, forward and backward, record_shapes=True, exported by export_chrome_trace, gzip.
TEST_CASE(
    "a trace taken on a processor gives the operators that say their work, and their layers") {
    const auto profile = import_file(kSamples + "torch_cpu.json.gz");
    REQUIRE(profile.ok());
    REQUIRE(profile->notes.size() == 1);
    CHECK(profile->notes[0].find("no kernels") != std::string::npos);
    std::set<std::string> names;
    std::size_t products = 0;
    for (const auto& launch : profile->launches) {
        names.insert(profile->kernel_of(launch).name);
        products += carries_shape(profile->kernel_of(launch).name) ? 1 : 0;
    }
    CHECK(products == 7);
    CHECK(names.contains("aten::relu"));
    CHECK(names.contains("aten::sum"));
    CHECK_FALSE(names.contains("aten::view")); // moves nothing
    const auto first = std::ranges::find_if(profile->launches, [&](const Launch& launch) {
        return carries_shape(profile->kernel_of(launch).name);
    });
    REQUIRE(first != profile->launches.end());
    CHECK(profile->kernel_of(*first).name == "aten::conv2d"); // not what it calls
    CHECK(profile->range_of(*first) == "forward");
    CHECK(first->duration_ns > 0.0);
    std::vector<model::Layer> layers(3);
    layers[0].name = "conv1";
    layers[0].op = model::Op::conv2d;
    layers[0].shape = model::ConvShape{4, 3, 32, 32, 16, 3, 3, {2, 2}, {1, 1}, {1, 1}, 1};
    layers[1].name = "conv2";
    layers[1].op = model::Op::conv2d;
    layers[1].shape = model::ConvShape{4, 16, 16, 16, 32, 3, 3, {1, 1}, {1, 1}, {1, 1}, 1};
    layers[2].name = "fc";
    layers[2].op = model::Op::gemm;
    layers[2].shape = model::GemmShape{1, 4, 10, 32};
    const auto found = match(*profile, layers);
    REQUIRE(found.ok());
    std::vector<int> launches(3);
    for (std::size_t i = 0; i < profile->launches.size(); ++i) {
        if (found->of_launch[i].method == MatchMethod::op_dims) {
            launches[found->of_launch[i].layer] += 1;
        }
    }
    CHECK(launches[0] == 1); // the backward operators are of no forward layer
    CHECK(launches[1] == 1);
    CHECK(launches[2] == 1);
}

} // namespace test_profiles_importers
