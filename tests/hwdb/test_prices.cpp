#include "hwdb/catalog.hpp"
#include "hwdb/price_reader.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>

using namespace eyeroof;

namespace test_hwdb_prices {

namespace {

Result<hwdb::Prices> prices_of(const std::string& text) {
    auto document = hwdb::parse_yaml(text, "prices.yaml");
    return document ? hwdb::read_prices(*document) : Result<hwdb::Prices>(document.diagnostics());
}

const std::string kHead = "eyeroof: prices/1\nseller: A\nkind: list\ndate: 2026-09-20\n";

} // namespace

TEST_CASE("a table of one seller gives each of its machines a dated price of one kind") {
    const auto prices = prices_of(kHead + "source: a page\nusd_per_hour: {t4: 0.2, l4: {value: "
                                          "0.5, date: unknown, note: one}}\n");
    REQUIRE(prices.ok());
    const model::Rent& t4 = prices->at("t4").front();
    CHECK(t4.usd_per_hour == 0.2);
    CHECK(t4.seller == "A");
    CHECK(t4.kind == "list");
    CHECK(t4.date == "2026-09-20");
    CHECK(t4.source == "a page");
    CHECK(prices->at("l4").front().date.empty());
    CHECK(prices->at("l4").front().note == "one");
}

TEST_CASE("a price table with a wrong kind, date, or price is refused at its place") {
    for (const auto& [text, code] : std::vector<std::pair<std::string, std::string>>{
             {"eyeroof: prices/1\nseller: A\nkind: median\ndate: 2026\nusd_per_hour: {t4: 1}\n",
              "unknown-name"},
             {"eyeroof: prices/1\nseller: A\nkind: list\ndate: soon\nusd_per_hour: {t4: 1}\n",
              "bad-date"},
             {kHead + "usd_per_hour: {t4: 0}\n", "zero"},
             {kHead + "usd_per_hour: {t4: -1}\n", "out-of-range"},
             {"eyeroof: prices/1\ntables:\n  - {seller: A, kind: list, date: 2026, usd_per_hour: "
              "{t4: 1}}\n  - {seller: A, kind: list, date: 2025, usd_per_hour: {t4: 2}}\n",
              "two-prices"}}) {
        CAPTURE(text);
        const auto prices = prices_of(text);
        REQUIRE_FALSE(prices.ok());
        CHECK(prices.diagnostics().begin()->code == code);
        CHECK(prices.diagnostics().begin()->where.line > 0);
    }
}

TEST_CASE(
    "a table of one's own names machines as people type them, and unknown ones are reported") {
    const std::vector<std::filesystem::path> folders = {std::filesystem::path(tests::source_dir()) /
                                                        "hwdb"};
    const auto file = std::filesystem::temp_directory_path() / "eyeroof_own_prices.yaml";
    std::ofstream(file) << kHead + "usd_per_hour: {H100 PCIe: 2, h100: 3, mi999x: 4, t4: 0.2}\n";
    const auto prices = hwdb::own_prices({file.string()}, folders);
    std::filesystem::remove(file);
    REQUIRE(prices.ok());
    CHECK(prices->at("h100-pcie-80gb").front().usd_per_hour == 2.0);
    CHECK(prices->at("t4").front().own);
    REQUIRE(prices.diagnostics().size() == 2);
    CHECK(prices.diagnostics().items()[0].code == "unknown-gpu");
    CHECK(prices.diagnostics().items()[0].hint.find("h100-sxm-80gb") != std::string::npos);
    CHECK(prices.diagnostics().items()[1].message.find("mi999x") != std::string::npos);
}

TEST_CASE("the catalog's prices are of machines that it has, each with a source") {
    const std::vector<std::filesystem::path> folders = {std::filesystem::path(tests::source_dir()) /
                                                        "hwdb"};
    const auto prices = hwdb::load_prices(folders);
    REQUIRE(prices.ok());
    CHECK(prices->size() > 40);
    std::set<std::string> known;
    for (const hwdb::CatalogEntry& entry : hwdb::list_machines(folders)) {
        known.insert(entry.id);
    }
    for (const auto& [machine, rents] : *prices) {
        CAPTURE(machine);
        CHECK(known.contains(machine));
        for (const model::Rent& rent : rents) {
            CHECK_FALSE(rent.source.empty());
        }
    }
}

} // namespace test_hwdb_prices
