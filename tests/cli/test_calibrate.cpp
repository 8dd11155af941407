// eyeroof hw calibrate: what is written is true of each class, can be read back, and was judged by
// shapes that the fit had not seen.
#include "analysis/calibrate/splits.hpp"
#include "hwdb/calibration_reader.hpp"
#include "tests/cli/program.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace test_cli_calibrate {

using namespace eyeroof; // NOLINT
using tests::run;

namespace {

constexpr const char* kSource = "my \"own\" rows, {C:\\a}";

// 40 shapes, each measured twice in a row, at half of the L4's peak.
std::string table() {
    std::string csv = "name,op,m,n,k,dtype,gpu,measured_s\n";
    for (int i = 1; i <= 40; ++i) {
        const int m = 61 * i, n = 37 * i + 300, k = 500 + 23 * i;
        const double seconds = 2.0 * m * n * k / 15e12 + 4e-6;
        for (int twice = 0; twice < 2; ++twice) {
            csv += fmt::format("g{},gemm,{},{},{},fp32,l4,{}\n", 2 * i + twice, m, n, k, seconds);
        }
    }
    return csv;
}

Result<hwdb::CalibrationFile> calibrated(const std::vector<std::string>& arguments) {
    const auto outcome = run(arguments);
    CAPTURE(outcome.err);
    REQUIRE(outcome.exit == 0);
    auto document = hwdb::parse_yaml(outcome.out, "l4.yaml");
    REQUIRE(document.ok());
    return hwdb::read_calibration(*document, "l4");
}

const model::ClassRecord& record(const hwdb::CalibrationFile& file, model::KernelClass c) {
    return file.calibration.record(c);
}

} // namespace

TEST_CASE("constants in a folder of the user's replace those that the catalog has for a GPU") {
    const tests::Scratch scratch;
    tests::write_text(scratch / "rows.csv", table());
    const std::string rows = (scratch / "rows.csv").string();
    std::filesystem::create_directories(scratch / "mine/calibration");
    REQUIRE(
        run({"hw", "calibrate", "l4", rows, "-o", (scratch / "mine/calibration/l4.yaml").string()})
            .exit == 0);
    const auto validated = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words = {"validate", rows,        "--timing",
                                          "none",     "--fail-if", "net.mape > 0.1"};
        words.insert(words.end(), more.begin(), more.end());
        return run(words).exit;
    };
    CHECK(validated({}) == 1); // the catalog's L4 is faster than these rows
    CHECK(validated({"--hwdb", (scratch / "mine").string()}) == 0);
}

TEST_CASE("constants that the GPUs of a table share are of no GPU, and lose no digit") {
    const tests::Scratch scratch;
    tests::write_text(scratch / "rows.csv", table());
    const auto file =
        calibrated({"hw", "calibrate", "carried-over", (scratch / "rows.csv").string(), "--rounds",
                    "2", "--source", kSource});
    REQUIRE(file.ok());
    const auto& linear = record(*file, model::KernelClass::linear);
    CHECK_FALSE(linear.measured);
    CHECK(linear.provenance.source == kSource);
    auto again = hwdb::parse_yaml(hwdb::write_calibration(*file), "again.yaml");
    REQUIRE(again.ok());
    CHECK(hwdb::read_calibration(*again, "carried-over")->calibration.linear ==
          file->calibration.linear);
    CHECK(run({"hw", "calibrate", "carried-over"}).exit == 2);
}

TEST_CASE("hw calibrate refuses an option that its kind of fit does not read") {
    const tests::Scratch scratch;
    const std::string rows = (scratch / "rows.csv").string();
    tests::write_text(rows, table());
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"carried-over", rows, "--sustained", "14 TFLOP/s"},
          {"carried-over", rows, "--dtype", "fp16"},
          {"l4", rows, "--dtype", "fp16"},
          {"l4", rows, "--pull", "0.1"},
          {"l4", rows, "--rounds", "2"},
          {"l4", rows, "--own-offset", "0.5"},
          {"l4", rows, "--keep-starts"},
          {"l4", "--sustained", "14 TFLOP/s", "--timing", "eager"}}) {
        std::vector<std::string> all = {"hw", "calibrate"};
        all.insert(all.end(), words.begin(), words.end());
        const auto outcome = run(all);
        CAPTURE(words.back());
        CHECK(outcome.exit == 2);
        CHECK(outcome.err.find("has no effect without") != std::string::npos);
        CHECK(outcome.out.empty());
    }
    const auto both =
        run({"hw", "calibrate", "l4", rows, "--sustained", "14 TFLOP/s", "--timing", "eager"});
    CHECK(both.exit == 2);
    CHECK(both.err.find("give a table, or --sustained, and not both") != std::string::npos);
}

TEST_CASE("hw calibrate claims a measurement only of classes that had rows, and is read back") {
    const tests::Scratch scratch;
    tests::write_text(scratch / "rows.csv", table());
    const auto file =
        calibrated({"hw", "calibrate", "l4", (scratch / "rows.csv").string(), "--source", kSource});
    REQUIRE(file.ok());
    const auto& linear = record(*file, model::KernelClass::linear);
    CHECK(linear.measured);
    CHECK(linear.provenance.source == kSource);
    CHECK(linear.band.basis == std::string("held-out rows of ") + kSource);
    CHECK(file->dates[0] != "");
    for (const auto c : {model::KernelClass::batched, model::KernelClass::conv,
                         model::KernelClass::tensor_gemm, model::KernelClass::memory}) {
        CAPTURE(model::kernel_class_name(c));
        CHECK_FALSE(record(*file, c).measured);
        CHECK(record(*file, c).provenance.source.find("own") == std::string::npos);
    }
}

TEST_CASE("repetitions of a shape fall on the side of the shape") {
    const tests::Scratch scratch;
    tests::write_text(scratch / "rows.csv", table());
    const auto outcome = run({"hw", "calibrate", "l4", (scratch / "rows.csv").string()});
    int held = 0;
    for (int i = 1; i <= 40; ++i) {
        model::Layer layer;
        layer.shape = model::GemmShape{1, 61 * i, 37 * i + 300, 500 + 23 * i};
        held += analysis::is_held_out(layer) ? 1 : 0;
    }
    CHECK(outcome.err.find(fmt::format("linear: {} rows fitted", 2 * (40 - held))) !=
          std::string::npos);
}

TEST_CASE("a sustained rate is a user's word about the clock, no measurement") {
    const auto file =
        calibrated({"hw", "calibrate", "l4", "--sustained", "14 TFLOP/s", "--dtype", "fp32"});
    REQUIRE(file.ok());
    const auto& linear = record(*file, model::KernelClass::linear);
    CHECK_FALSE(linear.measured);
    CHECK(file->measures_clock[0]); // but the clock stands
    CHECK(linear.provenance.confidence == Confidence::user);
    CHECK(linear.provenance.source.find("14 TFLOP/s in fp32") != std::string::npos);
    const auto& tensor = record(*file, model::KernelClass::tensor_gemm);
    CHECK(tensor.provenance.confidence != Confidence::user);
    CHECK_FALSE(file->measures_clock[static_cast<std::size_t>(model::KernelClass::tensor_gemm)]);
}

} // namespace test_cli_calibrate
