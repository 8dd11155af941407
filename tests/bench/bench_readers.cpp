// Bytes a second of the readers, in memory: layer tables, CSV of Nsight Compute and plain CSV,
// saved profiles, PyTorch traces; and of the profile's writer. Times of what most commands do
// first: a machine of the catalog by its name, and a network, which is one of a family's or not
// there.
#include "formats/catalog.hpp"
#include "formats/layer_csv.hpp"
#include "hwdb/catalog.hpp"
#include "profiles/import/importer.hpp"
#include "profiles/profile_file.hpp"
#include "tests/paths.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

namespace {

namespace profiles = eyeroof::profiles;

constexpr int kRows = 100'000;

std::string plain_csv() {
    std::string text = "kernel,time_us,layer,flops_fp16,bytes_dram,occupancy,stalls\n";
    for (int i = 0; i < kRows; ++i) {
        text += fmt::format("kernel{},{}.25,layer{},{},{},0.75,{}\n", i % 9, 10 + i % 77, i % 50,
                            i * 1000LL, i * 64LL, i % 13);
    }
    return text;
}

std::string long_csv() {
    std::string text =
        "\"ID\",\"Process ID\",\"Kernel Name\",\"Stream\",\"Block Size\",\"Grid Size\","
        "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
    for (int i = 0; i < kRows; ++i) {
        text +=
            fmt::format("\"{}\",\"7\",\"void gemm_kernel<float, {}>(float const*, float*)\",\"7\","
                        "\"(256, 1, 1)\",\"(128, 1, 1)\",\"Command line profiler metrics\","
                        "\"dram__bytes_{}.sum\",\"byte\",\"{}\"\n",
                        i / 8, i % 7, i % 8, 1000 + i);
    }
    return text;
}

std::string wide_csv() {
    std::string text =
        "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"gpu__time_duration.sum\"";
    std::string units = "\"\",\"\",\"\",\"\",\"ns\"";
    for (int m = 0; m < 20; ++m) {
        text += fmt::format(",\"sm__metric_{}.sum\"", m);
        units += ",\"inst\"";
    }
    text += "\n" + units + "\n";
    for (int i = 0; i < kRows / 10; ++i) {
        text += fmt::format("\"{}\",\"kernel{}(float*)\",\"(256, 1, 1)\",\"(128, 1, 1)\",\"{}\"", i,
                            i % 9, 1000 + i % 50);
        for (int m = 0; m < 20; ++m) {
            text += fmt::format(",\"{}\"", 1'000'000LL + i * 31LL + m);
        }
        text += "\n";
    }
    return text;
}

std::string rocprof_csv() {
    std::string text =
        "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Correlation_Id\","
        "\"Start_Timestamp\",\"End_Timestamp\",\"Workgroup_Size_X\",\"Grid_Size_X\"\n";
    for (int i = 0; i < kRows; ++i) {
        text +=
            fmt::format("\"KERNEL_DISPATCH\",\"Agent 4\",\"1\",\"gemm_{}\",{},{},{},256,65536\n",
                        i % 7, i, 1000LL * i, 1000LL * i + 500);
    }
    return text;
}

std::string trace() {
    std::string text = "{\"traceEvents\":[\n";
    for (int i = 0; i < kRows; ++i) {
        text += fmt::format(
            "{}{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k{}\",\"pid\":0,\"tid\":7,\"ts\":{},"
            "\"dur\":1.5,\"args\":{{\"grid\":[1,1,1],\"block\":[64,1,1],\"stream\":7}}}}\n",
            i == 0 ? "" : ",", i % 9, i);
    }
    return text + "]}\n";
}

profiles::Profile read(const std::string& text) {
    return *profiles::import_profile(profiles::input_of_text(text, "bench"));
}

void reading(benchmark::State& state, const std::string& text) {
    for (auto _ : state) {
        auto profile = profiles::import_profile(profiles::input_of_text(text, "bench"));
        benchmark::DoNotOptimize(profile);
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void writing(benchmark::State& state, const std::string& text) {
    const profiles::Profile profile = read(text);
    std::size_t size = 0;
    for (auto _ : state) {
        size = profiles::profile_text(profile).size();
        benchmark::DoNotOptimize(size);
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(size));
}

void reading_layers(benchmark::State& state) {
    std::string text = "name,op,n,c,h,w,k,r,s,pad\n";
    for (int i = 0; i < kRows; ++i) {
        text += fmt::format("layer{},conv2d,8,{},56,56,64,3,3,1\n", i, 64 + i % 64);
    }
    for (auto _ : state) {
        auto table = eyeroof::formats::parse_layer_csv(text, "bench");
        benchmark::DoNotOptimize(table);
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void loading_machine(benchmark::State& state, const char* name) {
    const std::vector<std::filesystem::path> folders{
        std::filesystem::path(eyeroof::tests::source_dir()) / "hwdb"};
    for (auto _ : state) {
        auto machine = eyeroof::hwdb::load_machine(name, folders);
        benchmark::DoNotOptimize(machine);
    }
}

void loading_network(benchmark::State& state, const char* name) {
    const std::vector<std::filesystem::path> folders{
        std::filesystem::path(eyeroof::tests::source_dir()) / "examples/networks"};
    for (auto _ : state) {
        auto network = eyeroof::formats::load_network(name, folders);
        benchmark::DoNotOptimize(network);
    }
}

BENCHMARK_CAPTURE(loading_machine, accelerator, "eyeriss-v2")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(loading_machine, gpu, "a100-sxm-80gb")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(loading_network, file, "alexnet")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(loading_network, of_a_family, "qwen3-8b")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(loading_network, unknown, "qwen9")->Unit(benchmark::kMillisecond);
BENCHMARK(reading_layers)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(reading, plain_csv, plain_csv())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(reading, nsight_compute_long, long_csv())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(reading, nsight_compute_wide, wide_csv())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(reading, rocprofv3, rocprof_csv())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(reading, kineto_trace, trace())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(reading, saved_trace, profiles::profile_text(read(trace())))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(reading, saved_counters, profiles::profile_text(read(wide_csv())))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(writing, saved_trace, trace())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(writing, saved_counters, wide_csv())->Unit(benchmark::kMillisecond);

} // namespace
