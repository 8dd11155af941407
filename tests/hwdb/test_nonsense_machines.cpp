// Machines that cannot be, each made from a good one by one slip: what is said of it and where.

#include "hwdb/accelerator_reader.hpp"
#include "hwdb/gpu_reader.hpp"
#include "hwdb/lint.hpp"
#include "tests/hwdb/small_machine.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

namespace test_hwdb_nonsense_machines {

using namespace eyeroof;

namespace {

constexpr const char* kGpu = R"(eyeroof: machine/1
kind: gpu
name: small
vendor: NVIDIA
architecture: volta
compute_capability: "7.0"
source: a test
confidence: user
sms: 4
fp32_lanes: 64
clocks: {base: 900 MHz, boost: 1 GHz, tensor: 1 GHz}
peaks: {fp32: 512 GFLOP/s, fp16: {value: 4096 GFLOP/s, pipe: tensor}}
dram: {capacity: 1 GB, bandwidth: 100 GB/s}
l2: {capacity: 512 KiB, bandwidth: 200 GB/s}
sm: {shared_memory: 96 KiB, registers: 256 KiB, max_threads: 2048}
links: {pcie: 16 GB/s, peer: 0 GB/s}
tdp: 50 W
prices: {buy_usd: 100, usd_per_hour_low: 1, usd_per_hour_high: 2}
)";

struct Slip {
    const char* from;
    const char* to;
    const char* code;
    const char* field;
    int line;
};

// Of a GPU whose lines are those of kGpu.
constexpr Slip kGpuSlips[] = {
    {"sms: 4", "sms: 0", "out-of-range", "sms", 9},
    {"sms: 4", "sms: -4", "out-of-range", "sms", 9},
    {"sms: 4", "sms: 1e9", "not-an-integer", "sms", 9},
    {"fp32_lanes: 64", "fp32_lanes: 0", "out-of-range", "fp32_lanes", 10},
    {"boost: 1 GHz", "boost: 1e300 Hz", "bad-number", "clocks.boost", 11},
    {"boost: 1 GHz", "boost: 0 Hz", "zero", "clocks.boost", 11},
    {"boost: 1 GHz", "boost: inf Hz", "not-finite", "clocks.boost", 11},
    {"base: 900 MHz", "base: 1.1 GHz", "bad-clock", "clocks.base", 11},
    {"base: 900 MHz", "base: 0 MHz", "zero", "clocks.base", 11},
    {"tensor: 1 GHz", "tensor: 1 THz", "bad-number", "clocks.tensor", 11},
    {"fp32: 512 GFLOP/s", "fp32: 0 GFLOP/s", "zero", "peaks.fp32", 12},
    {"fp32: 512 GFLOP/s", "fp32: 1e290 GFLOP/s", "bad-number", "peaks.fp32", 12},
    {"fp32: 512 GFLOP/s", "fp33: 512 GFLOP/s", "unknown-dtype", "peaks.fp33", 12},
    {"capacity: 1 GB", "capacity: 0 GB", "zero", "dram.capacity", 13},
    {"bandwidth: 100 GB/s", "bandwidth: 0 GB/s", "zero", "dram.bandwidth", 13},
    {"bandwidth: 100 GB/s", "bandwidth: inf GB/s", "not-finite", "dram.bandwidth", 13},
    {"bandwidth: 100 GB/s", "bandwidth: nan GB/s", "not-finite", "dram.bandwidth", 13},
    {"bandwidth: 100 GB/s", "bandwidth: 1e290 GB/s", "bad-number", "dram.bandwidth", 13},
    {"bandwidth: 100 GB/s", "bandwidth: -1 GB/s", "negative", "dram.bandwidth", 13},
    {"capacity: 512 KiB", "capacity: 64 KiB", "bad-capacity", "l2.capacity", 14},
    {"capacity: 512 KiB", "capacity: 2 GB", "bad-capacity", "l2.capacity", 14},
    {"capacity: 512 KiB", "capacity: 0 KiB", "zero", "l2.capacity", 14},
    {"bandwidth: 200 GB/s", "bandwidth: 1e299 B/s", "bad-number", "l2.bandwidth", 14},
    {"bandwidth: 200 GB/s", "near_bandwidth: 1e299 B/s", "bad-number", "l2.near_bandwidth", 14},
    {"bandwidth: 200 GB/s", "near_bandwith: 1 TB/s", "unknown-key", "l2.near_bandwith", 14},
    {"registers: 256 KiB", "registers: 0 KiB", "zero", "sm.registers", 15},
    {"max_threads: 2048", "max_threads: 0", "out-of-range", "sm.max_threads", 15},
    {"tdp: 50 W", "tdp: 0 W", "zero", "tdp", 17},
    {"tdp: 50 W", "tdp: 1e9 W", "bad-number", "tdp", 17},
    {"tdp: 50 W", "tdp: nan W", "not-finite", "tdp", 17},
    {"buy_usd: 100", "buy_usd: -100", "out-of-range", "prices.buy_usd", 18},
    {"usd_per_hour_low: 1", "usd_per_hour_low: 3", "bad-price", "prices.usd_per_hour_low", 18},
};

// Of the accelerator tests/hwdb/small_machine.hpp.
constexpr Slip kAcceleratorSlips[] = {
    {"clock: 200 MHz", "clock: 1e300 Hz", "bad-clock", "clock", 7},
    {"bank: 4 KiB", "bank: 101 KiB", "bad-bank", "levels[1].stores[0].bank", 24},
    {"read_energy: 200 pJ", "read_energy: 1e300 J", "bad-energy", "levels[0].stores[0].read_energy",
     16},
    {"read: 480 MB/s", "read: 1e290 MB/s", "bad-bandwidth", "levels[1].stores[0].read", 24},
    {"whole: R", "whole: [R, R]", "duplicate-dimension", "dataflows[0].whole[1]", 34},
};

std::string with(std::string_view good, const Slip& slip) {
    std::string text(good);
    const auto at = text.find(slip.from);
    REQUIRE_MESSAGE(at != std::string::npos, slip.from);
    return text.replace(at, std::string(slip.from).size(), slip.to);
}

Diagnostics findings_of(const std::string& text) {
    auto document = hwdb::parse_yaml(text, "slip.yaml");
    if (!document) {
        return document.diagnostics();
    }
    if (hwdb::is_gpu_document(*document)) {
        return hwdb::read_gpu(*document, "slip").diagnostics();
    }
    return hwdb::read_accelerator(*document, "slip").diagnostics();
}

void check_first(const std::string& text, const Slip& slip) {
    CAPTURE(slip.to);
    const auto found = findings_of(text);
    REQUIRE(found.has_errors());
    const auto& d = *found.begin();
    CAPTURE(to_string(d));
    CHECK(d.code == slip.code);
    CHECK(d.field.starts_with(slip.field));
    CHECK(!d.hint.empty());
    CHECK(d.where.column > 0);
    CHECK(d.where.line == (slip.line > 0 ? slip.line : d.where.line));
    CHECK(found.size() == 1); // one slip, one finding
}

} // namespace

TEST_CASE("a GPU that cannot be is refused at the number that cannot be, with a hint") {
    REQUIRE(findings_of(kGpu).empty());
    for (const Slip& slip : kGpuSlips) {
        check_first(with(kGpu, slip), slip);
    }
}

TEST_CASE("an accelerator that cannot be is refused at the number that cannot be") {
    REQUIRE(findings_of(std::string(tests::kSmall)).empty());
    for (const Slip& slip : kAcceleratorSlips) {
        check_first(with(tests::kSmall, slip), slip);
    }
}

TEST_CASE("everything that cannot be is said at once, and nothing about what stands in for it") {
    std::string text = kGpu;
    for (const Slip& slip :
         {Slip{"boost: 1 GHz", "boost: fast", "", "", 0}, // base is above no boost
          Slip{"tdp: 50 W", "tdp: 1e9 W", "", "", 0},
          Slip{"capacity: 512 KiB", "capacity: 64 KiB", "", "", 0}}) {
        text = with(text, slip);
    }
    std::vector<std::string> codes;
    for (const auto& d : findings_of(text)) {
        codes.push_back(d.code);
    }
    CHECK(codes == std::vector<std::string>{"not-a-number", "bad-capacity", "bad-number"});
}

TEST_CASE("an axis listed twice is refused, in a level, over levels and in a dataflow") {
    const auto code = [](const char* from, const char* to) {
        return findings_of(with(tests::kSmall, {from, to, "", "", 0})).begin()->code;
    };
    CHECK(code("fanout: {y: 2", "fanout: {y: 2, y: 2") == "duplicate-key");
    CHECK(code("spatial: {x:", "spatial: {x: [P], x:") == "duplicate-key");
}

TEST_CASE("peaks that do not follow the SMs are told when a GPU is read") {
    const auto warnings = [](std::initializer_list<Slip> slips) {
        std::string text = kGpu;
        for (const Slip& slip : slips) {
            text = with(text, slip);
        }
        return findings_of(text);
    };
    const Slip more{"sms: 4", "sms: 6", "", "", 0};
    const auto left_behind = warnings({more});
    CHECK_FALSE(left_behind.has_errors());
    REQUIRE(left_behind.size() == 2); // fp32 and fp16
    const auto& d = *left_behind.begin();
    CHECK(d.code == "peak-mismatch");
    CHECK(d.field == "peaks.fp32");
    CHECK(d.where.line == 12);
    // 6 SMs x 128 FLOP/cycle x 1 GHz
    CHECK(d.message.find("make 768 GFLOP/s") != std::string::npos);
    CHECK(d.hint.find("FLOP/cycle") != std::string::npos);
    // A number whose own note or source explains it is not told.
    CHECK(warnings(
              {more, {"fp32: 512 GFLOP/s", "fp32: {value: 512 GFLOP/s, note: meant}", "", "", 0}})
              .size() == 1);
}

TEST_CASE("peaks of one SM and cycle follow SMs and clock") {
    std::string text = with(kGpu, {"fp32: 512 GFLOP/s", "fp32: 128 FLOP/cycle", "", "", 0});
    text = with(text, {"4096 GFLOP/s", "1024 FLOP/cycle", "", "", 0});
    text = with(text, {"sms: 4", "sms: 6", "", "", 0});
    text = with(text, {"tensor: 1 GHz", "tensor: 500 MHz", "", "", 0});
    CHECK(findings_of(text).empty());
    auto document = hwdb::parse_yaml(text, "cycle.yaml");
    const auto file = hwdb::read_gpu(*document, "cycle");
    REQUIRE(file.ok());
    const auto& gpu = std::get<model::Gpu>(file->machine.kind);
    CHECK(gpu.rate(model::DataType::fp32).flops_per_s == 768e9);  // 6 x 128 x 1 GHz
    CHECK(gpu.rate(model::DataType::fp16).flops_per_s == 3072e9); // 6 x 1024 x 500 MHz
}

TEST_CASE("a compute capability of another architecture is told by the check") {
    const auto file = std::filesystem::temp_directory_path() / "eyeroof_test_capability.yaml";
    std::ofstream(file) << with(kGpu, {"volta", "turing", "", "", 0});
    const auto report = hwdb::lint_machine(file);
    std::filesystem::remove(file);
    REQUIRE(report.findings.size() == 1);
    CHECK(report.findings.begin()->code == "capability-mismatch");
    CHECK(report.findings.begin()->where.line == 6);
}

} // namespace test_hwdb_nonsense_machines
