// Hosts and what whole networks showed.
#include "hwdb/transfer_reader.hpp"
#include "hwdb/usual_host.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace test_hwdb_transfer {

using namespace eyeroof; // NOLINT

namespace {

std::vector<std::filesystem::path> catalog() {
    return {std::filesystem::path(tests::source_dir()) / "hwdb"};
}

} // namespace

TEST_CASE("a GPU stands in the server of its years") {
    model::Gpu gpu;
    gpu.launch_year = 2017;
    CHECK(hwdb::usual_host(gpu, catalog()).id == "server-2x20");
    gpu.launch_year = 2020;
    CHECK(hwdb::usual_host(gpu, catalog()).id == "server-2x64");
    gpu.launch_year = 2025;
    CHECK(hwdb::usual_host(gpu, catalog()).id == "server-2x48");
    gpu.launch_year = 2014; // older than any: the oldest
    CHECK(hwdb::usual_host(gpu, catalog()).id == "server-2x20");
    CHECK(hwdb::usual_host(gpu, {}).id.empty());
}

TEST_CASE("hosts weight calls by operator as their framework does, each at its own pace") {
    const auto newest = hwdb::load_host("server-2x48", catalog());
    REQUIRE(newest.ok());
    CHECK(newest->issue.weights.conv == 3.3);
    CHECK(newest->issue.weights.pool == 2.1);
    CHECK(std::abs(newest->issue.latency_s - 2.8e-6) < 1e-12);
    const auto older = hwdb::load_host("server-2x64", catalog());
    REQUIRE(older.ok());
    CHECK(older->issue.weights == newest->issue.weights);
    CHECK(older->issue.call_s > 2.0 * newest->issue.call_s);
    CHECK(older->issue.replay_s > 2.0 * newest->issue.replay_s);
}

TEST_CASE("a host by name is a host that says what an issue costs") {
    CHECK(hwdb::load_host("server-2x64", catalog()).ok());
    const auto gpu = hwdb::load_host("t4", catalog());
    REQUIRE_FALSE(gpu.ok());
    CHECK(gpu.diagnostics().items().front().code == "not-a-host");
    const auto laptop = hwdb::load_host("laptop-quad-3.1ghz", catalog());
    REQUIRE_FALSE(laptop.ok());
    CHECK(laptop.diagnostics().items().front().code == "no-issue");
}

TEST_CASE("a transfer is read as it was written") {
    model::Transfer transfer;
    transfer.share = 0.91;
    transfer.operators = 0.12;
    transfer.source = "pairs";
    transfer.kinds["training mixed"] = {0.2, 0.1, 0.3, 0.15, 8, 20};
    const auto folder = std::filesystem::temp_directory_path() / "eyeroof-transfer-test";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "transfer.yaml") << hwdb::write_transfer(transfer);
    const std::vector<std::filesystem::path> folders = {folder};
    const auto read = hwdb::load_transfer(folders);
    REQUIRE(read.ok());
    CHECK(*read == transfer);
    CHECK(hwdb::load_transfer({}).ok());
    std::filesystem::remove_all(folder);
}

} // namespace test_hwdb_transfer
