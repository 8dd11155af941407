// Constants and intervals of serving libraries' kernels, from tables made up here.
#include "analysis/kernel_fit/kernel_fit.hpp"
#include "analysis/kernel_fit/kernel_widths.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace test_cli_kernel_fit {

using namespace eyeroof; // NOLINT
using analysis::LeftOut;
using model::LibraryKind;
using tests::near;
using Rows = std::vector<LeftOut::Row>;

namespace {

model::Gpu round_gpu() {
    model::Gpu gpu;
    gpu.arch = model::GpuArch::hopper;
    gpu.compute_capability = "9.0";
    gpu.sms = 100;
    gpu.boost_hz = 1e9;
    gpu.tdp_w = 500.0;
    gpu.rate(model::DataType::fp8) = {1e15, model::Pipe::tensor};
    gpu.rate(model::DataType::fp32) = {5e13, model::Pipe::vector};
    gpu.dram_bytes_per_s = 3e12;
    gpu.l2_bytes = 5e7;
    return gpu;
}

Result<model::Machine> round_machine(const std::string& id) {
    model::Machine machine;
    machine.id = id;
    machine.kind = round_gpu();
    return machine;
}

// As the constants say from which the fit starts: it leaves them where they are.
double start_seconds(const model::LibraryCall& call) {
    model::LibraryCell cell;
    cell.added = {4.0, 0.5, 0.5};
    cell.joined = {1.0, 1.0, 1.0, 1.0};
    return model::cell_seconds(cell, model::parts_of(round_gpu(), call, LibraryKind::product),
                               LibraryKind::product);
}

// Calls of three libraries on two machines; those of the newer version take exp(newer) as long.
analysis::KernelTable table_of(double newer) {
    analysis::KernelTable table;
    for (const char* library : {"sglang", "trtllm", "vllm"}) {
        for (const char* version : {"1.0", "2.0"}) {
            for (int i = 0; i < 120; ++i) {
                analysis::KernelRow row;
                row.gpu = i % 2 == 0 ? "one" : "two";
                row.call.op = "gemm";
                row.call.type = "fp8";
                row.call.library = library;
                row.call.version = version;
                row.call.of(model::CallSize::m) = 16.0 * (1 + i % 10);
                row.call.of(model::CallSize::n) = 512.0 * (1 + i / 10);
                row.call.of(model::CallSize::k) = 4096.0;
                const bool later = row.call.version == "2.0";
                row.measured_s = start_seconds(row.call) * std::exp(later ? newer : 0.0);
                table.rows.push_back(row);
            }
        }
    }
    return table;
}

} // namespace

TEST_CASE("a band holds eight rows of ten: of nine rows, from the first to the last") {
    const auto [low, high] =
        analysis::kernel_band({0.1, -0.1, 0.2, -0.2, 0.3, -0.3, 0.4, -0.4, 0.0});
    CHECK(low == near(std::exp(-0.4)));
    CHECK(high == near(std::exp(0.4)));
}

TEST_CASE("intervals widen until they hold eight rows of ten that the fit has not seen") {
    LeftOut cell{LibraryKind::product, LeftOut::Why::machine, std::exp(-0.1), std::exp(0.1), {}};
    cell.rows = Rows(8, {0.3});
    cell.rows.push_back({2.0});
    cell.rows.push_back({-2.0});
    CHECK(analysis::width_for({&cell}) == near(std::sqrt(0.3 * 0.3 - 0.1 * 0.1), 1e-6));
    // What widens them already counts; two axes count twice.
    for (LeftOut::Row& row : cell.rows) {
        row.plus = 0.2;
        row.times = 2.0;
    }
    CHECK(analysis::width_for({&cell}) == near(std::sqrt(0.09 - 0.01 - 0.04) / 2.0, 1e-6));
    cell.rows = Rows(10, {0.05});
    CHECK(analysis::width_for({&cell}) == 0.0);
}

TEST_CASE("a kind that fewer than three cells tell of is as wide as all kinds") {
    std::vector<LeftOut> cells(
        4, {LibraryKind::product, LeftOut::Why::library, std::exp(-0.3), std::exp(0.3), {}});
    for (LeftOut& cell : cells) {
        cell.rows = Rows(10, {0.5});
    }
    cells.back().kind = LibraryKind::experts;
    cells.back().rows = Rows(10, {0.9});
    const auto distances = analysis::distances_of(cells);
    const auto of = [&](LibraryKind kind) { return distances[static_cast<std::size_t>(kind)]; };
    CHECK(of(LibraryKind::product).library == near(0.4, 1e-6));
    CHECK(of(LibraryKind::experts).library >
          0.4); // eight of ten of all rows: those of experts, too
    CHECK(of(LibraryKind::product).version == model::CellDistance{}.version); // no cell tells
    // Constants of all machines: 0.4 is what another library adds already.
    std::vector<LeftOut> families = cells;
    for (LeftOut& cell : families) {
        cell.why = LeftOut::Why::machine;
        cell.rows = Rows(10, {0.49});
    }
    const auto other = analysis::distances_of_families(families, distances);
    CHECK(other[static_cast<std::size_t>(LibraryKind::product)].machine == 0.0);
    CHECK(other[static_cast<std::size_t>(LibraryKind::product)].library == near(0.4, 1e-6));
}

TEST_CASE("constants that explain every row stay, and a newer version widens by what it differs") {
    const analysis::KernelTable table = table_of(0.25);
    const analysis::KernelFit fit = analysis::fit_kernels(table, round_machine, {});
    const auto& cells = fit.families.at("sm_90");
    const auto& d = cells.distances[static_cast<std::size_t>(LibraryKind::product)];
    CHECK(d.version == near(0.25, 0.02));
    CHECK(d.machine < 0.01); // both machines are alike
    CHECK(d.library < 0.01);
    const model::LibraryCell& cell = cells.cells.at("gemm||fp8|vllm|");
    CHECK(cell.versions == "1.0, 2.0");
    CHECK(cell.rows == 240);
    // The newer version's rows count twice as much as the older's.
    const auto time = model::library_time(
        round_gpu(), {{std::make_shared<const model::LibraryCells>(cells)}, "one"},
        table.rows.back().call);
    REQUIRE(time);
    CHECK(time->low_s <= table.rows.back().measured_s);
    CHECK(time->high_s >= table.rows.back().measured_s);
    CHECK(fit.families == analysis::fit_kernels(table, round_machine, {}).families);
}

TEST_CASE("rows that a machine left out would have do not enter its family's constants") {
    analysis::KernelTable table = table_of(0.0);
    for (analysis::KernelRow& row : table.rows) {
        row.measured_s *= row.gpu == "two" ? 2.0 : 1.0;
    }
    analysis::KernelFitOptions options;
    options.leave_out = "two";
    const auto fit = analysis::fit_kernels(table, round_machine, options);
    const model::LibraryCell& cell = fit.families.at("sm_90").cells.at("gemm||fp8|vllm|");
    CHECK(cell.machines.size() == 1);
    CHECK(cell.mape < 0.01);
    // With both, each lies ln 2 from the other: intervals of a third one widen by as much.
    const auto both = analysis::fit_kernels(table, round_machine, {});
    CHECK(both.families.at("sm_90")
              .distances[static_cast<std::size_t>(LibraryKind::product)]
              .machine == near(std::log(2.0), 0.1));
}

} // namespace test_cli_kernel_fit
