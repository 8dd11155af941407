// Prices of an upgrade: compared within one seller and kind, and what the budget pays.
#include "analysis/upgrade/purchase.hpp"
#include "analysis/upgrade/upgrade.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_analysis_upgrade_prices {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;

namespace {

model::Machine machine(const std::string& id, model::Gpu gpu, std::vector<model::Rent> rents) {
    model::Machine m;
    m.id = m.name = id;
    gpu.price.rents = std::move(rents);
    m.kind = std::move(gpu);
    return m;
}

model::Rent rent(double usd, const std::string& seller, const std::string& kind,
                 const std::string& date = "2026-11-01") {
    return {usd, seller, kind, date, seller, "", false};
}

// One large product: about twice as fast on the second GPU.
analysis::PurchaseQuestion question(std::vector<model::Rent> from, std::vector<model::Rent> to) {
    analysis::PurchaseQuestion q;
    q.from = machine("old", test::v100_sxm2(), std::move(from));
    model::Network net;
    net.id = net.name = "net";
    net.layers = {test::gemm(4096, 4096, 4096)};
    net.layers.front().name = "l";
    q.fleet = {{net}};
    analysis::UpgradeOptions options;
    options.assumptions = false;
    options.from.launch = options.to.launch = model::Launch::none;
    options.today = std::chrono::sys_days(std::chrono::year(2026) / 11 / 28);
    q.candidates = {{machine("new", test::a100_sxm_40(), std::move(to)), options}};
    return q;
}

analysis::PurchaseAnswer answer(const analysis::PurchaseQuestion& q) {
    const auto purchase = analysis::purchase(analysis::with_rents(q));
    REQUIRE(purchase.ok());
    return purchase->answers.front();
}

std::string sentence(const analysis::PurchaseQuestion& q) {
    return analysis::purchase(analysis::with_rents(q))->sentence;
}

} // namespace

TEST_CASE("rents are compared within one seller and kind, not across") {
    const auto a = answer(question({rent(1.0, "A", "list"), rent(0.1, "B", "marketplace")},
                                   {rent(2.0, "A", "list"), rent(9.0, "A", "hyperscaler")}));
    REQUIRE(a.by_price.size() == 1);
    CHECK(a.by_price.front().view.basis == analysis::PriceBasis::one_table);
    CHECK(a.upgrade.money.from_usd_per_hour == 1.0);
    CHECK(a.upgrade.money.to_usd_per_hour == 2.0);
    CHECK(a.upgrade.money.from_price_source.find("A (list), 2026-11-01") != std::string::npos);
}

TEST_CASE("where sellers disagree, the first sentence has the verdict under each") {
    const auto q = question({rent(1.0, "A", "list"), rent(1.0, "B", "marketplace")},
                            {rent(1.1, "A", "list"), rent(50.0, "B", "marketplace")});
    const auto a = answer(q);
    REQUIRE(a.by_price.size() == 2);
    CHECK(a.by_price[0].verdict == analysis::UpgradeVerdict::pays_off);
    CHECK(a.by_price[1].verdict == analysis::UpgradeVerdict::does_not);
    CHECK(a.by_price[1].needed == near(50.0));
    CHECK(sentence(q).starts_with("The verdict depends on the price table: replace under A (list); "
                                  "keep under B (marketplace). These figures use prices of A "
                                  "(list). Replace"));
}

TEST_CASE("where no seller has both, the first sentence says so") {
    const auto q = question({rent(1.0, "A", "list")}, {rent(1.1, "B", "list")});
    CHECK(answer(q).by_price.front().view.basis == analysis::PriceBasis::two_tables);
    CHECK(sentence(q).starts_with("No seller's table has both GPUs"));
    const auto kinds = question({rent(1.0, "A", "list")}, {rent(1.1, "B", "marketplace")});
    CHECK(sentence(kinds).find("prices of different kinds") != std::string::npos);
}

TEST_CASE("a table of the user's own that has both GPUs is the only one") {
    auto q = question({rent(1.0, "A", "list"), rent(3.0, "Mine", "reserved")},
                      {rent(2.0, "A", "list"), rent(4.0, "Mine", "reserved")});
    for (model::Machine* machine : {&q.from, &q.candidates.front().machine}) {
        std::get<model::Gpu>(machine->kind).price.rents.back().own = true;
    }
    const auto a = answer(q);
    REQUIRE(a.by_price.size() == 1);
    CHECK(a.upgrade.money.from_usd_per_hour == 3.0);
}

TEST_CASE("prices older than 120 days, and undated ones, are told and come after others") {
    const auto q = question(
        {rent(1.0, "Old", "list", "2026-07-01"), rent(1.0, "New", "marketplace", "2026-11-01")},
        {rent(2.0, "Old", "list", "2026-10-01"), rent(2.0, "New", "marketplace", "2026-11-01")});
    const auto a = answer(q);
    REQUIRE(a.by_price.size() == 2);
    CHECK(a.by_price[0].view.name() == "New (marketplace)");
    CHECK(a.by_price[1].age_days == 150);
    const auto alone = answer(question({rent(1.0, "Old", "list", "2026-07-01")},
                                       {rent(2.0, "Old", "list", "2026-10-01")}));
    CHECK(alone.upgrade.notes.back().find("150 days old") != std::string::npos);
    const auto undated =
        answer(question({rent(1.0, "A", "list", "")}, {rent(2.0, "A", "list", "")}));
    CHECK(undated.upgrade.notes.back().find("no date") != std::string::npos);
}

TEST_CASE("candidates are compared with the prices of one seller where one has them all") {
    auto q = question({rent(1.0, "A", "list"), rent(1.0, "B", "hyperscaler")},
                      {rent(2.0, "A", "list"), rent(2.0, "B", "hyperscaler")});
    auto other = q.candidates.front();
    other.machine = machine("other", test::a100_sxm_40(), {rent(3.0, "B", "hyperscaler")});
    q.candidates.push_back(other);
    const auto both = analysis::with_rents(q);
    CHECK(both.candidates[0].views.front().name() == "B (hyperscaler)");
    CHECK(both.candidates[1].views.front().name() == "B (hyperscaler)");
}

TEST_CASE("a budget holds for rents: a year of them, or the job") {
    auto q = question({rent(1.0, "A", "list")}, {rent(1.1, "A", "list")});
    q.terms.count = 16;
    q.terms.budget_usd = 5000.0;
    const auto a = answer(q);
    const double each = 730.0 * 0.7 * 12.0 * 1.1;
    CHECK(a.then.usd_per_year > 5000.0);
    CHECK(each > 5000.0);
    CHECK(a.over_budget.starts_with("the budget of $5,000 pays 0 for a year"));
    CHECK(sentence(q).starts_with("Over the budget"));
    q.terms.budget_usd = 1e6;
    CHECK(answer(q).over_budget.empty());
    q.terms.budget_usd = 5000.0;
    q.terms.samples = 1000.0; // seconds of work
    CHECK(answer(q).over_budget.empty());
}

TEST_CASE("two layers of one name are each compared with their own") {
    auto q = question({}, {});
    model::Network& net = q.fleet.front().network;
    net.layers = {test::gemm(4096, 4096, 4096), test::gemm(128, 128, 128)};
    net.layers[0].name = net.layers[1].name = "fc";
    const auto u =
        analysis::upgrade(net, q.from, q.candidates.front().machine, q.candidates.front().options);
    REQUIRE(u.ok());
    REQUIRE(u->layers.size() == 2);
    CHECK(u->layers[0].to_s > 5.0 * u->layers[1].to_s);
    double sum_s = 0.0;
    for (const auto& layer : u->layers) {
        sum_s += layer.to_s;
    }
    CHECK(sum_s == near(u->to_model_s));
}

} // namespace test_analysis_upgrade_prices
