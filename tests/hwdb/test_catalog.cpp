#include "base/plain_name.hpp"
#include "hwdb/accelerator_reader.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/lint.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>

namespace test_hwdb_catalog {

using namespace eyeroof;
using eyeroof::tests::near;
using model::Accelerator;
namespace fs = std::filesystem;

namespace {

const std::vector<fs::path> kFolders = {fs::path(eyeroof::tests::source_dir()) / "hwdb"};

model::Machine machine(std::string_view name) {
    auto loaded = hwdb::load_machine(name, kFolders);
    for (const auto& d : loaded.diagnostics()) {
        MESSAGE(to_string(d));
    }
    REQUIRE(loaded.ok());
    return *loaded;
}

Accelerator accelerator(std::string_view name) {
    return std::get<Accelerator>(machine(name).kind);
}

std::vector<hwdb::CatalogEntry> accelerators() {
    auto entries = hwdb::list_machines(kFolders);
    std::erase_if(entries, [](const auto& e) { return e.family != "accelerators"; });
    return entries;
}

} // namespace

TEST_CASE("the catalog holds the machines that the field compares itself with") {
    std::set<std::string> ids;
    for (const auto& entry : accelerators()) {
        ids.insert(entry.id);
    }
    for (const char* id : {"eyeriss-v1", "eyeriss-v2", "eyeriss-v2-dense", "eyeriss-v1-192",
                           "tpu-v1", "nvdla-small", "nvdla-large", "shidiannao", "diannao",
                           "dadiannao", "neuflow", "envision", "scnn", "simba"}) {
        CAPTURE(id);
        CHECK(ids.contains(id));
    }
}

TEST_CASE("every entry loads, every number has a source, and names agree") {
    for (const auto& entry : accelerators()) {
        CAPTURE(entry.id);
        const auto report = hwdb::lint_machine(entry.file);
        for (const auto& d : report.findings) {
            CAPTURE(to_string(d));
            CHECK(d.code == "peak-mismatch"); // the only finding that a good entry may have
        }
        CHECK(report.loads);
        CHECK(report.id == entry.id);
        CHECK(report.numbers > 10);
        int sourced = 0;
        for (const auto& [confidence, count] : report.confidences) {
            const bool starting_point = entry.id == "npu-int8"; // says that it is no product
            CHECK((confidence != Confidence::user || starting_point));
            sourced += count;
        }
        CHECK(sourced == report.numbers);
    }
}

TEST_CASE("every entry survives being written out and read again") {
    for (const auto& entry : accelerators()) {
        CAPTURE(entry.id);
        const model::Machine original = machine(entry.id);
        const std::string text = hwdb::write_accelerator(original);
        auto document = hwdb::parse_yaml(text, "again.yaml");
        REQUIRE(document.ok());
        const auto again = hwdb::read_accelerator(*document, "again");
        REQUIRE(again.ok());
        CHECK(again->machine.kind == original.kind);
        CHECK(again->machine.id == original.id);
        for (const std::string& field : again->numbers) {
            CAPTURE(field);
            CHECK(*find_provenance(again->machine.provenance, field) ==
                  *find_provenance(original.provenance, field));
        }
    }
}

TEST_CASE("Eyeriss v1 has the published array, storage and link") {
    const Accelerator eyeriss = accelerator("eyeriss-v1");
    CHECK(model::mac_units(eyeriss) == 168); // 14 x 12
    CHECK(eyeriss.clock_hz == 200e6);
    // 480 MB/s at 200 MHz are 2.4 bytes a core cycle; 64 bit carry three non-zero words.
    CHECK(eyeriss.levels[0].channels[0].down_bytes_per_cycle == near(2.4));
    CHECK(*eyeriss.levels[0].channels[0].bits_per_nonzero == near(64.0 / 3));
    CHECK(eyeriss.levels[1].stores[0].capacity_bytes == 25 * 512 * 8); // 25 banks of 512 x 64 bit
    CHECK(eyeriss.levels[1].stores[0].bank_bytes == 512 * 8);
    REQUIRE(eyeriss.levels.size() == 4); // DRAM, buffer, filter buffer, spads
    const auto& networks = eyeriss.levels[2];
    CHECK(model::channel_of(networks, model::Operand::weight)->down_bytes_per_cycle == 8);
    CHECK(model::channel_of(networks, model::Operand::input)->down_bytes_per_cycle == 2);
    CHECK(model::channel_of(networks, model::Operand::output)->up_bytes_per_cycle == 8);
    const auto& spads = eyeriss.levels[3];
    CHECK(model::store_of(spads, model::Operand::weight)->capacity_bytes == 448);
    CHECK(model::store_of(spads, model::Operand::input)->capacity_bytes == 24);
    CHECK(model::store_of(spads, model::Operand::output)->capacity_bytes == 48);
    CHECK(eyeriss.levels[0].stores[0].read_pj == 200.0);
}

TEST_CASE("machines have the published numbers of units") {
    const std::pair<const char*, Count> published[] = {
        {"eyeriss-v2", 384},     {"eyeriss-v2-dense", 192},
        {"eyeriss-v1-192", 192}, {"tpu-v1", 65536},
        {"nvdla-small", 64},     {"nvdla-large", 2048},
        {"shidiannao", 64},      {"diannao", 256},
        {"dadiannao", 4096},     {"envision", 256},
        {"scnn", 1024},          {"simba", 36864},
        {"one-register-pe", 1},  {"systolic:32x32", 1024}};
    for (const auto& [name, units] : published) {
        CAPTURE(name);
        CHECK(model::mac_units(accelerator(name)) == units);
    }
}

TEST_CASE("the ridge of TPU v1 lies at 1350 MACs per weight byte") {
    const Accelerator tpu = accelerator("tpu-v1");
    const double bytes =
        model::channel_of(tpu.levels[0], model::Operand::weight)->down_bytes_per_cycle;
    // 65536 MAC x 700 MHz / 34 GB/s = 1349.3
    CHECK(static_cast<double>(model::mac_units(tpu)) / bytes == near(1349.27, 1e-4));
}

TEST_CASE("Eyeriss v2 offers the derived source bandwidth per operand") {
    const Accelerator v2 = accelerator("eyeriss-v2");
    const auto words = [&](std::size_t level, model::Operand o) {
        return model::channel_of(v2.levels[level], o)->down_bytes_per_cycle * 8 /
               v2.word_bits[index(o)];
    };
    CHECK(words(1, model::Operand::input) == 144);
    CHECK(words(1, model::Operand::weight) == 144);
    CHECK(words(1, model::Operand::output) == 128);
    CHECK(words(2, model::Operand::input) == 9);
    CHECK(model::store_of(v2.levels[1], model::Operand::weight) == nullptr);
    // 16 clusters x (3 x 1.5 + 4 x 1.875) KiB = 192 KiB
    CHECK(*v2.levels[1].stores[0].capacity_bytes + *v2.levels[1].stores[1].capacity_bytes ==
          192 * 1024);
}

TEST_CASE("the mesh alone differs from the multicast network in nothing but network and array") {
    const Accelerator mesh = accelerator("eyeriss-v2-dense");
    const Accelerator v1 = accelerator("eyeriss-v1-192");
    CHECK(mesh.word_bits == v1.word_bits);
    CHECK(mesh.clock_hz == v1.clock_hz);
    CHECK(mesh.levels.front() == v1.levels.front());
    CHECK(mesh.levels[1].stores == v1.levels[1].stores);
    CHECK(mesh.levels.back().stores == v1.levels.back().stores);
    CHECK(model::mac_units(mesh) == model::mac_units(v1));
}

TEST_CASE("a systolic array has the shape and dataflow of its name") {
    const Accelerator array = accelerator("systolic:16x32:os");
    CHECK(model::mac_units(array) == 512);
    REQUIRE(array.dataflows.size() == 1);
    CHECK(array.dataflows[0].kind == model::DataflowKind::os);
    CHECK(array.levels[1].fanout == std::vector<model::Axis>{{"column", 32}, {"row", 16}});
    CHECK(accelerator("systolic:8").levels[1].fanout[1].size == 8);
    CHECK(accelerator("systolic:8x8").dataflows.size() == 3);
    CHECK(model::validate(array).empty());
    for (const char* bad : {"systolic:", "systolic:0x4", "systolic:4x", "systolic:4x4:rs",
                            "systolic:4x4x4", "systolic:99999999999999999999x4", "systolic:-1x4",
                            "systolic:65537x1", "systolic:4x4:", "systolic:4 x4"}) {
        CAPTURE(bad);
        const auto loaded = hwdb::load_machine(bad, kFolders);
        REQUIRE_FALSE(loaded.ok());
        CHECK(loaded.diagnostics().begin()->code == "unknown-machine");
        CHECK(loaded.diagnostics().begin()->hint.find("systolic:32x32") != std::string::npos);
    }
}

TEST_CASE("a systolic array survives being written out and read again") {
    const model::Machine original = machine("systolic:32x32");
    auto document = hwdb::parse_yaml(hwdb::write_accelerator(original), "again.yaml");
    REQUIRE(document.ok());
    const auto again = hwdb::read_accelerator(*document, "x");
    for (const auto& d : again.diagnostics()) {
        MESSAGE(to_string(d));
    }
    REQUIRE(again.ok());
    CHECK(again->machine.kind == original.kind);
}

TEST_CASE("a machine is found however people write its name") {
    for (const std::string name : {"rtx4090", "RTX 4090", "rtx_4090", "Rtx-4090"}) {
        CAPTURE(name);
        const auto loaded = hwdb::load_machine(name, kFolders);
        REQUIRE(loaded.ok());
        CHECK(loaded->id == "rtx-4090");
    }
    CHECK_FALSE(hwdb::load_machine("-", kFolders).ok());
    std::set<std::string> plain; // no two of the catalog are one then
    for (const auto& entry : hwdb::list_machines(kFolders)) {
        CHECK(plain.insert(plain_name(entry.id)).second);
    }
}

TEST_CASE("an unknown machine is answered with the nearest name") {
    const auto loaded = hwdb::load_machine("eyeris-v1", kFolders);
    REQUIRE_FALSE(loaded.ok());
    const auto& d = *loaded.diagnostics().begin();
    CHECK(d.code == "unknown-machine");
    CHECK(d.hint.find("'eyeriss-v1'") != std::string::npos);
    CHECK_FALSE(hwdb::load_machine("", kFolders).ok());
    CHECK_FALSE(hwdb::load_machine("eyeriss-v1", {}).ok());
    CHECK(hwdb::load_machine("Eyeriss-V1", kFolders).ok());
    CHECK(hwdb::load_machine("./none.yaml", kFolders).diagnostics().begin()->code ==
          "file-not-found");
}

TEST_CASE("the nearest folder wins, and a path is read as it stands") {
    const fs::path folder = fs::temp_directory_path() / "eyeroof_test_catalog";
    fs::remove_all(folder);
    fs::create_directories(folder / "accelerators");
    model::Machine mine = machine("eyeriss-v1");
    mine.name = "Mine";
    std::ofstream(folder / "accelerators" / "eyeriss-v1.yaml") << hwdb::write_accelerator(mine);
    const std::vector<fs::path> folders = {folder, kFolders.front()};
    CHECK(hwdb::load_machine("eyeriss-v1", folders)->name == "Mine");
    CHECK(hwdb::load_machine("tpu-v1", folders).ok());
    CHECK(hwdb::load_machine((folder / "accelerators/eyeriss-v1.yaml").string(), {})->name ==
          "Mine");
    CHECK(hwdb::list_machines(folders).size() == hwdb::list_machines(kFolders).size());
    fs::remove_all(folder);
}

TEST_CASE("machines that lie in a folder itself are listed and found by their id") {
    const fs::path folder = fs::temp_directory_path() / "eyeroof_test_flat_catalog";
    fs::remove_all(folder);
    fs::create_directories(folder);
    model::Machine mine = machine("eyeriss-v1");
    mine.id = "my-array";
    std::ofstream(folder / "drawing.yaml") << "\xEF\xBB\xBF" << hwdb::write_accelerator(mine);
    std::ofstream(folder / "notes.yaml") << "layers: []\n";
    const std::vector<fs::path> folders = {folder, kFolders.front()};
    CHECK(hwdb::list_machines(folders).size() == hwdb::list_machines(kFolders).size() + 1);
    CHECK(hwdb::load_machine("my-array", folders).ok());
    CHECK(hwdb::load_machine("My Array", folders).ok());
    CHECK(hwdb::load_machine("drawing", folders).ok());
    CHECK_FALSE(hwdb::load_machine("notes", folders).ok());
    const auto two = hwdb::load_machine("T4,A10", folders);
    REQUIRE_FALSE(two.ok());
    CHECK(two.diagnostics().items()[0].hint.find("--on t4 --on a10") != std::string::npos);
    fs::remove_all(folder);
}

TEST_CASE("a copy may have any file name, but in a catalog the name is how it is found") {
    const fs::path source = kFolders.front() / "accelerators/eyeriss-v1.yaml";
    const fs::path folder = fs::temp_directory_path() / "eyeroof_test_copies";
    fs::create_directories(folder / "accelerators");
    const auto copy = [&](const fs::path& to) {
        fs::copy_file(source, to, fs::copy_options::overwrite_existing);
        return hwdb::lint_machine(to).findings;
    };
    CHECK(copy(folder / "mine.yaml").empty());
    const auto found = copy(folder / "accelerators/mine.yaml");
    REQUIRE(found.size() == 1);
    CHECK(found.begin()->code == "id-mismatch");
    fs::remove_all(folder);
}

TEST_CASE("a printed peak that does not fit is noted and not used") {
    const auto report = hwdb::lint_machine(kFolders.front() / "accelerators/shidiannao.yaml");
    REQUIRE(report.findings.size() == 1);
    CHECK(report.findings.begin()->code == "peak-mismatch");
    CHECK(report.findings.begin()->severity == Severity::warning);
    CHECK(report.peak_macs_per_s == 64e9);
    CHECK_FALSE(hwdb::fit_for_benchmarks(report));
    const auto eyeriss = hwdb::lint_machine(kFolders.front() / "accelerators/eyeriss-v1.yaml");
    CHECK(eyeriss.findings.empty());
    CHECK(*eyeriss.printed_peak_macs_per_s == near(eyeriss.peak_macs_per_s));
    CHECK(hwdb::fit_for_benchmarks(eyeriss));
}

TEST_CASE("a price older than a year is a warning, as is one without a date") {
    using namespace std::chrono;
    const fs::path file = kFolders.front() / "gpus/b200-sxm.yaml"; // of September 2026
    const auto codes = [&](std::optional<year_month_day> today) {
        std::vector<std::string> found;
        for (const Diagnostic& d : hwdb::lint_machine(file, today).findings) {
            found.push_back(d.code);
        }
        return found;
    };
    CHECK(codes(std::nullopt).empty());
    CHECK(codes(year{2027} / September / 30).empty());
    const auto old = codes(year{2027} / October / 1);
    CHECK(old == std::vector<std::string>(1, "old-price"));
    const auto report = hwdb::lint_machine(file, year{2027} / October / 1);
    CHECK(report.findings.begin()->message == "this price is 12 months old");
    CHECK(report.findings.begin()->where.line > 0);
    CHECK_FALSE(report.findings.has_errors());
    // Prices of the catalog without a date, or of 2018: those that no dated list was found for.
    std::set<std::string> undated;
    for (const auto& entry : hwdb::list_machines(kFolders)) {
        const auto lint = hwdb::lint_machine(entry.file, year{2026} / November / 26);
        for (const Diagnostic& d : lint.findings) {
            if (d.code == "old-price") {
                undated.insert(entry.id);
            }
        }
    }
    CHECK(undated == std::set<std::string>{"a10", "a100-pcie-40gb", "a100-pcie-80gb",
                                           "a100-sxm-80gb", "h100-pcie-80gb", "rtx-3090",
                                           "v100-sxm2-16gb"});
}

} // namespace test_hwdb_catalog
