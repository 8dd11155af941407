#include "hwdb/calibration_reader.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/gpu_reader.hpp"
#include "model/gpu/memory_op.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

namespace test_hwdb_gpu_reader {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;
namespace fs = std::filesystem;

namespace {

const std::vector<fs::path> kHwdb = {fs::path(eyeroof::tests::source_dir()) / "hwdb"};

model::Gpu gpu(std::string_view name) {
    auto machine = hwdb::load_machine(name, kHwdb);
    REQUIRE_MESSAGE(machine.ok(), name);
    return std::get<model::Gpu>(machine->kind);
}

constexpr const char* kSmall = R"(eyeroof: machine/1
kind: gpu
name: small
vendor: NVIDIA
architecture: volta
source: a test
confidence: user
sms: 4
fp32_lanes: 64
clocks: {boost: 1 GHz}
peaks: {fp32: 512 GFLOP/s, fp16: {value: 4 TFLOP/s, pipe: tensor}}
dram: {capacity: 1 GB, bandwidth: 100 GB/s}
)";

} // namespace

TEST_CASE("every GPU and host of the catalog loads, with a source for every number") {
    int seen = 0;
    for (const auto& entry : hwdb::list_machines(kHwdb)) {
        if (entry.family == "accelerators") {
            continue;
        }
        ++seen;
        auto document = hwdb::load_yaml(entry.file);
        REQUIRE(document.ok());
        const auto file = hwdb::read_gpu(*document, entry.id);
        REQUIRE_MESSAGE(file.ok(), entry.id);
        CHECK(file->machine.id == entry.id);
        for (const std::string& field : file->numbers) {
            CHECK_MESSAGE(find_provenance(file->machine.provenance, field) != nullptr,
                          entry.id << " " << field);
        }
        CHECK(hwdb::load_machine(entry.id, kHwdb).ok());
    }
    CHECK(seen >= 40);
}

TEST_CASE("a small description reads into its numbers") {
    auto document = hwdb::parse_yaml(kSmall, "small.yaml");
    REQUIRE(document.ok());
    CHECK(hwdb::is_gpu_document(*document));
    const auto file = hwdb::read_gpu(*document, "small");
    REQUIRE(file.ok());
    const auto& small = std::get<model::Gpu>(file->machine.kind);
    CHECK(small.sms == 4);
    CHECK(small.rate(model::DataType::fp16).pipe == model::Pipe::tensor);
    CHECK(small.rate(model::DataType::fp16).flops_per_s == near(4e12));
    CHECK(small.rate(model::DataType::int8).flops_per_s == 0.0);
    CHECK(small.dram_bytes_per_s == near(100e9));
}

TEST_CASE("everything wrong with a description is said at once, with its line") {
    std::string text = kSmall;
    text.replace(text.find("sms: 4"), 6, "sms: 0");
    text.replace(text.find("volta"), 5, "vulta");
    text += "colour: green\n";
    auto document = hwdb::parse_yaml(text, "bad.yaml");
    REQUIRE(document.ok());
    const auto file = hwdb::read_gpu(*document, "bad");
    REQUIRE(!file.ok());
    CHECK(file.diagnostics().size() >= 3);
    for (const auto& d : file.diagnostics()) {
        CHECK(d.where.line > 0);
    }
}

TEST_CASE("published ridge points come out of the catalog") {
    CHECK(model::ridge_flop_per_byte(gpu("v100-sxm2-16gb"), model::DataType::fp16) ==
          near(138.9, 0.001));
    CHECK(model::ridge_flop_per_byte(gpu("a100-sxm-40gb"), model::DataType::fp16) ==
          near(200.6, 0.001));
    CHECK(model::ridge_flop_per_byte(gpu("a100-sxm-80gb"), model::DataType::fp16) ==
          near(153.0, 0.001));
    CHECK(model::ridge_flop_per_byte(gpu("t4"), model::DataType::fp16) == near(203.1, 0.001));
}

TEST_CASE("fitted constants name their data and come back from what is written") {
    for (const auto& entry : fs::recursive_directory_iterator(kHwdb.front() / "calibration")) {
        if (entry.is_directory() || entry.path().stem() == "fused") {
            continue; // left-out/, and classes of all GPUs
        }
        auto document = hwdb::load_yaml(entry.path());
        REQUIRE(document.ok());
        const auto file = hwdb::read_calibration(*document, entry.path().stem().string());
        REQUIRE_MESSAGE(file.ok(), entry.path().string());
        for (std::size_t i = 0; i <= static_cast<std::size_t>(model::KernelClass::memory); ++i) {
            const auto& record = file->calibration.records[i];
            CHECK(record.provenance.source.find('@') != std::string::npos);
            CHECK(record.band.low < 1.0);
            CHECK(record.band.high > 1.0);
        }
        auto again = hwdb::parse_yaml(hwdb::write_calibration(*file), "again.yaml");
        REQUIRE(again.ok());
        const auto copy = hwdb::read_calibration(*again, file->id);
        REQUIRE(copy.ok());
        CHECK(copy->dates == file->dates);
        CHECK(copy->calibration.linear.ramp_k == near(file->calibration.linear.ramp_k, 1e-4));
    }
}

TEST_CASE("a GPU that nobody measured takes the clock that its power sustains") {
    const model::Gpu l4 = gpu("l4");
    CHECK_FALSE(l4.calibration.record(model::KernelClass::linear).measured);
    CHECK(l4.calibration.linear.sustained_clock ==
          near(model::sustained_clock_share(l4, model::DataType::fp32)));
    CHECK(gpu("t4").calibration.record(model::KernelClass::linear).measured);
}

TEST_CASE("every GPU survives being written out under another name and read again") {
    for (const auto& entry : hwdb::list_machines(kHwdb)) {
        if (entry.family == "accelerators") {
            continue;
        }
        CAPTURE(entry.id);
        auto original = hwdb::load_yaml(entry.file);
        REQUIRE(original.ok());
        const auto before = hwdb::read_gpu(*original, entry.id);
        REQUIRE(before.ok());
        const std::string text = hwdb::write_gpu(before->machine, "mine", entry.id);
        auto document = hwdb::parse_yaml(text, "mine.yaml");
        REQUIRE(document.ok());
        const auto after = hwdb::read_gpu(*document, "mine");
        REQUIRE_MESSAGE(after.ok(), text);
        CHECK(after->machine.kind == before->machine.kind);
        CHECK(after->machine.id == "mine");
        CHECK(after->calibrated_as == entry.id);
        for (const std::string& field : after->numbers) {
            CAPTURE(field);
            CHECK(*find_provenance(after->machine.provenance, field) ==
                  *find_provenance(before->machine.provenance, field));
        }
    }
}

TEST_CASE("passes of three recorded shapes take what the kernels of a trace took") {
    // AMD-AGI/TraceLens@171dd747, TimeSformer on an H100, bf16: images and filters of 3 channels
    // into 768. The tile's cycles are those of the first; the others were not used.
    const model::Gpu h100 = gpu("h100-sxm-80gb");
    CHECK(model::layout_pass_s(h100, 128.0 * 224 * 224, 3.0, model::DataType::bf16) ==
          near(281.3e-6, 0.05));
    CHECK(model::layout_pass_s(h100, 768.0 * 16 * 16, 3.0, model::DataType::bf16) ==
          near(10.3e-6, 0.2));
    CHECK(model::layout_pass_s(h100, 128.0 * 14 * 14, 768.0, model::DataType::bf16) ==
          near(43.5e-6, 0.2));
}

} // namespace test_hwdb_gpu_reader
