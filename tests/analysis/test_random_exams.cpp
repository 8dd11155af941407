// Every field of a report means what docs/json.md says: random layers on every machine of the
// catalog. Two thousand in each run of the tests; EYEROOF_RANDOM_EXAMS=100000 for all that the
// documents promise.
#include "analysis/exam/run.hpp"
#include "hwdb/catalog.hpp"
#include "model/gpu/gpu.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <random>

namespace test_analysis_random_exams {

using namespace eyeroof;
using eyeroof::tests::near;

namespace {

class Rng {
  public:
    explicit Rng(unsigned seed) : engine_(seed) {}
    std::size_t upto(std::size_t n) { return engine_() % n; }
    // 1 … most, as often below ten as above a tenth of it
    Count size(double most) {
        const double share = static_cast<double>(engine_() % 10'000) / 10'000.0;
        return std::max<Count>(1, std::llround(std::pow(most, share)));
    }
    template <class T> T one_of(std::initializer_list<T> list) {
        return *(list.begin() + upto(list.size()));
    }

  private:
    std::mt19937_64 engine_;
};

model::ConvShape random_conv(Rng& rng) {
    model::ConvShape c;
    c.n = rng.size(16);
    c.c = rng.size(512);
    c.k = rng.size(512);
    c.r = rng.one_of<Count>({1, 3, 5, 7});
    c.s = rng.one_of<Count>({c.r, c.r, 1});
    c.h = c.r + rng.size(64);
    c.w = c.s + rng.size(64);
    c.stride = {rng.one_of<Count>({1, 1, 2}), rng.one_of<Count>({1, 1, 2})};
    c.pad = {c.r / 2, c.s / 2};
    if (rng.upto(5) == 0) {
        c.k = c.groups = c.c;
    }
    return c;
}

model::Shape random_shape(Rng& rng, model::Op op) {
    switch (op) {
    case model::Op::conv2d:
        return random_conv(rng);
    case model::Op::gemm:
        return model::GemmShape{1, rng.size(4096), rng.size(4096), rng.size(4096)};
    case model::Op::bmm:
        return model::GemmShape{rng.size(64), rng.size(512), rng.size(512), rng.size(512)};
    case model::Op::maxpool:
    case model::Op::avgpool: {
        const Count window = rng.one_of<Count>({2, 3});
        return model::PoolShape{rng.size(16),
                                rng.size(256),
                                window + rng.size(60),
                                window + rng.size(60),
                                window,
                                window,
                                {2, 2},
                                {0, 0}};
    }
    case model::Op::elementwise:
        return model::ElementwiseShape{rng.size(10'000), rng.size(1000),
                                       rng.one_of<const char*>({"relu", "add", "mul"})};
    case model::Op::attention: {
        model::AttentionShape a;
        a.batch = rng.size(8);
        a.groups = rng.size(32);
        a.m = a.n = rng.size(2048);
        a.k = rng.one_of<Count>({32, 64, 128});
        return a;
    }
    default:
        return model::RowsShape{rng.size(10'000), rng.size(4096)};
    }
}

model::Layer random_layer(Rng& rng, const std::vector<model::DataType>& types) {
    using model::Op;
    model::Layer layer;
    layer.name = "random";
    layer.op = rng.one_of({Op::conv2d, Op::conv2d, Op::gemm, Op::gemm, Op::bmm, Op::maxpool,
                           Op::avgpool, Op::elementwise, Op::softmax, Op::layernorm, Op::batchnorm,
                           Op::embedding, Op::attention});
    layer.shape = random_shape(rng, layer.op);
    const model::DataType type = types[rng.upto(types.size())];
    layer.types = {type, type, type};
    if ((layer.op == Op::conv2d || layer.op == Op::gemm) && rng.upto(4) == 0) {
        layer.direction = rng.one_of({model::Direction::bwd_data, model::Direction::bwd_weight});
    }
    layer.count = rng.one_of<Count>({1, 1, 3});
    return layer;
}

std::vector<model::DataType> types_of(const model::Machine& machine) {
    std::vector<model::DataType> types;
    const auto* gpu = std::get_if<model::Gpu>(&machine.kind);
    for (const std::string_view name : model::data_type_names()) {
        const auto type = *model::data_type_from_name(name);
        const bool serves = gpu != nullptr && gpu->rate(type).flops_per_s > 0.0;
        if (serves || (gpu == nullptr && type == model::DataType::int8)) {
            types.push_back(type);
        }
    }
    return types;
}

bool agree(double a, double b) {
    return std::fabs(a - b) <= 1e-9 * std::max(std::fabs(a), std::fabs(b)) + 1e-18;
}

constexpr double kRounding = 1.0 + 1e-9;

void check_times(const analysis::LayerReport& l, double clock_hz) {
    const analysis::TimeSplit& s = l.split;
    for (const double part : {s.compute_s, s.on_chip_stall_s, s.dram_stall_s, s.overhead_s}) {
        CHECK(part >= 0.0);
    }
    CHECK(l.time_s > 0.0);
    CHECK(agree(s.compute_s + s.on_chip_stall_s + s.dram_stall_s + s.overhead_s, l.time_s));
    CHECK(agree(l.processing_time_s + s.dram_stall_s, l.time_s));
    CHECK(agree(l.cycles, l.time_s * clock_hz));
    if (l.low_s && l.high_s) {
        CHECK(*l.low_s <= l.time_s);
        CHECK(*l.high_s >= l.time_s);
    }
    double shares = l.limits.at_work;
    for (std::size_t k = 0; k < model::kSteps; ++k) {
        shares += l.limits.share[k];
        CHECK(l.limits.share[k] >= -1e-9 * l.time_s);
        CHECK(l.limits.without[k] <= l.time_s * kRounding);
    }
    CHECK(agree(shares, l.time_s));
}

void check_units(const analysis::LayerReport& l, const analysis::MachineSummary& machine) {
    CHECK(l.units > 0.0);
    CHECK(l.active.allocated <= l.units);
    CHECK(l.active.averaged <= l.active.allocated * kRounding);
    // Two operations stand for a MAC where there are none; a chain may pass the units' rate only
    // where an algorithm multiplies less than the layer does.
    const double most = std::max(1.0, l.steps[2].macs_per_cycle / l.units);
    CHECK(l.utilization <= most * kRounding);
    const bool array_rests = machine.kind == "accelerator" && l.macs == 0;
    CHECK((l.active.averaged > 0.0) == !array_rests);
    CHECK((l.utilization > 0.0) == !array_rests);
    if (l.macs > 0) {
        CHECK(agree(l.utilization * l.units * l.cycles, static_cast<double>(l.macs)));
    }
    CHECK(machine.units * machine.clock_hz == near(machine.peak_macs_per_s));
}

void check_work(const analysis::LayerReport& l) {
    const auto work = model::work_of(l.layer);
    REQUIRE(work);
    CHECK(l.macs == work->macs);
    CHECK((l.macs > 0) == model::multiplies(l.layer.op));
    CHECK(l.flops == work->flops);
    CHECK(static_cast<double>(l.bytes) <= l.outer_bytes * kRounding + 1.0);
}

void check_chains(const analysis::LayerReport& l) {
    CHECK(model::check_chain(l.steps, "mapping").empty());
    CHECK(model::check_chain(l.machine_steps, "machine").empty());
    for (std::size_t k = 0; k < model::kSteps; ++k) {
        CHECK(l.steps[k].macs_per_cycle <= l.machine_steps[k].macs_per_cycle * kRounding);
    }
    CHECK(l.limiter_step >= 1);
    CHECK(l.limiter_step <= model::kSteps);
    CHECK(!l.limiter.empty());
}

void check_total(const analysis::Report& report) {
    const analysis::LayerReport& l = report.layers.front();
    const auto count = static_cast<double>(l.layer.count);
    CHECK(agree(report.total.macs, count * static_cast<double>(l.macs)));
    CHECK(report.total.processing_time_s <= report.total.time_s * kRounding);
    CHECK(report.total.processing_time_s > 0.0);
    if (l.macs > 0) {
        const double at_peak_s = report.total.macs / (l.units * report.machine.clock_hz);
        CHECK(agree(report.total.utilization, at_peak_s / report.total.time_s));
    }
}

std::vector<model::Machine> catalog() {
    const std::vector<std::filesystem::path> folders = {std::filesystem::path(tests::source_dir()) /
                                                        "hwdb"};
    std::vector<model::Machine> machines;
    for (const hwdb::CatalogEntry& entry : hwdb::list_machines(folders)) {
        auto machine = hwdb::load_machine(entry.id, folders);
        REQUIRE(machine);
        machines.push_back(*std::move(machine));
    }
    return machines;
}

std::size_t wanted_exams() {
    const char* text = std::getenv("EYEROOF_RANDOM_EXAMS");
    return text == nullptr ? 2000 : static_cast<std::size_t>(std::atol(text));
}

} // namespace

TEST_CASE("every field of a random exam on any machine means what the documents say") {
    const std::vector<model::Machine> machines = catalog();
    Rng rng(20);
    std::size_t examined = 0;
    for (std::size_t i = 0; i < wanted_exams(); ++i) {
        const model::Machine& machine = machines[i % machines.size()];
        model::Network network;
        network.id = network.name = "random";
        network.layers = {random_layer(rng, types_of(machine))};
        analysis::Scenario scenario;
        scenario.policy = analysis::MappingPolicy::dataflow;
        scenario.operators = analysis::Operators::all;
        scenario.launch = rng.one_of({model::Launch::eager, model::Launch::stream,
                                      model::Launch::none, model::Launch::graph});
        CAPTURE(i);
        CAPTURE(machine.id);
        CAPTURE(model::op_name(network.layers[0].op));
        CAPTURE(model::data_type_name(network.layers[0].types.input));
        const auto report = analysis::run(network, machine, scenario);
        if (!report) { // a type or direction that this operator does not have there
            CHECK_MESSAGE(report.diagnostics().items().front().code != "internal-bound",
                          report.diagnostics().items().front().message);
            continue;
        }
        ++examined;
        const analysis::LayerReport& layer = report->layers.front();
        check_times(layer, report->machine.clock_hz);
        check_units(layer, report->machine);
        check_work(layer);
        check_chains(layer);
        check_total(*report);
    }
    MESSAGE(examined << " exams");
    CHECK(examined * 10 > wanted_exams() * 8);
}

TEST_CASE("layers of two types on a GPU have a peak each, and the total weighs them") {
    const std::vector<std::filesystem::path> folders = {std::filesystem::path(tests::source_dir()) /
                                                        "hwdb"};
    const auto a100 = hwdb::load_machine("a100-sxm-40gb", folders);
    REQUIRE(a100);
    model::Network network;
    network.id = network.name = "two";
    for (const model::DataType type : {model::DataType::fp32, model::DataType::int8}) {
        model::Layer layer;
        layer.name = model::data_type_name(type);
        layer.shape = model::GemmShape{1, 4096, 4096, 4096};
        layer.types = {type, type, type};
        network.layers.push_back(layer);
    }
    const auto report = analysis::run(network, *a100);
    REQUIRE(report);
    const analysis::LayerReport& fp32 = report->layers[0];
    const analysis::LayerReport& int8 = report->layers[1];
    // 108 SMs of 64 lanes, and of 2048 int8 MACs in their tensor cores.
    CHECK(fp32.units == near(108.0 * 64.0, 0.001));
    CHECK(int8.units == near(108.0 * 2048.0, 0.001));
    CHECK(fp32.utilization < 1.0);
    CHECK(int8.utilization < 1.0);
    const double macs = 4096.0 * 4096.0 * 4096.0;
    const double at_peak_s = macs / (19.5e12 / 2.0) + macs / (624e12 / 2.0);
    CHECK(report->total.utilization == near(at_peak_s / report->total.time_s, 0.001));
}

} // namespace test_analysis_random_exams
