// A session says the same to the window and to the command line: the line that the window copies
// draws the picture that the session draws.
#include "analysis/search/mapping_edit.hpp"
#include "formats/any_machine.hpp"
#include "formats/catalog.hpp"
#include "report/session/session.hpp"
#include "tests/cli/program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace test_cli_session_drawn {

using namespace eyeroof; // NOLINT
using tests::run;

namespace {

// What a shell makes of the copied line, which says "eyeroof" and writes roofline.svg where it is.
std::string drawn_by_command(const report::Session& session) {
    const tests::Scratch scratch;
    const auto outcome =
        tests::shell("cd " + scratch.path().string() + "\neyeroof() { \"$eyeroof\" \"$@\"; }\n" +
                     report::cli_command(session) + "\n");
    CAPTURE(outcome.err);
    CHECK(outcome.exit == 0);
    return tests::read_file(scratch / "roofline.svg");
}

std::string drawn_by_session(const report::Session& session) {
    const tests::Scratch scratch;
    tests::write_text(scratch / "s.yaml", report::write_session(session, scratch.path()));
    const auto outcome =
        run({"roofline", "--session", (scratch / "s.yaml").string(), "--format", "svg"});
    CAPTURE(outcome.err);
    CHECK(outcome.exit == 0);
    return outcome.out;
}

report::Session plain() {
    report::Session session;
    session.scenario.network = "alexnet";
    session.scenario.machine = "eyeriss-v1";
    session.machines = {"eyeriss-v1"};
    return session;
}

std::vector<std::string> ids(const char* what) {
    const auto json = nlohmann::json::parse(
        run({"roofline", "alexnet", "--on", "eyeriss-v1", "--format", "json"}).out);
    std::vector<std::string> all;
    for (const auto& entry : json.at(what)) {
        all.push_back(entry.at("id"));
    }
    return all;
}

} // namespace

TEST_CASE("the copied line draws what the session draws: roofs, ranges, selection, theme") {
    report::Session session = plain();
    session.scenario.batch = 4;
    session.scenario.data_type = model::DataType::fp16;
    session.scenario.policy = analysis::MappingPolicy::dataflow;
    session.scenario.changes = {"clock=300 MHz"};
    session.view.roofs = std::set<std::string>{ids("roofs").front()};
    session.view.x = report::LogRange{0.1, 1.0 / 3.0 * 1e4};
    session.view.y = report::LogRange{1e8, 1e12};
    session.view.selection = {ids("points").front()};
    session.view.labels = false;
    session.view.theme = report::Theme::dark;
    const std::string picture = drawn_by_session(session);
    CHECK(picture.starts_with("<svg"));
    CHECK(drawn_by_command(session) == picture);
    CHECK(drawn_by_session(plain()) != picture);
}

TEST_CASE("no roofs at all and points of one kind are said by the copied line too") {
    report::Session session = plain();
    session.view.roofs = std::set<std::string>{};
    session.view.top = 3;
    CHECK(drawn_by_command(session) == drawn_by_session(session));
    CHECK(drawn_by_session(session) != drawn_by_session(plain()));
}

TEST_CASE("the copied line draws edited mappings") {
    report::Session session = plain();
    const auto machine = formats::load_any_machine("eyeriss-v1", {tests::share_dir() / "hwdb"});
    const auto network = formats::load_network("alexnet", {tests::share_dir() / "networks"});
    REQUIRE(machine.ok());
    REQUIRE(network.ok());
    analysis::Scenario best = session.scenario;
    best.policy = analysis::MappingPolicy::best;
    best.search_nodes = 2000;
    best.layers = "FC6";
    const auto report = analysis::run(*network, *machine, best);
    REQUIRE(report.ok());
    const analysis::LayerReport& layer = report->layers.front();
    session.mappings = {{layer.layer.name, 0, analysis::mapping_text(*machine, layer)}};
    CHECK(report::cli_command(session).find("<<") != std::string::npos);
    CHECK(drawn_by_command(session) == drawn_by_session(session));
}

TEST_CASE("a session without a way to map is examined as the command line does by itself") {
    CHECK(drawn_by_session(plain()) ==
          run({"roofline", "alexnet", "--on", "eyeriss-v1", "--format", "svg"}).out);
    report::Session searching = plain();
    searching.machines = {"systolic:16x16"};
    CHECK(drawn_by_session(searching) ==
          run({"roofline", "alexnet", "--on", "systolic:16x16", "--format", "svg"}).out);
}

TEST_CASE("the help of roofline names the way to map that it takes") {
    const auto help = run({"roofline", "--help-all"});
    CHECK(help.out.find("{auto,dataflow,best}") != std::string::npos);
    const std::string with_auto =
        run({"roofline", "alexnet", "--on", "systolic:16x16", "--mapping", "auto"}).out;
    CHECK(run({"roofline", "alexnet", "--on", "systolic:16x16"}).out == with_auto);
}

TEST_CASE("ranges that are none are refused, both at once") {
    const auto outcome =
        run({"roofline", "alexnet", "--on", "eyeriss-v1", "--x-range", "10:1", "--y-range", "all"});
    CHECK(outcome.exit == 2);
    CHECK(outcome.err.find("--x-range") != std::string::npos);
    CHECK(outcome.err.find("--y-range") != std::string::npos);
}

} // namespace test_cli_session_drawn
