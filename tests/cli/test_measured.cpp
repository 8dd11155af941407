// Measurements on the command line: exam and roofline over a profile, ceilings, import, measure.
#include "report/answers/answers.hpp"
#include "tests/cli/program.hpp"
#include "tests/json_schema.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace test_cli_measured {

using namespace eyeroof; // NOLINT

namespace {

// Two layers of AlexNet on a GPU: one kernel each, and one that belongs to none.
constexpr const char* kMeasured = "kernel,layer,time_us,bytes_dram,flops_fp16_tensor,clock_hz\n"
                                  "implicit_gemm_a,CONV1,60,40000000,211000000,1100000000\n"
                                  "implicit_gemm_b,CONV2,45,1200000,448000000,1400000000\n"
                                  "relu_kernel,,8,,,\n";

constexpr const char* kCeilings =
    "eyeroof_ceilings: 1\n"
    "machine: \"A GPU\"\n"
    "ceilings:\n"
    "  - {name: dram read, level: dram, value: 1.38 TB/s, spread: 0.01}\n"
    "  - {name: tensor fp16, precision: fp16, pipe: tensor, value: 251 TFLOP/s}\n"
    "  - {name: launch eager, value: 2.1 us}\n";

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("exam --profile puts what was measured below step seven and says which step disagrees") {
    const tests::Scratch scratch;
    const std::string profile = (scratch / "run.csv").string();
    tests::write_text(profile, kMeasured);
    const auto text = tests::run(
        {"exam", "alexnet", "--on", "a100-sxm-40gb", "--profile", profile, "--layers", "CONV[12]"});
    CHECK(text.exit == 0);
    CHECK(has(text.out, "unexplained (measured)"));
    CHECK(has(text.out, "step 6 average bandwidth: DRAM bytes 40 MB"));
    CHECK(has(text.out, "step 7 instantaneous bandwidth: clock 1.1 GHz"));
    CHECK(has(text.out, "1.00 of 2MNK (fits)"));
    CHECK(has(text.out, "no layer: 8 us in 1 launch of relu_kernel"));
    CHECK(tests::width_of(text.out) <= 100);
    const auto json = tests::run({"exam", "alexnet", "--on", "a100-sxm-40gb", "--profile", profile,
                                  "--layers", "CONV[12]", "--format", "json"});
    const auto document = nlohmann::json::parse(json.out);
    tests::SchemaCheck check(nlohmann::json::parse(eyeroof::report::schema_of("exam")));
    for (const auto& fault : check.faults(document)) {
        FAIL_CHECK(fault);
    }
    CHECK(document["measured"]["layers"] == 2);
    CHECK(document["layers"][0]["measured"]["kernel"] == "implicit_gemm_a");
    const auto csv = tests::run({"exam", "alexnet", "--on", "a100-sxm-40gb", "--profile", profile,
                                 "--layers", "CONV[12]", "--format", "csv"});
    CHECK(has(csv.out, ",measured_s,compared_s,unexplained_s,remaining_s,executions,"));
    CHECK(has(csv.out, "step 6 DRAM bytes"));
    const auto md = tests::run({"exam", "alexnet", "--on", "a100-sxm-40gb", "--profile", profile,
                                "--layers", "CONV[12]", "--format", "md"});
    CHECK(has(md.out, "## Measured, below step seven"));
}

TEST_CASE("an accelerator is held against measurements in the same way") {
    const tests::Scratch scratch;
    const std::string profile = (scratch / "run.csv").string();
    tests::write_text(profile, "kernel,layer,time_ms,bytes_dram\nchip,CONV1,20.9,15400000\n");
    const auto text = tests::run({"exam", "alexnet", "--batch", "4", "--on", "eyeriss-v1",
                                  "--profile", profile, "--layers", "CONV1"});
    CHECK(text.exit == 0);
    CHECK(has(text.out, "measured 20.9 ms"));
    CHECK(has(text.out, "measured, below step seven"));
}

TEST_CASE("kernels are assigned to layers by hand, and broken files are told all at once") {
    const tests::Scratch scratch;
    const std::string profile = (scratch / "run.csv").string();
    const std::string assign = (scratch / "assign.yaml").string();
    tests::write_text(profile, "kernel,time_us\nmystery_kernel,50\n");
    tests::write_text(assign, "eyeroof_assignments: 1\nassign:\n"
                              "  - {layer: CONV3, kernel: '^mystery'}\n");
    const auto text = tests::run({"exam", "alexnet", "--on", "a100-sxm-40gb", "--profile", profile,
                                  "--assign", assign, "--layers", "CONV3"});
    CHECK(text.exit == 0);
    CHECK(has(text.out, "found by manual (1.00)"));
    tests::write_text(assign, "eyeroof_assignments: 1\nassign:\n  - {layre: CONV3}\n");
    const auto broken = tests::run({"exam", "nothing-like-it", "--on", "a100-sxm-40gb", "--profile",
                                    (scratch / "missing.csv").string(), "--assign", assign});
    CHECK(broken.exit == 3);
    CHECK(broken.out.empty());
    CHECK(has(broken.err, "nothing-like-it"));
    CHECK(has(broken.err, "missing.csv"));
    CHECK(has(broken.err, "assign.yaml:3:"));
}

TEST_CASE(
    "measured ceilings stand beside the data sheet's in exam, and are the roofs that are drawn") {
    const tests::Scratch scratch;
    const std::string ceilings = (scratch / "gpu.yaml").string();
    tests::write_text(ceilings, kCeilings);
    const auto text = tests::run(
        {"exam", "alexnet", "--on", "a100-sxm-40gb", "--ceilings", ceilings, "--layers", "FC6"});
    CHECK(text.exit == 0);
    CHECK(has(text.out, "measured ceilings beside the description's"));
    CHECK(has(text.out, "1.38 TB/s, 89 % of 1.55 TB/s"));
    CHECK(has(text.out, "251 TFLOP/s, 80 % of 312 TFLOP/s"));
    CHECK(has(text.out, "measured ceilings allow"));
    const auto plot = tests::run({"roofline", "alexnet", "--on", "a100-sxm-40gb", "--ceilings",
                                  ceilings, "--format", "svg"});
    CHECK(plot.exit == 0);
    CHECK_FALSE(has(plot.out, "DRAM 1.55 TB/s")); // the measured roof stands in its place
    CHECK(has(plot.out, "dram read 1.38 TB/s measured"));
    CHECK_FALSE(has(plot.out, "fp16 tensor 312 TFLOP/s"));
    CHECK(has(plot.out, "251 TFLOP/s measured"));
}

TEST_CASE("a layer as predicted and as measured are two joined points of one name") {
    const tests::Scratch scratch;
    const std::string profile = (scratch / "run.csv").string();
    tests::write_text(profile, kMeasured);
    const auto plot = tests::run(
        {"roofline", "alexnet", "--on", "a100-sxm-40gb", "--profile", profile, "--format", "csv"});
    CHECK(plot.exit == 0);
    CHECK(has(plot.out, "CONV1"));
    CHECK(has(plot.out, "bytes counted"));
}

TEST_CASE("import merges and filters into a profile, and checks the operations of each layer") {
    const tests::Scratch scratch;
    const std::string a = (scratch / "a.csv").string();
    const std::string merged = (scratch / "merged.jsonl").string();
    tests::write_text(a, kMeasured);
    const auto text =
        tests::run({"import", a, a, "--kernel", "gemm", "-o", merged, "--match", "alexnet"});
    CHECK(text.exit == 0);
    CHECK(has(text.out, "4 launches of 2 kernels"));
    CHECK(has(text.out, "fits"));
    CHECK(tests::read_file(merged).starts_with("{\"eyeroof_profile\":1"));
    const auto again = tests::run({"import", merged, "--count", "1"});
    CHECK(has(again.out, "1 launch of 1 kernel"));
}

TEST_CASE("import says which launches have no time, and no time is 0 s then") {
    const std::string counters =
        tests::source_dir() + "/tests/profiles/samples/rocprof_counters.csv";
    const auto text = tests::run({"import", counters});
    CHECK(has(text.out, "note: 2 launch records without a time"));
    CHECK_FALSE(has(text.out, "0 s"));
    CHECK(has(tests::run({"import", counters, "--format", "csv"}).out,
              "\"relu(float*, int)\",1,,,,,,\n"));
}

TEST_CASE("what ends a search for the largest batch is memory, else there is none") {
    // 6e8 elements in int8: two samples fit 16 GB, but no dimension holds 1.2e9 rows.
    const tests::Scratch scratch;
    const std::string layers = (scratch / "rows.csv").string();
    tests::write_text(layers, "name,op,rows,cols,fn\nr,elementwise,600000000,1,relu\n");
    const auto large =
        tests::run({"memory", layers, "--on", "t4", "--dtype", "int8", "--format", "json"});
    REQUIRE(large.exit == 0);
    CHECK_FALSE(
        nlohmann::json::parse(large.out).value("largest_batch", nlohmann::json()).is_number());
    tests::write_text(layers, "name,op,rows,cols,fn\nr,elementwise,600000,1000,relu\n");
    const auto small =
        tests::run({"memory", layers, "--on", "t4", "--dtype", "int8", "--format", "json"});
    CHECK(nlohmann::json::parse(small.out)["largest_batch"].get<int>() > 1);
}

TEST_CASE("a trace of another batch, phase or GPU is told as such, and fits once they are given") {
    const std::string trace =
        tests::source_dir() + "/tests/profiles/samples/kineto.json"; // [32, 64]
    const tests::Scratch scratch;
    const std::string layers = (scratch / "layers.csv").string();
    tests::write_text(layers, "name,op,m,n,k\nfc,gemm,4,10,64\n");
    const auto other = tests::run({"import", trace, "--match", layers});
    CHECK(has(other.err, "8 times their batch"));
    CHECK(has(other.err, "--batch 8"));
    const auto same =
        tests::run({"import", trace, "--match", layers, "--batch", "8", "--phase", "training"});
    CHECK_FALSE(has(same.err, "their batch"));
    CHECK(has(same.out, "op dims"));
    CHECK(has(same.out, "fc.bwd_weight"));
    const auto exam =
        tests::run({"exam", layers, "--batch", "8", "--on", "a100-sxm-40gb", "--profile", trace});
    CHECK(has(exam.err, "compute capability 9.0"));
}

TEST_CASE("roofline takes a measurement where it takes a network") {
    const std::string trace = tests::source_dir() + "/tests/profiles/samples/kineto.json";
    const auto plot = tests::run({"roofline", trace, "--on", "h200-sxm-141gb", "--format", "csv"});
    CHECK(plot.exit == 0);
    CHECK(has(plot.out, "measured,h200-sxm-141gb,void gemm_kernel"));
}

TEST_CASE("measure gpu without a GPU is one clear message and exit code 4") {
    const auto gpu = tests::run({"measure", "gpu", "--kernels", "/no/such/library.so"});
    CHECK(gpu.exit == 4);
    CHECK(gpu.out.empty());
    CHECK(std::count(gpu.err.begin(), gpu.err.end(), '\n') <= 2); // the error and its hint
}

TEST_CASE("a table of measured steps is launched from the host that its machine usually has") {
    const tests::Scratch scratch;
    const std::string table = (scratch / "steps.csv").string();
    tests::write_text(table, "network,gpu,dtype,phase,batch,measured_s\n"
                             "resnet18,rtx-4090,fp16,inference,1,0.002\n");
    const auto rows = tests::run({"validate", table, "--networks", "--format", "json"});
    const auto exam =
        tests::run({"exam", "resnet18", "--on", "rtx-4090", "--dtype", "fp16", "--format", "json"});
    REQUIRE(rows.exit == 0);
    REQUIRE(exam.exit == 0);
    CHECK(nlohmann::json::parse(rows.out)["networks"][0]["host_s"] ==
          nlohmann::json::parse(exam.out)["total"]["host_s"]);
}

} // namespace test_cli_measured
