// Whose constants a GPU without measurements takes: its die's, halfway those of the same kernels,
// else everybody's. What a term is worth.
#include "analysis/cross_validate/cross_folds.hpp"
#include "analysis/cross_validate/cross_validate.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string_view>

namespace test_analysis_carried_constants {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;
using model::KernelClass;

namespace {

model::Gpu gpu(model::GpuArch arch, const char* compute_capability, int sms) {
    model::Gpu g = test::a100_sxm_40();
    g.arch = arch;
    g.compute_capability = compute_capability;
    g.sms = sms;
    return g;
}

// Products on tensor cores were measured on "blackwell" (k step 40) and "ampere" (k step 90), of
// all together 10.
analysis::CrossValidation measured() {
    analysis::CrossValidation result;
    result.carried_over.tensor_gemm.ramp_k = 10.0;
    for (const auto& [id, ramp_k] : {std::pair{"blackwell", 40.0}, {"ampere", 90.0}}) {
        model::GpuCalibration own = result.carried_over;
        own.tensor_gemm.ramp_k = ramp_k;
        own.record(KernelClass::tensor_gemm).measured = true;
        result.held_out[id] = own;
        result.left_out[id] = result.carried_over;
    }
    return result;
}

const std::map<std::string, model::Gpu> kCatalog = {
    {"ampere", gpu(model::GpuArch::ampere, "8.0", 108)},
    {"ampere-board", gpu(model::GpuArch::ampere, "8.0", 108)},
    {"ampere-small", gpu(model::GpuArch::ampere, "8.0", 56)},
    {"ampere-gaming", gpu(model::GpuArch::ampere, "8.6", 82)},
    {"blackwell", gpu(model::GpuArch::blackwell, "10.0", 152)},
    {"blackwell-ultra", gpu(model::GpuArch::blackwell, "10.3", 148)},
    {"blackwell-gaming", gpu(model::GpuArch::blackwell, "12.0", 170)},
};

} // namespace

TEST_CASE("constants go to the die's other boards whole, and halfway to what runs its kernels") {
    const auto files = analysis::calibration_files(measured(), kCatalog);
    const auto ramp_k = [&](const char* id) { return files.at(id).tensor_gemm.ramp_k; };
    CHECK(ramp_k("ampere") == near(90.0));
    CHECK(ramp_k("ampere-board") == near(90.0));
    CHECK(ramp_k("ampere-small") == near(30.0)); // the root of 90 x 10
    CHECK(files.count("ampere-gaming") == 0);    // 8.6 has kernels of its own
}

TEST_CASE("since Blackwell a family of compute capabilities runs the same kernels") {
    const auto files = analysis::calibration_files(measured(), kCatalog);
    CHECK(files.at("blackwell-ultra").tensor_gemm.ramp_k == near(20.0)); // 10.3 runs 10.0's
    CHECK_FALSE(files.at("blackwell-ultra").record(KernelClass::tensor_gemm).measured);
    CHECK(files.count("blackwell-gaming") == 0); // 12.0 does not
}

TEST_CASE(
    "a GPU of AMD's takes the constants of the nearest measured: its capability's, its units'") {
    const auto amd = [](const char* capability, model::Pipe pipe) {
        model::Gpu g = gpu(model::GpuArch::amd, capability, 60);
        g.rate(model::DataType::fp16).pipe = pipe;
        return g;
    };
    const std::map<std::string, model::Gpu> catalog = {
        {"a-lanes", amd("gfx900", model::Pipe::vector)},
        {"b-matrix", amd("gfx908", model::Pipe::tensor)},
        {"c-matrix", amd("gfx90a", model::Pipe::tensor)},
        {"new-matrix", amd("gfx942", model::Pipe::tensor)},
        {"new-lanes", amd("gfx1030", model::Pipe::vector)},
        {"other-die", amd("gfx90a", model::Pipe::tensor)},
    };
    std::map<std::string, model::Gpu> sized = catalog;
    sized.at("other-die").sms = 52;
    sized.at("new-matrix").sms = 304;
    sized.at("new-lanes").sms = 36;
    sized.at("a-lanes").sms = 64;
    sized.at("b-matrix").sms = 120;
    analysis::CrossValidation result;
    for (const auto& [id, ramp_k] :
         {std::pair{"a-lanes", 10.0}, {"b-matrix", 20.0}, {"c-matrix", 30.0}}) {
        model::GpuCalibration own;
        own.linear.ramp_k = ramp_k;
        own.record(KernelClass::linear).measured = true;
        result.held_out[id] = result.left_out[id] = own;
    }
    const auto files = analysis::calibration_files(result, sized);
    CHECK(files.at("other-die").linear.ramp_k == near(30.0));
    CHECK(files.at("new-matrix").linear.ramp_k == near(20.0));
    CHECK(files.at("new-lanes").linear.ramp_k == near(10.0));
}

TEST_CASE(
    "rows of a session that another outruns by a quarter are not what a card's own fit sees") {
    analysis::Fold fold;
    static const model::Layer kLayer = [] {
        model::Layer layer;
        layer.op = model::Op::gemm;
        return layer;
    }();
    const auto add = [&](const char* session, double ratio) {
        for (int i = 0; i < 30; ++i) {
            analysis::Case c;
            c.row.layer = &kLayer;
            c.session = session;
            c.row.measured_s = ratio;
            c.left_s = 1.0;
            fold.cases.push_back(c);
        }
    };
    add("slow", 2.0);
    add("quick", 1.0);
    add("near", 1.2);
    const auto seen = analysis::of_quick_sessions(fold);
    CHECK(seen.size() == 60);
    CHECK(
        std::none_of(seen.begin(), seen.end(), [](const auto& c) { return c.session == "slow"; }));
    analysis::Fold alone;
    alone.cases.assign(fold.cases.begin(), fold.cases.begin() + 30);
    CHECK(analysis::of_quick_sessions(alone).size() == 30); // nothing to compare with
}

namespace {

Result<model::Machine> by_name(const std::string& id) {
    model::Machine machine;
    machine.id = id;
    machine.kind = id == "a100" ? test::a100_sxm_40() : test::v100_sxm2();
    return machine;
}

// Sixty layers timed by the model itself on both GPUs, with constants changed.
std::vector<analysis::MeasuredLayer>
timed(const std::function<void(model::GpuCalibration&)>& change,
      const std::function<model::Layer(Count)>& layer_at) {
    std::vector<analysis::MeasuredLayer> rows;
    for (const std::string id : {"v100", "a100"}) {
        model::Gpu truth = std::get<model::Gpu>(by_name(id)->kind);
        change(truth.calibration);
        for (Count i = 1; i <= 60; ++i) {
            const model::Layer layer = layer_at(i);
            const auto p = model::predict(truth, layer);
            REQUIRE(p.ok());
            rows.push_back({layer, id, p->time_s, static_cast<int>(i)});
        }
    }
    return rows;
}

bool lists(const analysis::CrossValidation& result, std::string_view term) {
    return std::any_of(result.ablations.begin(), result.ablations.end(),
                       [&](const analysis::AblationRow& row) { return row.term == term; });
}

} // namespace

TEST_CASE("an ablation tells that a term which made the times is missed") {
    const auto rows = timed(
        [](auto& constants) { constants.linear.ramp_cycles = 5000.0; }, // before the first product
        [](Count i) { return test::gemm(97 * i, 53 * i + 11, 64 + 8 * i, model::DataType::fp32); });
    analysis::CrossValidateOptions options;
    options.rounds = 3;
    options.rows = 40;
    options.ablate = true;
    const auto result = analysis::cross_validate(rows, by_name, options);
    REQUIRE(result.ok());
    REQUIRE_FALSE(result->ablations.empty());
    const analysis::AblationRow& all = result->ablations.front();
    CHECK(all.term.empty());
    const auto without = std::find_if(result->ablations.begin(), result->ablations.end(),
                                      [](const auto& row) { return row.term == "ramp_cycles"; });
    REQUIRE(without != result->ablations.end());
    CHECK(without->held_out > 1.5 * all.held_out);
    CHECK(without->left_out > all.left_out);
    for (const analysis::AblationRow& row : result->ablations) {
        CHECK((row.term.empty() || (model::can_be_off(row.term) && row.value > 0.0)));
    }
}

TEST_CASE("a term that its bound holds is ablated, one that stayed at its start is not") {
    const auto begin = [](auto& constants) { constants = analysis::textbook_start(); };
    const auto rows = timed(begin, [](Count i) { // where fits begin: none of them moves
        model::Layer layer;
        layer.op = model::Op::layernorm;
        layer.shape = model::RowsShape{64 * i, 256 + 32 * i};
        return layer;
    });
    analysis::CrossValidateOptions options;
    options.rounds = 1;
    options.rows = 40;
    options.ablate = true;
    const auto result = analysis::cross_validate(rows, by_name, options);
    REQUIRE(result.ok());
    CHECK(lists(*result, "norm_pass")); // one more reading, and no more than one
    CHECK_FALSE(lists(*result, "rope_cycles"));
}

} // namespace test_analysis_carried_constants
