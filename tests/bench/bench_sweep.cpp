// A million points over ResNet-50: array x buffer x bandwidth x batch, mappings by the dataflow's
// rules. bench_sweep --benchmark_filter=million takes all; the others a hundredth of them.
#include "analysis/sweep/rows.hpp"
#include "analysis/sweep/run_sweep.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "tests/paths.hpp"

#include <benchmark/benchmark.h>

namespace {

using namespace eyeroof; // NOLINT(google-build-using-namespace)

analysis::SweepSources sources() {
    const std::filesystem::path root = tests::source_dir();
    return {[=](const std::string& name) {
                const std::vector<std::filesystem::path> folders = {root / "hwdb"};
                return hwdb::load_machine(name, folders);
            },
            [=](const std::string& name, const std::vector<std::string>&) {
                const std::vector<std::filesystem::path> folders = {root / "examples/networks"};
                return formats::load_wired_network(name, folders);
            }};
}

void sweep(benchmark::State& state, const char* machine, std::vector<std::string> vary) {
    analysis::SweepQuestion question{{}, std::move(vary)};
    question.scenario.network = "resnet50";
    question.scenario.machine = machine;
    question.scenario.policy = analysis::MappingPolicy::dataflow;
    for (auto _ : state) {
        const auto grid = analysis::SweepGrid::make(question, sources());
        if (!grid) {
            state.SkipWithError(grid.diagnostics().items().front().message.c_str());
            return;
        }
        std::size_t bytes = 0;
        const auto done = analysis::run_sweep(
            *grid, {0, grid->points()}, 2,
            [&](std::uint64_t point, const analysis::PointFigures& figures) {
                return analysis::row_of(*grid, analysis::RowFormat::csv, point, figures);
            },
            [&](std::string_view rows, std::uint64_t) {
                bytes += rows.size();
                return true;
            },
            {}, {});
        state.counters["points"] = static_cast<double>(done);
        state.counters["points_per_s"] =
            benchmark::Counter(static_cast<double>(done), benchmark::Counter::kIsRate);
        state.counters["bytes"] = static_cast<double>(bytes);
    }
}

} // namespace

// 10 x 10 arrays, 20 buffers, 100 bandwidths, 5 batches.
BENCHMARK_CAPTURE(sweep, million_npu, "npu-int8",
                  {"axis-kernel=16:160:16", "axis-channel=16:160:16",
                   "sram-input-output-capacity=512 KiB:10 MiB:512 KiB",
                   "dram-link-bandwidth=4 GB/s:400 GB/s:4 GB/s", "batch=1,2,4,8,16"})
    ->Unit(benchmark::kSecond)
    ->UseRealTime()
    ->Iterations(1);
// 2 x 2 arrays, 10 buffers, 50 bandwidths, 5 batches.
BENCHMARK_CAPTURE(sweep, ten_thousand_npu, "npu-int8",
                  {"axis-kernel=32,64", "axis-channel=32,64",
                   "sram-input-output-capacity=512 KiB:5 MiB:512 KiB",
                   "dram-link-bandwidth=4 GB/s:200 GB/s:4 GB/s", "batch=1,2,4,8,16"})
    ->Unit(benchmark::kSecond)
    ->UseRealTime()
    ->Iterations(1);
// 100 x 100 arrays: what is searched again for another size of the array.
BENCHMARK_CAPTURE(sweep, ten_thousand_arrays, "npu-int8",
                  {"axis-kernel=1:100:1", "axis-channel=1:100:1"})
    ->Unit(benchmark::kSecond)
    ->UseRealTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(sweep, ten_thousand_eyeriss, "eyeriss-v1",
                  {"clock=100 MHz:1 GHz:1 MHz", "batch=1,2,4,8,16"})
    ->Unit(benchmark::kSecond)
    ->UseRealTime()
    ->Iterations(1);
