// An upgrade of a service: the figures of serve() on both sides, and what a million tokens cost.
#include "analysis/scale/serving.hpp"
#include "analysis/upgrade/purchase.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace test_analysis_upgrade_served {

using namespace eyeroof;
using namespace eyeroof::analysis;
using tests::near;
namespace fs = std::filesystem;

namespace {

const fs::path kRoot = tests::source_dir();
const std::vector<fs::path> kMachines = {kRoot / "hwdb"};
const std::vector<fs::path> kNetworks = {kRoot / "examples" / "networks"};

PurchaseQuestion service(const char* from, const char* to, const ServedRequests& requests) {
    PurchaseQuestion q;
    q.from = *hwdb::load_machine(from, kMachines);
    q.fleet = {{*formats::load_network("llama-3.1-8b", kNetworks)}};
    UpgradeOptions options;
    options.assumptions = false;
    options.from.launch = options.to.launch = model::Launch::graph;
    options.from.data_type = options.to.data_type = model::DataType::fp16;
    options.prices.from_usd_per_hour = 1.0;
    options.prices.to_usd_per_hour = 2.0;
    q.candidates = {{*hwdb::load_machine(to, kMachines), options}};
    q.terms.served = requests;
    return q;
}

double tokens_per_s(const char* machine, const ServedRequests& requests) {
    ServingOptions o;
    o.prompt = requests.prompt;
    o.answer = requests.answer;
    o.tpot_limit_s = requests.tpot_limit_s;
    o.engine = requests.engine;
    o.type = model::DataType::fp16;
    o.exam.launch = model::Launch::graph;
    model::Fabric alone;
    alone.levels.resize(1);
    alone.levels.front().size = 1;
    const auto decoder = transformer_of(*formats::load_network("llama-3.1-8b", kNetworks));
    const auto served = serve(*decoder, *hwdb::load_machine(machine, kMachines), alone, o);
    REQUIRE(served.ok());
    REQUIRE(served->best);
    return served->points[*served->best].tokens_per_s;
}

} // namespace

TEST_CASE("a service is compared by the tokens a second of its servers") {
    ServedRequests requests;
    requests.prompt = 2000;
    requests.answer = 300;
    requests.tpot_limit_s = 0.05;
    const auto bought = purchase(service("a100-sxm-80gb", "h100-sxm-80gb", requests));
    REQUIRE(bought.ok());
    const PurchaseAnswer& a = bought->answers.front();
    const double before = tokens_per_s("a100-sxm-80gb", requests);
    const double after = tokens_per_s("h100-sxm-80gb", requests);
    CHECK(a.upgrade.speedup.value == near(after / before, 1e-6));
    CHECK(a.now.usd_per_mtoken.value() == near(1.0 / 3600.0 / before * 1e6, 1e-6));
    CHECK(a.then.usd_per_mtoken.value() == near(2.0 / 3600.0 / after * 1e6, 1e-6));
    const double tdp =
        std::get<model::Gpu>(service("a100-sxm-80gb", "h100-sxm-80gb", requests).from.kind).tdp_w;
    CHECK(*a.upgrade.money.from_joules == near(tdp * 300.0 / before, 1e-6));
    // 400 W x PUE 1.4 for 1e6 / rate seconds
    CHECK(a.now.joules_per_mtoken.value() == near(400.0 * 1.4 * 1e6 / before, 1e-6));
    CHECK(a.then.joules_per_mtoken.value() == near(700.0 * 1.4 * 1e6 / after, 1e-6));
    CHECK(a.now.server.value().tokens_per_s == near(before, 1e-6));
    CHECK(a.then.server.value().tpot_s <= requests.tpot_limit_s);
    CHECK(a.upgrade.verdict != UpgradeVerdict::does_not_fit);
}

TEST_CASE("a service of so many requests at a time has that point's time per token") {
    ServedRequests requests;
    requests.at_once = 4;
    const auto bought = purchase(service("a100-sxm-80gb", "h100-sxm-80gb", requests));
    REQUIRE(bought.ok());
    const ServingPoint server = bought->answers.front().then.server.value();
    CHECK(server.batch == 4);
    CHECK(server.tokens_per_s == near(4.0 / server.tpot_s));
}

TEST_CASE("a service on two equal GPUs gains nothing, and limits that no server keeps are said") {
    ServedRequests requests;
    requests.prompt = 500;
    requests.answer = 100;
    const auto equal = purchase(service("h100-sxm-80gb", "h100-sxm-80gb", requests));
    REQUIRE(equal.ok());
    CHECK(equal->answers.front().upgrade.speedup.value == near(1.0));
    requests.tpot_limit_s = 1e-6;
    const auto never = purchase(service("a100-sxm-80gb", "h100-sxm-80gb", requests));
    REQUIRE_FALSE(never.ok());
    CHECK(never.diagnostics().begin()->code == "limits");
}

} // namespace test_analysis_upgrade_served
