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
    std::string words, line;
    while (words.size() < report.words.size() && std::getline(text, line)) {
        CHECK(line.size() <= 80);
        words += (words.empty() ? "" : " ") + line;
    }
    CHECK(words == report.words);
    std::getline(text, line);
    CHECK(line.find("205 ms") != std::string::npos); // the answer follows
}

} // namespace test_report_heading
