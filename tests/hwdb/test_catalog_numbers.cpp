// Every machine of the catalog, held to what `hw check` asks and to the table in docs/machines.md.

#include "hwdb/catalog.hpp"
#include "hwdb/gpu_reader.hpp"
#include "hwdb/lint.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace test_hwdb_catalog_numbers {

using namespace eyeroof;
namespace fs = std::filesystem;

namespace {

const fs::path kSource = tests::source_dir();
const std::vector<fs::path> kFolders = {kSource / "hwdb"};

std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

// Papers of the 2010s print peaks that their own arrays and clocks do not make; what is printed is
// kept and not used.
const std::set<std::string> kPrintedOtherwise = {"dadiannao", "diannao",    "envision",
                                                 "neuflow",   "shidiannao", "simba"};

// Least trusted first.
std::string weakest(const hwdb::LintReport& report) {
    for (const Confidence c :
         {Confidence::user, Confidence::recalled, Confidence::fitted, Confidence::secondary,
          Confidence::derived, Confidence::measured, Confidence::paper, Confidence::datasheet}) {
        if (report.confidences.contains(c)) {
            return confidence_name(c);
        }
    }
    return {};
}

} // namespace

TEST_CASE("every machine of the catalog passes the check: peaks fit, names agree, all is sourced") {
    for (const auto& entry : hwdb::list_machines(kFolders)) {
        CAPTURE(entry.id);
        const auto report = hwdb::lint_machine(entry.file);
        CHECK(report.loads);
        int sourced = 0;
        for (const auto& [confidence, count] : report.confidences) {
            sourced += count;
        }
        CHECK(sourced == report.numbers);
        for (const auto& d : report.findings) {
            CAPTURE(to_string(d));
            CHECK(d.code == "peak-mismatch");
            CHECK(kPrintedOtherwise.contains(entry.id));
        }
    }
}

TEST_CASE("an SM's units make the peak of every GPU within a per cent, or the file says why not") {
    int peaks = 0;
    int explained = 0;
    for (const auto& entry : hwdb::list_machines(kFolders)) {
        if (entry.family != "gpus") {
            continue;
        }
        const auto machine = hwdb::load_machine(entry.id, kFolders);
        REQUIRE_MESSAGE(machine.ok(), entry.id);
        const auto& gpu = std::get<model::Gpu>(machine->kind);
        for (const std::string_view name : model::data_type_names()) {
            const auto type = *model::data_type_from_name(name);
            if (gpu.rate(type).flops_per_s > 0.0) {
                ++peaks;
                explained += model::peak_fits(gpu, type) ? 0 : 1;
            }
        }
    }
    CHECK(peaks > 400);
    CHECK(explained <= peaks / 20); // the notes are exceptions
}

TEST_CASE("what the README and the manual show off with is nowhere only recalled") {
    for (const char* id :
         {"v100-sxm2-16gb", "v100-sxm2-32gb", "v100-pcie-16gb", "v100-pcie-32gb", "a100-sxm-40gb",
          "a100-pcie-40gb", "a100-sxm-80gb", "a100-pcie-80gb", "h100-sxm-80gb", "h100-pcie-80gb",
          "h200-sxm-141gb", "t4", "l40s", "rtx-5090", "mi300x", "mi355x", "gaudi3"}) {
        CAPTURE(id);
        const auto file = hwdb::find_machine(id, kFolders);
        REQUIRE(file.ok());
        const auto report = hwdb::lint_machine(*file);
        CHECK_FALSE(report.confidences.contains(Confidence::recalled));
        CHECK(text_of(*file).find("recalled") == std::string::npos);
    }
}

TEST_CASE("the machines of today are there") {
    std::set<std::string> ids;
    for (const auto& entry : hwdb::list_machines(kFolders)) {
        ids.insert(entry.id);
    }
    for (const char* id : {"rtx-5090",      "rtx-5080",      "gb10",         "jetson-thor-t5000",
                           "mi300a",        "mi350x",        "rx-7900-xtx",  "rx-9070-xt",
                           "h20-96gb",      "h800-sxm-80gb", "b300-sxm",     "gb300",
                           "mi325x",        "mi355x",        "mi250x",       "a30",
                           "rtx-a6000",     "l40",           "rtx-6000-ada", "jetson-agx-orin-64gb",
                           "gaudi2",        "gaudi3",        "tpu-v4",       "tpu-v5e",
                           "tpu-v5p",       "tpu-v6e",       "trainium1",    "trainium2",
                           "gemmini",       "npu-int8",      "tpu-v3",       "tpu-v7x",
                           "trainium3",     "inferentia2",   "hailo-8",      "ethos-u85-2048",
                           "coral-edge-tpu"}) {
        CAPTURE(id);
        CHECK(ids.contains(id));
    }
}

TEST_CASE("an SM has the resources of its compute capability") {
    struct Row {
        const char* capability;
        double shared_kib, registers_kib;
        int threads;
    };
    // NVIDIA, CUDA C++ Programming Guide 13.4 (and 11.8 for those before Turing).
    const Row rows[] = {{"3.5", 48, 256, 2048},   {"3.7", 112, 512, 2048},
                        {"5.2", 96, 256, 2048},   {"6.0", 64, 256, 2048},
                        {"6.1", 96, 256, 2048},   {"7.0", 96, 256, 2048},
                        {"7.5", 64, 256, 1024},   {"8.0", 164, 256, 2048},
                        {"8.6", 100, 256, 1536},  {"8.7", 164, 256, 1536},
                        {"8.9", 100, 256, 1536},  {"9.0", 228, 256, 2048},
                        {"10.0", 228, 256, 2048}, {"10.3", 228, 256, 2048},
                        {"11.0", 228, 256, 1536}, {"12.0", 100, 256, 1536},
                        {"12.1", 100, 256, 1536}, {"10.7", 328, 256, 2048}}; // CUTLASS 4.8 for 10.7
    for (const auto& entry : hwdb::list_machines(kFolders)) {
        if (entry.family != "gpus") {
            continue;
        }
        CAPTURE(entry.id);
        const auto machine = hwdb::load_machine(entry.id, kFolders);
        const auto& gpu = std::get<model::Gpu>(machine->kind);
        const auto* row = std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) {
            return gpu.compute_capability == r.capability;
        });
        REQUIRE((row != std::end(rows) || gpu.arch == model::GpuArch::amd));
        if (row != std::end(rows)) {
            CHECK(gpu.shared_bytes_per_sm == row->shared_kib * 1024);
            CHECK(gpu.registers_bytes_per_sm == row->registers_kib * 1024);
            CHECK(gpu.max_threads_per_sm == row->threads);
        }
    }
}

TEST_CASE("the manual lists every machine of the catalog, and no other") {
    std::string manual = text_of(kSource / "docs/machines.md");
    const auto table = manual.find("\n## The catalog\n");
    REQUIRE(table != std::string::npos);
    manual.erase(0, table);
    std::size_t rows = 0;
    for (std::size_t at = manual.find("\n| `"); at != std::string::npos;
         at = manual.find("\n| `", at + 1)) {
        ++rows;
    }
    const auto entries = hwdb::list_machines(kFolders);
    CHECK(rows == entries.size());
    for (const auto& entry : entries) {
        CAPTURE(entry.id);
        const auto row = manual.find("\n| `" + entry.id + "` |");
        REQUIRE(row != std::string::npos);
        const auto line = manual.substr(row + 1, manual.find('\n', row + 1) - row - 1);
        CHECK(line.ends_with("| " + weakest(hwdb::lint_machine(entry.file)) + " |"));
    }
}

} // namespace test_hwdb_catalog_numbers
