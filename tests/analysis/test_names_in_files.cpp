// Names that files and people give: levels of a plot, pipes of a session, cells of a table.
#include "formats/layer_csv.hpp"
#include "report/draw/plot_level.hpp"
#include "report/exam/exam_answer.hpp"
#include "report/session/session.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace test_analysis_names_in_files {

using namespace eyeroof;

TEST_CASE("a level is named in any case, and one that no machine has is refused with the others") {
    report::PlotInput input;
    analysis::Roof roof;
    roof.kind = analysis::RoofKind::memory;
    roof.key = "DRAM";
    input.machines = {{"m", "Machine", {roof}}};
    report::PlotPoint point;
    point.bytes = {{"L2", 1.0}};
    input.points = {point};
    CHECK(*report::level_named(input, "dram") == "DRAM");
    CHECK(*report::level_named(input, "L2") == "L2");
    CHECK(*report::level_named(input, "all") == "all");
    CHECK(report::level_named(input, "")->empty());
    const auto wrong = report::level_named(input, "L7");
    REQUIRE_FALSE(wrong);
    CHECK(wrong.diagnostics().begin()->code == "unknown-level");
}

TEST_CASE("a session that names a pipe is refused at once") {
    const auto folder = std::filesystem::temp_directory_path() / "eyeroof-session-pipes";
    std::filesystem::create_directories(folder);
    ::mkfifo((folder / "pipe").c_str(), 0600);
    std::ofstream(folder / "s.yaml")
        << "eyeroof: session/1\nmachines: [t4, ./pipe]\nprofiles: [pipe]\n";
    const auto session = report::load_session(folder / "s.yaml");
    std::filesystem::remove_all(folder);
    REQUIRE_FALSE(session);
    CHECK(session.diagnostics().size() == 2);
    CHECK(session.diagnostics().begin()->code == "not-a-file");
}

TEST_CASE("a row of the user's own that a spreadsheet would compute is guarded in the results") {
    const auto table =
        formats::parse_layer_csv("name,op,m,n,k\n=1+1,gemm,4,4,4\n\"a,b\",gemm,4,4,4\n", "t.csv");
    REQUIRE(table);
    analysis::Report report;
    for (const model::Layer& layer : table->layers) {
        analysis::LayerReport row;
        row.layer = layer;
        report.layers.push_back(row);
    }
    const std::string csv = report::to_csv(report::exam_answer(report, {&*table}));
    CHECK(csv.find("\n'=1+1,gemm,4,4,4,") != std::string::npos);
    CHECK(csv.find("\n\"a,b\",gemm,4,4,4,") != std::string::npos);
}

} // namespace test_analysis_names_in_files
