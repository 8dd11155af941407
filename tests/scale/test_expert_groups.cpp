// Where experts are: their devices, what they send, and that nothing of a decoder is lost.
#include "analysis/scale/serving.hpp"
#include "analysis/scale/transformer_step.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/fabric_reader.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <set>

namespace test_scale_expert_groups {

using namespace eyeroof;
using namespace eyeroof::analysis;
using tests::near;

namespace {

const std::vector<std::filesystem::path> kHwdb = {std::filesystem::path(tests::source_dir()) /
                                                  "hwdb"};

// Nodes of eight at 100 GB/s, one port of 10 GB/s for each device.
model::Fabric nodes_of_eight() {
    model::Fabric fabric;
    fabric.levels.resize(2);
    fabric.levels[0].size = 8;
    fabric.levels[0].bytes_per_s = 100e9;
    fabric.levels[1].ports = 8;
    fabric.levels[1].bytes_per_s = 10e9;
    return fabric;
}

Transformer decoder() {
    Transformer t;
    t.layers = 8;
    t.hidden = 1024;
    t.heads = t.kv_heads = 16;
    t.head_size = 64;
    t.inner = 2048;
    t.vocabulary = 32000;
    t.experts = 16;
    t.active = 4;
    t.gated = true;
    t.tied = t.biases = false;
    return t;
}

TransformerStep step_of(const Plan& plan, const TransformerOptions& o, double pass_s = 0.0) {
    BlockTimes times;
    times.forward_s = pass_s;
    times.backward_s = 2.0 * pass_s;
    return transformer_step(decoder(), plan, o, nodes_of_eight(), times, 0.0, 80e9);
}

TransformerOptions options() {
    TransformerOptions o;
    o.batch = 64;
    o.length = 512;
    return o;
}

Plan two_stages() {
    Plan plan;
    plan.pipeline = 2;
    plan.data = 8;
    plan.expert = 8;
    return plan;
}

} // namespace

TEST_CASE("with stages outermost a group of experts stays in its node") {
    Plan plan = two_stages();
    const double inside = step_of(plan, options()).expert_s;
    plan.order = PlanOrder::data_last;
    const double across = step_of(plan, options()).expert_s;
    CHECK(across > 2.0 * inside);
    for (const std::string& name : order_names()) {
        CHECK(order_name(*order_from_name(name)) == name);
    }
    CHECK_FALSE(order_from_name("pp-tp"));
}

TEST_CASE("a token is sent once to a node, whatever experts it meets there") {
    const Group group = place_group(nodes_of_eight(), 32, 1, 32);
    const double bytes = 1e9;
    const CollectiveTime flex = dispatch_time(nodes_of_eight(), group, bytes, 8.0);
    const double reached = 4.0 * (1.0 - std::pow(0.75, 8.0)); // of four nodes
    CHECK(flex.bandwidth_s == near(bytes * reached * 0.75 / 10e9));
    const double copies =
        collective_time(nodes_of_eight(), group, Collective::all_to_all, 8.0 * bytes).time_s();
    CHECK(copies > 1.9 * flex.time_s());
    CHECK(dispatch_time(nodes_of_eight(), place_group(nodes_of_eight(), 1, 1, 8), bytes, 8.0)
              .time_s() == 0.0);
}

TEST_CASE("all-to-alls hide behind another microbatch where Megatron-Core can") {
    Plan plan = two_stages();
    TransformerOptions o = options();
    CHECK_FALSE(hides_experts(plan, o)); // one chunk a stage
    plan.interleave = 2;
    CHECK(hides_experts(plan, o));
    const double hidden = step_of(plan, o, 1e-2).expert_s;
    o.overlap_expert = false;
    const double exposed = step_of(plan, o, 1e-2).expert_s;
    CHECK(hidden == near(exposed / 8.0)); // of eight microbatches one has no partner
    plan.recompute = Recompute::full;
    o.overlap_expert.reset();
    CHECK_FALSE(hides_experts(plan, o));
}

TEST_CASE("ZeRO over all layouts keeps every value once") {
    const Transformer t = decoder();
    const double all = parameters(t);
    for (const Count tensor : {1, 2, 4}) {
        for (const Count context : {1, 2}) {
            for (const Count data : {1, 4, 8}) {
                for (const Count expert : {1, 2, 4, 8, 16}) {
                    for (const Count own : {Count{1}, tensor}) {
                        Plan plan;
                        plan.tensor = tensor;
                        plan.context = context;
                        plan.data = data;
                        plan.expert = expert;
                        plan.expert_tensor = own;
                        plan.sequence = tensor > 1;
                        plan.zero = 3;
                        TransformerOptions o = options();
                        if (check_plan(t, plan, o, nodes_of_eight()).has_errors()) {
                            continue;
                        }
                        const double kept =
                            divided_parameters(t, plan) * static_cast<double>(plan.devices());
                        CHECK(kept == near(all));
                        CHECK(device_parameters(t, plan) >= divided_parameters(t, plan) - 1.0);
                    }
                }
            }
        }
    }
}

namespace {

Serving served(Count tensor, Count data, Count expert) {
    const auto machine = hwdb::load_machine("h100-sxm-80gb", kHwdb);
    REQUIRE(machine.ok());
    ServingOptions o;
    o.tensor = {tensor};
    o.data = data;
    o.expert = expert;
    o.batches = {16};
    const auto result = serve(decoder(), *machine, nodes_of_eight(), o);
    REQUIRE(result.ok());
    REQUIRE(result->points.size() == 1);
    return *result;
}

ServingPoint point(Count tensor, Count data, Count expert) {
    return served(tensor, data, expert).points.front();
}

} // namespace

TEST_CASE("a server's devices hold each expert once, and attention once a replica") {
    Plan alone;
    const DeviceValues values = device_values(decoder(), alone);
    for (const Count tensor : {1, 2, 4, 8}) {
        for (const Count data : {1, 2, 4}) {
            for (const Count expert : {1, 2, 4, 8, 16}) {
                if (tensor * data % expert != 0) {
                    continue;
                }
                const ServingPoint p = point(tensor, data, expert);
                const auto devices = static_cast<double>(p.devices);
                CHECK(p.devices == tensor * data);
                const double held =
                    2.0 * (values.shared * static_cast<double>(data) + values.experts);
                CHECK(p.weight_bytes * devices == near(held));
                const double cache = cache_bytes(decoder(), 1, model::DataType::bf16, 1024 + 256);
                CHECK(p.cache_bytes * devices == near(16.0 * cache));
                CHECK(p.batch == 16);
            }
        }
    }
}

TEST_CASE("experts inside the tensor group and beside it are the same where one degree is 1") {
    CHECK(point(8, 0, 1) == point(8, 1, 1));
    CHECK(point(1, 0, 8) == point(1, 8, 8));
    CHECK(point(8, 0, 8).devices == 8);  // inside
    CHECK(point(2, 0, 8).devices == 8);  // replicas fill the rest
    CHECK(point(8, 8, 8).devices == 64); // beside
    CHECK(served(8, 0, 8).tpot_limit_s == 0.0);
}

namespace {

struct Bandwidths {
    double memory = 1.0, inside = 1.0, between = 1.0; // over those of nodes of four
};

model::Fabric nodes_of_four(const Bandwidths& times) {
    model::Fabric fabric = nodes_of_eight();
    fabric.levels[0].size = fabric.levels[1].ports = 4;
    fabric.levels[0].bytes_per_s *= times.inside;
    fabric.levels[1].bytes_per_s *= times.between;
    return fabric;
}

// Seconds of a server's steps, prompts, and waits with such bandwidths.
std::array<double, 4> server_seconds(const ServerLayout& layout, const Bandwidths& times) {
    model::Machine machine = *hwdb::load_machine("h100-sxm-80gb", kHwdb);
    std::get<model::Gpu>(machine.kind).dram_bytes_per_s *= times.memory;
    ServingOptions o;
    o.tensor = {layout.tensor};
    o.data = layout.data;
    o.expert = layout.expert;
    o.batches = {64};
    const auto result = serve(decoder(), machine, nodes_of_four(times), o);
    REQUIRE(result.ok());
    const ServingPoint& p = result->points.front();
    return {p.step_s, p.prefill_s, p.ttft_s, p.tpot_s};
}

} // namespace

TEST_CASE("more bandwidth of memory, of a node, or between nodes never slows a server") {
    for (const ServerLayout& layout :
         {ServerLayout{8, 1, 1}, {8, 1, 8}, {2, 4, 8}, {1, 8, 8}, {4, 2, 4}, {1, 1, 1}}) {
        for (double Bandwidths::*which :
             {&Bandwidths::memory, &Bandwidths::inside, &Bandwidths::between}) {
            auto before = server_seconds(layout, {});
            for (const double factor : {1.25, 2.0, 8.0}) {
                Bandwidths times;
                times.*which = factor;
                const auto after = server_seconds(layout, times);
                for (std::size_t i = 0; i < after.size(); ++i) {
                    CAPTURE(layout.tensor);
                    CAPTURE(layout.data);
                    CAPTURE(layout.expert);
                    CAPTURE(factor);
                    CAPTURE(i);
                    CHECK(after[i] <= before[i] * (1.0 + 1e-9));
                }
                before = after;
            }
        }
    }
}

TEST_CASE("more bandwidth of a node or between nodes never slows a training step") {
    for (const PlanOrder order : {PlanOrder::pipeline_last, PlanOrder::data_last}) {
        for (const Count tensor : {1, 2, 4}) {
            for (const Count pipeline : {1, 2, 4}) {
                for (const Count expert : {1, 2, 8}) {
                    Plan plan;
                    plan.tensor = tensor;
                    plan.pipeline = pipeline;
                    plan.data = 8;
                    plan.expert = expert;
                    plan.order = order;
                    plan.zero = 1;
                    if (check_plan(decoder(), plan, options(), nodes_of_four({})).has_errors()) {
                        continue;
                    }
                    BlockTimes times;
                    times.forward_s = 1e-3;
                    times.backward_s = 2e-3;
                    const auto seconds = [&](const Bandwidths& bandwidths) {
                        return transformer_step(decoder(), plan, options(),
                                                nodes_of_four(bandwidths), times, 0.0, 80e9)
                            .time_s;
                    };
                    for (double Bandwidths::*which : {&Bandwidths::inside, &Bandwidths::between}) {
                        double before = seconds({});
                        for (const double factor : {1.25, 2.0, 8.0}) {
                            Bandwidths faster;
                            faster.*which = factor;
                            const double after = seconds(faster);
                            CAPTURE(tensor);
                            CAPTURE(pipeline);
                            CAPTURE(expert);
                            CAPTURE(factor);
                            CHECK(after <= before * (1.0 + 1e-9));
                            before = after;
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE("tokens in the prefix cache are not computed, and are seen") {
    const auto machine = hwdb::load_machine("h100-sxm-80gb", kHwdb);
    REQUIRE(machine.ok());
    ServingOptions o;
    o.prompt = 4096;
    o.batches = {1};
    o.users = {4};
    const auto at = [&](Count cached) {
        o.cached = cached;
        return serve(decoder(), *machine, nodes_of_eight(), o);
    };
    const auto none = at(0);
    const auto half = at(2048);
    o.prompt = 2048;
    const auto shorter = at(0);
    REQUIRE((none.ok() && half.ok() && shorter.ok()));
    CHECK(half->points[0].prefill_s < 0.8 * none->points[0].prefill_s);
    CHECK(half->points[0].prefill_s > shorter->points[0].prefill_s);
    CHECK(half->loads[0].result.ttft.mean < none->loads[0].result.ttft.mean);
    CHECK(half->points[0].step_s == none->points[0].step_s);
    CHECK_FALSE(at(2048).ok());
}

TEST_CASE("a GPU has at most one usual fabric, and a node with too few ports is warned of") {
    std::set<std::string> seen;
    for (const auto& entry : hwdb::list_fabrics(kHwdb)) {
        const auto fabric = hwdb::load_fabric(entry.id, kHwdb);
        REQUIRE(fabric.ok());
        for (const std::string& gpu : fabric->usual_of) {
            CHECK_MESSAGE(seen.insert(gpu).second, gpu);
            CHECK_MESSAGE(hwdb::load_machine(gpu, kHwdb).ok(), gpu);
        }
    }
    CHECK(seen.size() >= 65);
    model::Fabric narrow = nodes_of_eight();
    narrow.levels[1].latency_s = narrow.levels[0].latency_s = {1e-6};
    CHECK(model::validate(narrow).empty());
    narrow.levels[1].ports = 1;
    const Diagnostics found = model::validate(narrow);
    REQUIRE(found.size() == 1);
    CHECK(found.begin()->code == "narrow-ports");
    CHECK_FALSE(found.has_errors());
}

TEST_CASE("two DGX-1 sum over four ports of 100 Gb/s") {
    const auto fabric = hwdb::load_fabric("dgx1-v100-edr", kHwdb);
    REQUIRE(fabric.ok());
    const double bytes = 1e9;
    const CollectiveTime time =
        collective_time(*fabric, place_group(*fabric, 16, 1, 16), Collective::all_reduce, bytes);
    const double bus = bus_bytes_per_s(Collective::all_reduce, 16, bytes, time.time_s());
    CHECK(bus > 40e9);
    CHECK(bus < 60e9);
}

} // namespace test_scale_expert_groups
