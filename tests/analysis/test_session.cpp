#include "report/session/session.hpp"

#include <doctest/doctest.h>

namespace eyeroof::analysis::test_session {

TEST_CASE("a session comes back from its text as it was") {
    report::Session session;
    session.scenario.network = "resnet50";
    session.machines = {"v100-sxm2-16gb", "a100-sxm-40gb"};
    session.scenario.machine = session.machines.front();
    session.profiles = {"/runs/run \"x\".jsonl"};
    session.scenario.batch = 8;
    session.scenario.data_type = model::DataType::fp16;
    session.scenario.policy = MappingPolicy::best;
    session.scenario.training = TrainingOptions{"adam"};
    session.scenario.launch = model::Launch::graph;
    session.scenario.streams = 3;
    session.scenario.compiled = true;
    session.scenario.sizes = {"seq=128"};
    session.scenario.changes = {"dram-bandwidth=1.2 TB/s", "sms=100"};
    session.ceilings = {"/runs/gpu.yaml"};
    session.assignments = "/runs/by hand.yaml";
    session.mappings = {{"conv 1", 0, "eyeroof: mapping/1\nlevels:\n  - name: \"DRAM\"\n"},
                        {"heads", 1, "eyeroof: mapping/1\nlevels: []\n"}};
    session.upgrade = UpgradeQuestion{{{"nets/own.yaml", 0.5}},
                                      {"v100-sxm2-16gb", model::DataType::fp16, 1.0 / 3.0, 900.0},
                                      {{"a100-sxm-40gb", {}, {}, {}}},
                                      "sgd",
                                      16,
                                      0.25,
                                      0.31,
                                      40.0,
                                      5.0,
                                      {1, 8},
                                      {{model::DataType::fp16, model::DataType::bf16}},
                                      true,
                                      16,
                                      "server-2x20",
                                      "same",
                                      "graph",
                                      "channels-last",
                                      true,
                                      true,
                                      1.1,
                                      0.05,
                                      2.5,
                                      200000.0,
                                      1.3e9,
                                      14.0,
                                      1.5,
                                      820.0,
                                      1500.0,
                                      {"/prices/own.yaml"},
                                      "--to-set 'dram-bandwidth=1 TB/s'"};
    session.view.filter = "conv[1-3]: 'a'";
    session.view.top = 20;
    session.view.top_share = 0.1;
    session.view.measured = false;
    session.view.level = "L2";
    session.view.roofs = std::set<std::string>{"a/memory/L2"};
    session.view.x = report::LogRange{0.1, 1.0 / 3.0};
    session.view.selection = {"v100/predicted/0/conv1"};
    session.view.hidden = {"v100/predicted/0/conv2", "v100/predicted/0/conv3"};
    session.view.only = {"v100/predicted/0/conv4"};
    session.view.hidden_machines = {"a100-sxm-40gb"};
    session.view.colour_by = report::ColourBy::limiter;
    session.view.theme = report::Theme::dark;
    const auto back = report::parse_session(report::write_session(session), "s.eyeroof.yaml");
    REQUIRE(back);
    CHECK(*back == session);
    session.upgrade->phase.clear(); // left to the program
    CHECK(*report::parse_session(report::write_session(session), "s") == session);
    session.view.roofs = std::set<std::string>{};
    CHECK(*report::parse_session(report::write_session(session), "s") == session);
    CHECK(*report::parse_session(report::write_session({}), "s") == report::Session{});
}

TEST_CASE("a session of the first version is the scenario that it asked for") {
    const auto session = report::parse_session("eyeroof: session/1\n"
                                               "network: resnet50\n"
                                               "machines: [t4]\n"
                                               "batch: 8\n"
                                               "data_type: fp16\n"
                                               "mapping: best\n"
                                               "launch: kernel\n"
                                               "phase: adam\n"
                                               "set: [clock=x2]\n",
                                               "s.yaml");
    REQUIRE(session);
    Scenario asked;
    asked.network = "resnet50";
    asked.machine = "t4";
    asked.batch = 8;
    asked.data_type = model::DataType::fp16;
    asked.policy = MappingPolicy::best;
    asked.launch = model::Launch::none;
    asked.training = TrainingOptions{"adam"};
    asked.changes = {"clock=x2"};
    CHECK(session->scenario == asked);
}

TEST_CASE("a session tells every mistake with its place") {
    const auto session =
        report::parse_session("eyeroof: session/1\nnetwrk: alexnet\nview: {x: [3, 1], "
                              "theme: pink}\n",
                              "s.yaml");
    REQUIRE_FALSE(session);
    CHECK(session.diagnostics().size() == 3);
    for (const Diagnostic& diagnostic : session.diagnostics()) {
        CHECK(diagnostic.where.line >= 2);
    }
}

TEST_CASE("what is asked of an upgrade is read strictly") {
    const auto session = report::parse_session("eyeroof: session/1\n"
                                               "upgrade:\n"
                                               "  networks: [{name: bert-large, share: -1}]\n"
                                               "  from: {data_type: fp17}\n"
                                               "  to: [{gpu: l4, price: 3}]\n"
                                               "  phase: trainig\n"
                                               "  batch: 0\n"
                                               "  precisions: [fp16:quick]\n",
                                               "s.yaml");
    REQUIRE_FALSE(session);
    CHECK(session.diagnostics().size() == 7);
    for (const Diagnostic& diagnostic : session.diagnostics()) {
        CHECK(diagnostic.where.line >= 3);
    }
}

TEST_CASE("a file that is missing keeps its place when its session is saved elsewhere") {
    const auto session = report::parse_session("eyeroof: session/1\n"
                                               "network: ./own/gone.yaml\n"
                                               "machines: [t4, ../gone/gpu.yaml]\n"
                                               "profiles: [runs/gone.jsonl]\n"
                                               "ceilings: [gone.yaml]\n"
                                               "assignments: gone-too.yaml\n",
                                               "/nowhere/work/s.yaml");
    REQUIRE(session);
    CHECK(session->scenario.network == "/nowhere/work/own/gone.yaml");
    CHECK(session->machines == std::vector<std::string>{"t4", "/nowhere/gone/gpu.yaml"});
    CHECK(session->profiles == std::vector<std::string>{"/nowhere/work/runs/gone.jsonl"});
    const auto moved = report::parse_session(report::write_session(*session, "/nowhere/other"),
                                             "/nowhere/other/s.yaml");
    REQUIRE(moved);
    CHECK(*moved == *session);
}

TEST_CASE("a session that hides points is copied whole") {
    report::Session session;
    session.scenario.network = "alexnet";
    session.view.hidden = {"a/predicted/0/CONV1"};
    CHECK(report::cli_command(session).find("--session - ") != std::string::npos);
    CHECK(report::cli_command(session).find("CONV1") != std::string::npos);
}

TEST_CASE("the command line of a session survives the shell") {
    report::Session session;
    session.scenario.network = "my nets/it's.csv";
    session.machines = {"eyeriss-v1"};
    session.scenario.machine = "eyeriss-v1";
    session.view.top_share = 0.9;
    session.scenario.data_type = model::DataType::int8;
    session.scenario.changes = {"clock=300 MHz"};
    session.ceilings = {"gpu.yaml"};
    session.assignments = "by hand.yaml";
    session.scenario.policy = MappingPolicy::dataflow;
    session.scenario.training = TrainingOptions{"sgd"};
    session.scenario.launch = model::Launch::stream;
    session.view.roofs = std::set<std::string>{"eyeriss-v1/memory/DRAM"};
    session.view.x = report::LogRange{0.5, 200.0};
    session.view.measured = false;
    CHECK(report::cli_command(session) ==
          "eyeroof roofline 'my nets/it'\\''s.csv' --on eyeriss-v1 --ceilings gpu.yaml "
          "--assign 'by hand.yaml' "
          "--phase training --optimizer sgd --dtype int8 --set 'clock=300 MHz' --launch stream "
          "--mapping dataflow --top-share 90 --hide measured "
          "--roof eyeriss-v1/memory/DRAM --x-range 0.5:200 -o roofline.svg");
}

} // namespace eyeroof::analysis::test_session
