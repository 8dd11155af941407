// Upgrades with an accelerator on a side: its power and price are not published, and what GPUs
// showed does not apply.
#include "analysis/scale/scale.hpp"
#include "analysis/upgrade/purchase.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "report/upgrade/purchase_tables.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

namespace test_analysis_upgrade_unknown_power {

using namespace eyeroof;
using namespace eyeroof::analysis;
using tests::near;
namespace fs = std::filesystem;

namespace {

const fs::path kRoot = tests::source_dir();
const std::vector<fs::path> kMachines = {kRoot / "hwdb"};
const std::vector<fs::path> kNetworks = {kRoot / "examples" / "networks"};

model::Machine machine(const char* name) {
    return *hwdb::load_machine(name, kMachines);
}

PurchaseQuestion question(const char* from, const char* to, const char* network) {
    PurchaseQuestion q;
    q.from = machine(from);
    q.fleet = {{*formats::load_network(network, kNetworks)}};
    UpgradeOptions options;
    options.assumptions = false;
    options.from.launch = options.to.launch = model::Launch::graph; // so that kernels decide
    options.from.data_type = options.to.data_type = model::DataType::bf16;
    options.transfer.share = 0.8;
    options.transfer.kinds["inference mixed"] = {0.2, 0.1, 0.3, 0.3, 6, 60};
    options.evidence = std::make_shared<const Evidence>(
        std::vector<EvidenceRow>{
            {{"bert", "inference", "mixed", "a100-sxm-80gb", "h100-sxm-80gb", "ampere", "hopper"},
             "somewhere",
             "bert-base",
             1,
             2.5,
             2.0,
             true}},
        0.8);
    options.prices.from_usd_per_hour = 1.0;
    options.prices.to_usd_per_hour = 2.0;
    q.candidates = {{machine(to), options}};
    return q;
}

PurchaseAnswer answer_of(const PurchaseQuestion& q) {
    const auto bought = purchase(q);
    REQUIRE(bought.ok());
    return bought->answers.front();
}

bool has_note(const Upgrade& u, const std::string& words) {
    return std::ranges::any_of(
        u.notes, [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

} // namespace

TEST_CASE("evidence makes no GPU slower than one that has no more of anything") {
    const model::Machine h100 = machine("h100-sxm-80gb"), h200 = machine("h200-sxm-141gb");
    const auto& less = std::get<model::Gpu>(h100.kind);
    const auto& more = std::get<model::Gpu>(h200.kind);
    CHECK(model::lacks_nothing(more, less));
    CHECK_FALSE(model::lacks_nothing(less, more));
    CHECK_FALSE(model::lacks_nothing(more, std::get<model::Gpu>(machine("b200-sxm").kind)));
    auto q = question("h100-sxm-80gb", "h200-sxm-141gb", "bert-base");
    UpgradeOptions options = q.candidates.front().options;
    options.evidence = std::make_shared<const Evidence>(
        std::vector<EvidenceRow>{
            {{"bert", "inference", "mixed", h100.id, h200.id, "hopper", "hopper"},
             "somewhere",
             "bert-base",
             1,
             0.5,
             2.0,
             true}},
        0.8);
    const auto there = upgrade(q.fleet.front().network, h100, h200, options);
    const auto back = upgrade(q.fleet.front().network, h200, h100, options);
    REQUIRE(there.ok());
    REQUIRE(back.ok());
    CHECK(there->evidence_ln < 0.0);
    CHECK(there->speedup.value == near(1.0));
    CHECK(back->speedup.value == near(1.0));
    CHECK(there->model_speedup > 1.0);
}

TEST_CASE("a board of unknown power has no energy and no CO2, and costs no electricity") {
    auto q = question("a100-sxm-80gb", "tpu-v6e", "bert-base");
    const PurchaseAnswer rented = answer_of(q);
    CHECK(rented.now.kwh_per_year.has_value());
    CHECK(rented.now.kg_co2_per_year.has_value());
    CHECK_FALSE(rented.then.kwh_per_year.has_value());
    CHECK_FALSE(rented.then.kg_co2_per_year.has_value());
    CHECK_FALSE(rented.then.joules_per_mtoken.has_value());
    CHECK_FALSE(rented.then.joules_per_1000.has_value());
    CHECK(rented.upgrade.money.from_joules.has_value());
    CHECK_FALSE(rented.upgrade.money.to_joules.has_value());
    CHECK(has_note(rented.upgrade, "the power of tpu-v6e is unknown"));
    CHECK_FALSE(has_note(rented.upgrade, "without electricity"));
    q.candidates.front().options.prices.to_usd_per_hour.reset();
    q.candidates.front().options.prices.to_buy_usd = 10000.0;
    const PurchaseAnswer bought = answer_of(q);
    CHECK(bought.upgrade.money.to_running_usd_per_hour == 0.0);
    CHECK(has_note(bought.upgrade, "its cost is without electricity"));
}

TEST_CASE("under a power limit a machine of unknown power is left out of the mix, and named") {
    auto q = question("a100-sxm-80gb", "tpu-v6e", "bert-base");
    q.candidates.push_back(question("a100-sxm-80gb", "h100-sxm-80gb", "bert-base").candidates[0]);
    q.terms.count = 4;
    q.terms.power_w = 5000.0;
    const auto limited = purchase(q);
    REQUIRE(limited.ok());
    REQUIRE(limited->mix);
    REQUIRE(limited->mix->plan);
    CHECK(limited->mix->gpus == std::vector<std::string>{"a100-sxm-80gb", "h100-sxm-80gb"});
    CHECK(limited->mix->plan->power <= 5000.0);
    CHECK(mix_text(*limited->mix)
              .ends_with(" Left out under the power limit, as its power is unknown: tpu-v6e."));
    q.from = machine("tpu-v5e");
    q.candidates.resize(1);
    const auto none = purchase(q);
    REQUIRE(none.ok());
    REQUIRE(none->mix);
    CHECK_FALSE(none->mix->plan);
    CHECK(mix_text(*none->mix).ends_with("as their power is unknown: tpu-v5e, tpu-v6e."));
}

TEST_CASE("the power of a mix is unknown only where such a machine is in it") {
    auto q = question("a100-sxm-80gb", "tpu-v6e", "bert-base");
    q.terms.count = 4;
    q.fleet.push_back(q.fleet.front());
    for (const double rent : {1e-3, 1e3}) {
        q.candidates.front().options.prices.to_usd_per_hour = rent;
        const auto bought = purchase(q);
        REQUIRE(bought.ok());
        REQUIRE(bought->mix);
        REQUIRE(bought->mix->plan);
        const bool of_tpus = rent < 1.0;
        CHECK(bought->mix->unknown_power.empty() == !of_tpus);
        CHECK((mix_text(*bought->mix).find("unknown power of tpu-v6e") != std::string::npos) ==
              of_tpus);
        CHECK(mix_text(*bought->mix).find("$") != std::string::npos);
    }
}

TEST_CASE("an accelerator's time is named as that of its dataflow, on either side") {
    const auto basis = [](const char* from, const char* to) {
        const auto bought = purchase(question(from, to, "bert-base"));
        REQUIRE(bought.ok());
        for (const std::string& line : report::remarks(*bought)) {
            if (line.find(" by the model alone, ") != std::string::npos) {
                return line;
            }
        }
        return std::string();
    };
    CHECK(basis("a100-sxm-80gb", "tpu-v6e").find("on tpu-v6e as in `exam --mapping dataflow`: ") !=
          std::string::npos);
    const std::string old_side = basis("tpu-v5e", "a100-sxm-80gb");
    CHECK(old_side.find("on tpu-v5e as in `exam --mapping dataflow` and ") != std::string::npos);
    CHECK(old_side.find("on a100-sxm-80gb as in `exam`: ") != std::string::npos);
    CHECK(basis("a100-sxm-80gb", "h100-sxm-80gb").find("dataflow") == std::string::npos);
}

TEST_CASE("devices of unknown power have no power limit together, others have theirs") {
    ScalePoint point;
    point.devices = 8;
    add_board(machine("tpu-v6e"), point);
    CHECK_FALSE(point.watts);
    add_board(machine("h100-sxm-80gb"), point);
    CHECK(point.watts.value() == near(8 * 700.0));
}

TEST_CASE("whole networks and published speedups shift a prediction between two GPUs alone") {
    const Upgrade gpus = answer_of(question("a100-sxm-80gb", "h100-sxm-80gb", "bert-base")).upgrade;
    CHECK(gpus.transfer_ln != 0.0);
    CHECK(gpus.evidence_ln != 0.0);
    CHECK(gpus.error.families == 6);
    for (const auto& [from, to] : {std::pair{"a100-sxm-80gb", "tpu-v6e"},
                                   {"tpu-v5e", "a100-sxm-80gb"},
                                   {"tpu-v5e", "tpu-v6e"}}) {
        CAPTURE(from);
        CAPTURE(to);
        const Upgrade u = answer_of(question(from, to, "bert-base")).upgrade;
        CHECK(u.speedup.value == near(u.model_speedup));
        CHECK(u.transfer_ln == 0.0);
        CHECK(u.evidence_ln == 0.0);
        CHECK(u.nearest.empty());
        CHECK(u.error.families == 0);
        CHECK(u.sigma == near(u.operator_sigma));
        CHECK(has_note(u, "are not measured: its arrays and memories alone are modeled"));
    }
}

TEST_CASE("a served accelerator says what is not measured and not known") {
    auto q = question("a100-sxm-80gb", "tpu-v6e", "llama-3.1-8b");
    q.terms.served = ServedRequests{};
    q.terms.served->prompt = 256;
    q.terms.served->answer = 64;
    q.terms.served->at_once = 16;
    const PurchaseAnswer served = answer_of(q);
    CHECK(has_note(served.upgrade, "on 1 accelerator;"));
    CHECK(has_note(served.upgrade, "the times of tpu-v6e are not measured"));
    CHECK(has_note(served.upgrade, "the power of tpu-v6e is unknown"));
    CHECK_FALSE(has_note(served.upgrade, "the times of a100-sxm-80gb"));
}

TEST_CASE("a side whose whole step is launches is named first") {
    auto bought = purchase(question("a100-sxm-80gb", "h100-sxm-80gb", "bert-base"));
    REQUIRE(bought.ok());
    Upgrade& u = bought->answers.front().upgrade;
    const auto sentence = [&](StepSide from, StepSide to) {
        u.from_step = std::move(from);
        u.to_step = std::move(to);
        u.from_model_s = u.to_model_s = 1.0;
        return purchase_sentence(*bought);
    };
    const StepSide kernels{0.5, 1.0, "slow"};
    const StepSide launches{1.0, 0.5, "slow"};
    CHECK(sentence(kernels, kernels).find("CPU launch") == std::string::npos);
    CHECK(sentence(launches, kernels)
              .starts_with("CPU launch overhead takes the whole step on a100-sxm-80gb, so its host "
                           "(slow) is compared, not the GPU. "));
    CHECK(sentence(kernels, launches)
              .starts_with("CPU launch overhead takes the whole step on h100-sxm-80gb, "));
    CHECK(sentence(launches, launches)
              .starts_with("CPU launch overhead takes the whole step on both"));
}

} // namespace test_analysis_upgrade_unknown_power
