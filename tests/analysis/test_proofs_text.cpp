#include "analysis/exam/report_warnings.hpp"
#include "report/search/proofs.hpp"

#include <doctest/doctest.h>

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
    CHECK(report::proofs_text(report) == "all searched mappings are proven optimal (1)");
    report.layers[1].certificates = {proved, open};
    CHECK(report::proofs_text(report) ==
          "1 of 2 searched mappings are proven optimal; two is within 25 % of its lower bound");
    CHECK(analysis::open_searches_text(report, analysis::open_searches(report)) ==
          "1 of 2 searched mappings are not proven optimal (first: two): optimality gap at most "
          "20.0 %"); // the third layer needs no search
}

} // namespace test_analysis_proofs_text
