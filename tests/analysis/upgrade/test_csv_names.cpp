// Names of layers come from files: what a spreadsheet or another reader would take for something
// else is quoted in every table alike.
#include "analysis/upgrade/offload.hpp"
#include "analysis/upgrade/upgrade.hpp"
#include "base/csv.hpp"
#include "report/answer/write.hpp"
#include "report/upgrade/offload_answer.hpp"
#include "report/upgrade/purchase_answer.hpp"
#include "tests/analysis/upgrade/purchase_of.hpp"

#include <doctest/doctest.h>

namespace test_analysis_upgrade_csv_names {

using namespace eyeroof; // NOLINT

namespace {

const std::string kName = "=1+1, \"conv\"";

std::string first_name(const std::string& csv) {
    CsvReader reader(csv, "t.csv");
    CsvRecord record;
    Diagnostics found;
    REQUIRE(reader.next(record, found)); // the header
    const std::size_t columns = record.cells.size();
    REQUIRE(reader.next(record, found));
    CHECK(found.empty());
    CHECK(record.cells.size() == columns);
    return std::string(record.cells.front().text);
}

} // namespace

TEST_CASE(
    "upgrades and offloads write names so that they come back, and no spreadsheet runs them") {
    analysis::Upgrade upgrade;
    upgrade.layers.resize(1);
    upgrade.layers.front().name = kName;
    const std::string csv = report::to_csv(report::purchase_answer(tests::purchase_of(upgrade)));
    CHECK(first_name(csv) == kName);
    CHECK(csv.find("\n=") == std::string::npos);
    analysis::Offload offload;
    offload.layers.resize(1);
    offload.layers.front().name = kName;
    CHECK(first_name(report::to_csv(report::offload_answer(offload))) == kName);
    CHECK(report::to_csv(report::offload_answer(offload)).find("\"=") == std::string::npos);
}

} // namespace test_analysis_upgrade_csv_names
