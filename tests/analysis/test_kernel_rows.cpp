// Tables of calls of serving libraries' kernels, and how far predictions lie from them.
#include "analysis/calibrate/kernel_rows.hpp"
#include "analysis/exam/report_figures.hpp"
#include "analysis/exam/run.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

namespace test_analysis_kernel_rows {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;

namespace {

constexpr const char* kTable =
    "gpu,op,dtype,kv_dtype,library,library_version,kernel,m,n,k,batch,q_len,kv_len,measured_ms\n"
    "here,gemm,fp8,,vllm,0.24.0,cutlass,64,128,256,,,,0.010\n"
    "here,attention_context,bfloat16,fp8,sglang,0.5.14,fa3,,,,2,64,64,0.020\n"
    "here,softmax,bfloat16,,vllm,0.24.0,,,,,,,,0.020\n";

std::string first_code(const Result<analysis::KernelTable>& table) {
    return table ? "" : table.diagnostics().items().front().code;
}

} // namespace

TEST_CASE("a table of kernels gives calls with types and sizes, and counts what is none") {
    const auto table = analysis::parse_kernel_rows(kTable, "rows.csv");
    REQUIRE(table);
    REQUIRE(table->rows.size() == 2);
    CHECK(table->rows[0].call.type == "fp8");
    CHECK(table->rows[0].call.of(model::CallSize::k) == near(256.0));
    CHECK(table->rows[0].measured_s == near(10e-6));
    CHECK(table->rows[1].call.type == "bf16/fp8");
    CHECK(table->rows[1].call.of(model::CallSize::causal) == near(1.0));
    CHECK(table->left_out.at("softmax") == 1);
}

TEST_CASE("a table of kernels without columns, or with sizes that are none, is refused") {
    CHECK(first_code(analysis::parse_kernel_rows("", "rows.csv")) == "no-rows");
    CHECK(first_code(analysis::parse_kernel_rows("gpu,m\nhere,1\n", "rows.csv")) ==
          "missing-column");
    const std::string head = "gpu,op,dtype,m,measured_ms\n";
    CHECK(first_code(analysis::parse_kernel_rows(head + "here,gemm,fp8,-1,1\n", "rows.csv")) ==
          "bad-number");
    CHECK(first_code(analysis::parse_kernel_rows(head + "here,gemm,fp8,many,1\n", "rows.csv")) ==
          "bad-number");
    CHECK(first_code(analysis::parse_kernel_rows(head + "here,gemm,fp8,1,0\n", "rows.csv")) ==
          "bad-number");
}

TEST_CASE("rows without constants are told apart from those that are predicted") {
    const auto table = analysis::parse_kernel_rows(kTable, "rows.csv");
    REQUIRE(table);
    model::LibraryCells cells;
    model::LibraryCell cell;
    cell.added = {8.0, 0.0, 0.0};
    cell.joined = {0.0, 0.0, 0.0, 0.0};
    cells.cells["gemm||fp8|vllm|"] = cell;
    const auto shared = std::make_shared<const model::LibraryCells>(cells);
    const auto machine = [](const std::string& id) {
        model::Machine m;
        m.id = id;
        m.kind = model::Gpu{};
        return Result<model::Machine>(std::move(m));
    };
    const auto kernels = [&](const model::Gpu&, const std::string& id) {
        return Result<model::MachineKernels>(model::MachineKernels{{shared}, id});
    };
    const auto v = analysis::validate_kernels(*table, machine, kernels);
    REQUIRE(v);
    CHECK(v->all.rows == 1);
    CHECK(v->all.mape == near(0.2));
    CHECK(v->refused.at("attention_context bf16/fp8") == 1);
    CHECK(analysis::kernels_csv(*v).find("8e-06") != std::string::npos);
    CHECK(analysis::kernels_text(*v, *table).find("not answered: 1 rows") != std::string::npos);
}

TEST_CASE("rows tell power and calls without a graph, and a machine that is no GPU is named") {
    const auto table = analysis::parse_kernel_rows(
        "gpu,op,dtype,library,m,n,k,measured_ms,power_w,note\n"
        "here,gemm,fp8,vllm,64,128,256,0.010,200,eager: launches of the host are in it\n"
        "here,gemm,fp8,vllm,64,128,256,0.010,,\n"
        "array,gemm,fp8,vllm,64,128,256,0.010,,\n",
        "rows.csv");
    REQUIRE(table);
    CHECK(table->rows[0].call.eager);
    CHECK_FALSE(table->rows[1].call.eager);
    CHECK(table->rows[0].power_w == near(200.0));
    model::LibraryCells cells;
    model::LibraryCell& cell = cells.cells["gemm||fp8|vllm|"];
    cell.added = {10.0, 0.0, 0.0};
    cell.joined = {0.0, 0.0, 0.0, 0.0};
    cell.watts = {0.3, 0.0, 0.0, 0.0, 0.0};
    cell.machines["here"] = {0.0, 0.8, 1.25, 5e-6};
    const auto shared = std::make_shared<const model::LibraryCells>(cells);
    const auto machine = [](const std::string& id) {
        model::Machine m;
        m.id = id;
        model::Gpu gpu;
        gpu.tdp_w = 1000.0;
        gpu.sms = 100;
        gpu.boost_hz = 1e9;
        gpu.rate(model::DataType::fp8) = {1e15, model::Pipe::tensor};
        gpu.dram_bytes_per_s = 3e12;
        gpu.l2_bytes = 5e7;
        if (id == "here") {
            m.kind = gpu;
        } else {
            m.kind = model::Accelerator{};
        }
        return Result<model::Machine>(std::move(m));
    };
    const auto v =
        analysis::validate_kernels(*table, machine, [&](const model::Gpu&, const std::string& id) {
            return Result<model::MachineKernels>(model::MachineKernels{{shared}, id});
        });
    REQUIRE(v);
    CHECK(v->all.rows == 2);
    CHECK(v->refused.at("array, which is no GPU") == 1);
    CHECK(v->joules.rows == 1);
    CHECK(v->joules.bias > 0.49); // 300 W for 200 W
    CHECK(v->joules.bias < 0.51);
    const std::string text = analysis::kernels_text(*v, *table);
    CHECK(text.find("energy") != std::string::npos);
    CHECK(text.find("\nproduct ") != std::string::npos);
    CHECK(text.find("0 of 0 pairs of machine and type 70 to 92") != std::string::npos);
}

namespace {

// A GPU whose fp8 products draw 0.3 to 0.4 of 600 W.
model::Gpu gpu_of_known_power() {
    model::LibraryCells cells;
    model::LibraryCell& cell = cells.cells["gemm||fp8|vllm|"];
    cell.added = {8.123, 0.1, 0.2};
    cell.joined = {1.1, 0.7, 0.9, 1.3};
    cell.watts = {0.3, 0.0, 0.1, 0.0, 0.0};
    const auto shared = std::make_shared<const model::LibraryCells>(cells);
    model::Gpu gpu;
    gpu.arch = model::GpuArch::hopper;
    gpu.sms = 100;
    gpu.tdp_w = 600.0;
    gpu.rate(model::DataType::fp8) = {1e15, model::Pipe::tensor};
    gpu.rate(model::DataType::fp32) = {5e13, model::Pipe::vector};
    gpu.dram_bytes_per_s = 3e12;
    gpu.l2_bytes = 5e7;
    gpu.kernels = std::make_shared<const model::KernelShelf>([shared] {
        return Result<model::MachineKernels>(model::MachineKernels{{shared}, "here"});
    });
    return gpu;
}

model::Layer product(const std::string& name, Count rows) {
    model::Layer layer;
    layer.name = name;
    layer.op = model::Op::gemm;
    layer.shape = model::GemmShape{1, rows, 1280, 2560};
    layer.types = {model::DataType::fp8, model::DataType::fp8, model::DataType::fp16};
    return layer;
}

} // namespace

TEST_CASE("a network's product takes to the digit what a row of the same call is predicted at") {
    const model::Gpu gpu = gpu_of_known_power();
    model::Machine machine;
    machine.id = "here";
    machine.kind = gpu;
    const auto rows = analysis::parse_kernel_rows("gpu,op,dtype,library,library_version,m,n,k\n"
                                                  "here,gemm,fp8,vllm,0.24.0,640,1280,2560\n",
                                                  "rows.csv");
    REQUIRE(rows);
    const auto row = analysis::validate_kernels(
        *rows, [&](const std::string&) { return Result<model::Machine>(machine); },
        [&](const model::Gpu&, const std::string&) { return gpu.kernels->kernels(); });
    REQUIRE(row);
    const model::Layer layer = product("product", 640);
    analysis::Scenario scenario;
    scenario.library = "vllm-0.24";
    const auto report = analysis::run({"one", "one product", "", {layer}}, machine, scenario);
    REQUIRE(report);
    CHECK(report->layers[0].time_s == row->rows[0].time.time_s);
    CHECK(report->layers[0].high_s == row->rows[0].time.high_s);
    CHECK(report->layers[0].mapping_text == "vllm");
    // Of the energy, too: 0.3 to 0.4 of the board's limit, and the limit while no kernel runs.
    const double joules = row->rows[0].time.energy_j;
    CHECK(joules < 0.4 * 600.0 * report->layers[0].time_s);
    CHECK(report->layers[0].energy_j == near(joules));
    CHECK(report->layers[0].measured_power);
    CHECK(!analysis::energy_is_upper_bound(report->machine, report->layers[0]));
    CHECK(!analysis::energy_is_upper_bound(*report)); // the mean of such kernels is an estimate
    const double idle_s = report->total.time_s - report->layers[0].time_s;
    CHECK(report->total.energy_j == near(600.0 * idle_s + joules));
}

TEST_CASE("kernels that run side by side share one board's power, and take at most that") {
    analysis::Question question;
    question.machine.id = "here";
    question.machine.kind = gpu_of_known_power();
    question.scenario.library = "vllm-0.24";
    question.scenario.launch = model::Launch::none;
    question.edges.emplace();
    for (std::size_t i = 0; i < 4; ++i) {
        question.network.layers.push_back(product("product" + std::to_string(i), 16));
        model::GraphStep step;
        step.layer = i;
        step.reads = {model::kNetworkInput};
        step.output = true;
        question.edges->steps.push_back(step);
    }
    for (const int streams : {1, 4}) {
        question.scenario.streams = streams;
        const auto report = analysis::run(question);
        REQUIRE(report);
        const auto& line = report->timeline;
        CAPTURE(streams);
        CHECK((line.kernels_s > 1.5 * line.busy_s) == (streams > 1));
        double joules = 600.0 * (line.time_s - line.busy_s);
        for (const analysis::LayerReport& layer : report->layers) {
            joules += layer.energy_j;
        }
        CHECK(report->total.energy_j == near(std::min(joules, 600.0 * line.time_s)));
        CHECK(report->total.energy_j > 0.0);
    }
}

} // namespace test_analysis_kernel_rows
