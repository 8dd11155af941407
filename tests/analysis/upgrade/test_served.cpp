// An upgrade of a service: the figures of serve() on both sides, and what a million tokens cost.
#include "analysis/scale/serving.hpp"
#include "analysis/upgrade/purchase.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/fabric_reader.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
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

TEST_CASE("a service refuses what it does not take: a measured throughput, and a batch") {
    PurchaseQuestion measured = service("a100-sxm-80gb", "h100-sxm-80gb", {});
    measured.candidates.front().options.from_rate = 3000.0;
    CHECK(purchase(measured).diagnostics().begin()->hint ==
          "leave out --measured-old and --measured-new");
    PurchaseQuestion batch = service("a100-sxm-80gb", "h100-sxm-80gb", {});
    batch.candidates.front().options.from.batch = 4;
    CHECK(purchase(batch).diagnostics().begin()->hint.starts_with("--requests"));
    PurchaseQuestion largest = service("a100-sxm-80gb", "h100-sxm-80gb", {});
    largest.fleet.front().largest = true;
    CHECK_FALSE(purchase(largest).ok());
}

TEST_CASE("a power limit holds for whole services: each GPU at its board limit times PUE") {
    PurchaseQuestion q = service("a100-sxm-80gb", "h100-sxm-80gb", {});
    q.terms.count = 16;
    q.terms.power_w = 16 * 400.0 * 1.4;
    const auto within = purchase(q);
    REQUIRE(within.ok());
    REQUIRE(within->mix.value().plan);
    const auto& counts = within->mix->plan->counts.at(0);
    const double then = within->answers.front().then.devices;
    const bool keeps = counts.at(0) == 16 && counts.at(1) == 0;
    CHECK((keeps || (counts.at(0) == 0 && counts.at(1) == then)));
    CHECK(within->mix->plan->power == near(keeps ? 16 * 400.0 * 1.4 : then * 700.0 * 1.4));
    q.terms.power_w = 1000.0;
    const auto beyond = purchase(q);
    REQUIRE(beyond.ok());
    CHECK(mix_text(*beyond->mix).starts_with("No mix of these GPUs does the work"));
}

TEST_CASE("a server that its engine's default fills is not said to be full of requests") {
    ServedRequests requests;
    requests.prompt = 100;
    requests.answer = 20;
    requests.engine.name = "an engine";
    requests.engine.most_running = 256;
    const auto bought = purchase(service("a100-sxm-80gb", "h200-sxm-141gb", requests));
    REQUIRE(bought.ok());
    const auto& notes = bought->answers.front().upgrade.notes;
    CHECK(notes.at(1).ends_with(", an engine takes no more requests by default"));
    requests.engine.most_running = 65536;
    const auto full = purchase(service("a100-sxm-80gb", "h200-sxm-141gb", requests));
    REQUIRE(full.ok());
    for (const std::string& note : full->answers.front().upgrade.notes) {
        CHECK(note.find("by default") == std::string::npos);
    }
}

TEST_CASE("GPUs that make no whole server are named, and so is a fabric that is missing") {
    PurchaseQuestion q = service("h100-sxm-80gb", "h200-sxm-141gb", {});
    q.fleet = {{*formats::load_network("llama-3-70b", kNetworks)}};
    q.terms.count = 7;
    const auto unjoined = purchase(q);
    REQUIRE_FALSE(unjoined.ok());
    CHECK(unjoined.diagnostics().begin()->hint.find("--from-fabric") != std::string::npos);
    q.candidates.front().fabrics = {hwdb::usual_fabric("h100-sxm-80gb", kMachines),
                                    hwdb::usual_fabric("h200-sxm-141gb", kMachines)};
    const auto bought = purchase(q);
    REQUIRE(bought.ok());
    const PurchaseAnswer& a = bought->answers.front();
    CHECK(a.now.devices == 4.0);
    CHECK(std::ranges::count(a.upgrade.notes,
                             "4 of 7 h100-sxm-80gb are compared: 4 hold the network together") ==
          1);
}

} // namespace test_analysis_upgrade_served
