#include "analysis/exam/report_warnings.hpp"
#include "report/search/proofs.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace test_analysis_proofs_text {

using namespace eyeroof;

TEST_CASE("reports say how many mappings are proved, and how far off the worst may be") {
    analysis::Report report;
    CHECK(report::proofs_text(report).empty());
    report.layers.resize(3);
    report.layers[0].layer.name = "one";
    report.layers[1].layer.name = "two";
    mapper::Certificate proved;
    proved.proved = true;
    proved.gap = 0.0;
    mapper::Certificate open;
    open.gap = 0.2; // the bound is 0.8 of the value: 25 % above it
    report.layers[0].certificates = {proved};
    CHECK(report::proofs_text(report) ==
          "all searched mappings are proven optimal among even mappings (1)");
    report.layers[1].certificates = {proved, open};
    CHECK(report::proofs_text(report) ==
          "1 of 2 searched mappings are proven optimal among even mappings; two is within 25 % of "
          "its lower bound");
    CHECK(analysis::open_searches_text(report, analysis::open_searches(report)) ==
          "1 of 2 searched mappings are not proven optimal among even mappings (first: two): "
          "optimality gap at most "
          "20.0 %"); // the third layer needs no search
}

TEST_CASE("the hint for an open search is one that can close its gap") {
    analysis::Report report;
    report.layers.resize(1);
    report.layers[0].layer.name = "one";
    mapper::Certificate open;
    open.gap = 0.2;
    const auto hint = [&](std::vector<mapper::OpenBy> all) {
        report.layers[0].certificates.clear();
        for (const mapper::OpenBy by : all) {
            open.open_by = by;
            report.layers[0].certificates.push_back(open);
        }
        return analysis::open_searches_hint(analysis::open_searches(report));
    };
    using mapper::OpenBy;
    CHECK(hint({OpenBy::effort}) == "increase --search-nodes");
    CHECK(hint({OpenBy::effort, OpenBy::stream}).find("--search-nodes") != std::string::npos);
    CHECK(hint({OpenBy::splits}).find("--constraints") != std::string::npos);
    const std::string stream = hint({OpenBy::stream});
    CHECK(stream.find("--search-nodes") == std::string::npos);
    CHECK(stream.find("pattern: mapping") != std::string::npos);
    CHECK(analysis::open_searches_text(report, analysis::open_searches(report)) ==
          "1 of 1 searched mappings are not proven optimal among even mappings (first: one): "
          "optimality gap at most "
          "20.0 %; the bound takes the DRAM as a stream");
}

} // namespace test_analysis_proofs_text
