// The lines above a report in text.
#include "report/exam/text.hpp"
#include "tests/report/fixture.hpp"

#include <doctest/doctest.h>

#include <sstream>

namespace test_report_heading {

using namespace eyeroof;

TEST_CASE("a report begins with its question in a sentence, wrapped at words") {
    analysis::Report report = tests::small_report();
    report.words = "Decoder with gated layers: llama-3-8b (context = 2047, fused = 1, new = 1), "
                   "inference, batch 1, bf16 on H100 SXM5 80GB; eager launches, current libraries";
    std::istringstream text(report::to_text(report));
    std::string first, second, third;
    std::getline(text, first);
    std::getline(text, second);
    std::getline(text, third);
    CHECK(first.size() <= 98);
    CHECK(first + " " + second.substr(second.find_first_not_of(' ')) == report.words);
    CHECK(third.find("100 MAC/cycle") != std::string::npos);
}

} // namespace test_report_heading
