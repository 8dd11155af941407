// Fabrics whose bandwidths are measured ones.
#include "analysis/scale/collective_study.hpp"
#include "hwdb/fabric_reader.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

namespace test_scale_measured_fabrics {

using namespace eyeroof;
using namespace eyeroof::analysis;

namespace {

double bus_bandwidth(const char* name, Count devices, double bytes) {
    const std::vector<std::filesystem::path> folders = {std::filesystem::path(tests::source_dir()) /
                                                        "hwdb"};
    const auto fabric = hwdb::load_fabric(name, folders);
    REQUIRE(fabric.ok());
    CollectiveQuestion q;
    q.devices = devices;
    q.sizes = {bytes};
    const auto study = study_collective(*fabric, q);
    REQUIRE(study.ok());
    return study->points.front().bus_bytes_per_s;
}

} // namespace

TEST_CASE("eight L40S on PCIe share what joins their pairs: 20, 5, and 1.3 GB/s") {
    CHECK(std::abs(bus_bandwidth("pcie4-8gpu-l40s", 2, 1e9) / 20e9 - 1.0) <= 0.1);
    CHECK(std::abs(bus_bandwidth("pcie4-8gpu-l40s", 4, 1e9) / 5.1e9 - 1.0) <= 0.1);
    CHECK(std::abs(bus_bandwidth("pcie4-8gpu-l40s", 8, 1e9) / 1.3e9 - 1.0) <= 0.1);
}

TEST_CASE("two nodes of eight A100 on one 100 Gb/s adapter each sum at its pace") {
    const double bytes = 66e6; // measured: 7.1 ms
    const double seconds = bytes * 2.0 * 15.0 / 16.0 / bus_bandwidth("hgx-a100-100g", 16, bytes);
    CHECK(seconds >= 5.5e-3);
    CHECK(seconds <= 10e-3);
}

} // namespace test_scale_measured_fabrics
