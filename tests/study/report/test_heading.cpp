// The line above a report in text.
#include "study/report/text.hpp"
#include "tests/study/report/fixture.hpp"

#include <doctest/doctest.h>

namespace test_study_report_heading {

using namespace eyeroof;

TEST_CASE("a network's name with its parameters takes what the machine's leaves of the heading") {
    study::Report report = tests::small_report();
    report.machine.name = "H100 SXM5 80GB";
    report.network_name =
        "Decoder with gated layers: llama-3-8b (context = 2047, fused = 1, new = 1)";
    const std::string text = study::to_text(report);
    CHECK(text.starts_with(report.network_name + " on H100 SXM5 80GB\n"));
    report.machine.name = std::string(200, 'm');
    const std::string heading = study::to_text(report);
    CHECK(heading.find('\n') < 110); // "…" is three bytes, twice
    CHECK(heading.find(" on mmmm") != std::string::npos);
}

} // namespace test_study_report_heading
