// The fitted constants of the repository; what they make of random layers:
// test_physical_layers.cpp.
#include "hwdb/calibration_reader.hpp"
#include "hwdb/catalog.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace test_hwdb_calibration_files {

using namespace eyeroof; // NOLINT
namespace fs = std::filesystem;

namespace {

const fs::path kHwdb = fs::path(tests::source_dir()) / "hwdb";
const std::vector<fs::path> kFolders = {kHwdb};

std::vector<std::pair<std::string, model::Gpu>> gpus() {
    std::vector<std::pair<std::string, model::Gpu>> all;
    for (const auto& entry : hwdb::list_machines(kFolders)) {
        const auto machine = entry.family == "gpus" ? hwdb::load_machine(entry.id, kFolders)
                                                    : Result<model::Machine>::failure("", "");
        if (machine && std::holds_alternative<model::Gpu>(machine->kind)) {
            all.emplace_back(entry.id, std::get<model::Gpu>(machine->kind));
        }
    }
    return all;
}

} // namespace

TEST_CASE("every constant of every calibration file is within what its name allows") {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(kHwdb / "calibration")) {
        if (entry.path().extension() != ".yaml") {
            continue;
        }
        CAPTURE(entry.path().string());
        auto document = hwdb::load_yaml(entry.path());
        REQUIRE(document.ok());
        auto file = hwdb::read_calibration(*document, "");
        REQUIRE(file.ok());
        ++files;
        for (std::size_t i = 0; i < model::kKernelClasses; ++i) {
            const auto c = static_cast<model::KernelClass>(i);
            for (const auto& [name, value] : model::calibration_terms(file->calibration, c)) {
                CAPTURE(name);
                CHECK(model::within(model::term_bound(name), *value));
            }
        }
    }
    CHECK(files > 20);
}

TEST_CASE("every GPU has the constants of attention, within what their names allow") {
    for (auto& [id, gpu] : gpus()) {
        CAPTURE(id);
        model::GpuCalibration own = gpu.calibration;
        const auto& record = own.record(model::KernelClass::attention);
        CHECK(record.provenance.source.find('@') != std::string::npos);
        for (const auto& [name, value] :
             model::calibration_terms(own, model::KernelClass::attention)) {
            CAPTURE(name);
            CHECK(*value > 0.0);
            CHECK(model::within(model::term_bound(name), *value));
        }
    }
}

} // namespace test_hwdb_calibration_files
