// Strategies that are found: AlexNet's one weird trick, decoders under memory.
#include "analysis/scale/search.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/fabric_reader.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"
#include "tests/question.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace test_scale_search {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::formats;
using tests::near;
namespace fs = std::filesystem;

namespace {

const std::vector<fs::path> kHwdb = {fs::path(tests::source_dir()) / "hwdb"};

model::Machine machine_named(const char* name) {
    return *hwdb::load_machine(name, kHwdb);
}

} // namespace

TEST_CASE("AlexNet is trained with data parallel convolutions and model parallel FC layers") {
    const auto alexnet =
        formats::load_network("alexnet", {fs::path(tests::source_dir()) / "examples" / "networks"});
    REQUIRE(alexnet.ok());
    for (const char* fabric : {"pcie4-100g", "titan-gemini", "roce-100g"}) {
        ScaleOptions options;
        Scenario scenario;
        scenario.data_type = model::DataType::fp32;
        const auto wires = hwdb::load_fabric(fabric, kHwdb);
        REQUIRE(wires.ok());
        const auto search =
            search_layers(tests::question_of(*alexnet, machine_named("k40m"), scenario), *wires, 8,
                          1024, options);
        REQUIRE(search.ok());
        REQUIRE(search->layers.size() == 8);
        for (std::size_t l = 0; l < 5; ++l) {
            CHECK_MESSAGE(!search->layers[l].model_parallel, search->layers[l].name);
        }
        CHECK(search->layers[5].model_parallel); // 38 M of 61 M parameters
        CHECK(search->layers[6].model_parallel);
        CHECK(search->time_s < search->all_data_s);
    }
}

TEST_CASE("the best plan of a decoder is the best of all that can be tried one by one") {
    const Transformer t = gpt(8, 2048, 16, 32000, 2048, true);
    TransformerOptions o;
    o.batch = 64;
    BlockExams exams(t, machine_named("a100-sxm-40gb"), o);
    const auto fabric = *hwdb::load_fabric("dgx-a100-hdr", kHwdb);
    const auto search = search_plans(exams, fabric, 16);
    REQUIRE(search.ok());
    CHECK(search->bound_s <= search->steps.front().time_s);
    double best = 1e300;
    for (const Count tensor : {1, 2, 4, 8, 16}) {
        for (const Count pipeline : {1, 2, 4, 8}) {
            for (const Count b : {1, 2, 4, 8, 16}) {
                for (const Count v : {1, 2, 4, 8}) {
                    for (const Recompute r : {Recompute::none, Recompute::full}) {
                        for (const int zero : {0, 1, 2, 3}) {
                            Plan plan{tensor, pipeline, 1,          1, 16 / (tensor * pipeline),
                                      v,      b,        tensor > 1, r, zero,
                                      false};
                            const bool divides = plan.data >= 1 && 16 % (tensor * pipeline) == 0 &&
                                                 64 % (plan.data * b) == 0 && 8 / pipeline % v == 0;
                            const bool sound =
                                divides &&
                                (v == 1 ||
                                 (pipeline > 1 && 64 / (plan.data * b) % pipeline == 0)) &&
                                (zero == 0 || plan.data > 1) && (zero < 2 || pipeline == 1);
                            if (!sound) {
                                continue;
                            }
                            for (const bool balanced : {false, true}) {
                                plan.balanced = balanced && pipeline > 1;
                                const auto times = exams.times(plan, {});
                                const double values =
                                    device_parameters(t, plan) /
                                    (zero > 0 ? static_cast<double>(plan.data) : 1.0);
                                const TransformerStep step =
                                    transformer_step(t, plan, o, fabric, *times,
                                                     *exams.update_s(values, {}), exams.capacity());
                                best = step.memory.fits() ? std::min(best, step.time_s) : best;
                            }
                        }
                    }
                }
            }
        }
    }
    CHECK(search->steps.front().time_s == near(best));
}

TEST_CASE("a decoder that cannot fit is refused with the plan that comes nearest") {
    const Transformer t = gpt(128, 25600, 160, 51200, 2048, true); // 1 T parameters
    TransformerOptions o;
    o.batch = 64;
    BlockExams exams(t, machine_named("a100-sxm-80gb"), o);
    const auto search = search_plans(exams, *hwdb::load_fabric("dgx-a100-hdr", kHwdb), 64);
    REQUIRE_FALSE(search.ok());
    CHECK(search.diagnostics().items()[0].code == "no-plan");
    CHECK(search.diagnostics().items()[0].message.find("needs") != std::string::npos);
}

} // namespace test_scale_search
