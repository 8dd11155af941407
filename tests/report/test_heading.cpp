// The lines above a report in text.
#include "analysis/exam/words.hpp"
#include "hwdb/catalog.hpp"
#include "report/exam/text.hpp"
#include "tests/paths.hpp"
#include "tests/question.hpp"
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

TEST_CASE(
    "the question says how many operators have no cost, and leaves their names to a warning") {
    const std::vector<std::filesystem::path> folders = {tests::source_dir() + "/hwdb"};
    const auto machine = hwdb::load_machine("t4", folders);
    REQUIRE(machine.ok());
    model::Network network;
    network.id = network.name = "trace";
    network.layers.resize(1);
    network.layers[0].shape = model::GemmShape{1, 8, 8, 8};
    network.uncosted = {{"void deep_ep::internode::dispatch<8>", "", "no operator launched it", 3}};
    const std::string words =
        analysis::scenario_words(tests::question_of(network, *machine), false);
    CHECK(words.find("deep_ep") == std::string::npos);
    CHECK(words.ends_with(" are not costed"));
}

} // namespace test_report_heading
