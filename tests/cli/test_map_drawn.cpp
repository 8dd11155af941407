// Fronts, curves and convergence of `eyeroof map`, as text, tables and pictures.
#include "tests/cli/map_files.hpp"
#include "tests/cli/program.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace test_cli_map_drawn {

using namespace eyeroof;
using eyeroof::tests::contains;
using eyeroof::tests::near;
using nlohmann::json;
using tests::run;
using Files = eyeroof::tests::MapFiles;
using tests::write_text;

TEST_CASE("the front of latency and energy falls from point to point and is drawn") {
    const Files files;
    const std::string svg = (files.scratch / "front.svg").string();
    const auto outcome = run(
        {"map", files.problem, "--on", files.arch, "--pareto", "--plot", svg, "--format", "json"});
    REQUIRE(outcome.exit == 0);
    const auto report = json::parse(outcome.out);
    CHECK(report["schema"] == "eyeroof/front/1");
    REQUIRE(report["layers"].size() == 1);
    CHECK(report["layers"][0]["complete"] == true);
    const auto& points = report["layers"][0]["points"];
    REQUIRE(!points.empty());
    for (std::size_t i = 1; i < points.size(); ++i) {
        CHECK(points[i]["cycles"] < points[i - 1]["cycles"]);
        CHECK(points[i]["energy_pj"] > points[i - 1]["energy_pj"]);
    }
    const auto best = [&](const char* objective, const char* key) {
        return json::parse(run({"map", files.problem, "--on", files.arch, "--objective", objective,
                                "--format", "json"})
                               .out)["layers"][0][key]
            .get<double>();
    };
    CHECK(points.back()["cycles"].get<double>() == best("latency", "cycles"));
    CHECK(points.front()["energy_pj"].get<double>() == near(best("energy", "energy_pj")));
    CHECK(contains(tests::read_file(svg), "</svg>"));
    CHECK(
        contains(run({"map", files.problem, "--on", files.arch, "--pareto", "--format", "md"}).out,
                 "no other mapping improves both latency and energy"));
}

TEST_CASE("more capacity never costs more traffic, and the level's own capacity is marked") {
    const Files files;
    const std::string svg = (files.scratch / "curve.svg").string();
    const auto outcome = run({"map", files.problem, "--on", files.arch, "--capacity-curve", "GLB",
                              "--plot", svg, "--format", "json"});
    REQUIRE(outcome.exit == 0);
    const auto report = json::parse(outcome.out);
    CHECK(report["schema"] == "eyeroof/capacity/1");
    CHECK(report["level"]["capacity_bytes"] == 1024);
    const auto& points = report["layers"][0]["points"];
    REQUIRE(points.size() >= 2);
    for (std::size_t i = 1; i < points.size(); ++i) {
        CHECK(points[i]["capacity_bytes"] > points[i - 1]["capacity_bytes"]);
        CHECK(points[i]["traffic_bytes"] < points[i - 1]["traffic_bytes"]);
        CHECK(points[i]["traffic_bytes"] >= report["layers"][0]["compulsory_bytes"]);
    }
    CHECK(contains(tests::read_file(svg), "GLB 1.024 kB"));
    const auto unknown =
        run({"map", files.problem, "--on", files.arch, "--capacity-curve", "GLBB"});
    CHECK(unknown.exit == 3);
    CHECK(contains(unknown.err, "did you mean 'GLB'?"));
    CHECK(run({"map", files.problem, "--on", files.arch, "--pareto", "--capacity-curve", "GLB"})
              .exit == 2);
}

TEST_CASE("compulsory and least bytes are the same in an exam, a capacity curve, and a fusion") {
    const auto of = [](const std::string& command, const char* layer, const char* machine,
                       std::vector<std::string> more) {
        std::vector<std::string> words = {command, "alexnet", "--layers", layer,
                                          "--on",  machine,   "--format", "json"};
        words.insert(words.end(), more.begin(), more.end());
        const auto outcome = run(words);
        REQUIRE(outcome.exit == 0);
        return json::parse(outcome.out);
    };
    const auto answer = [&](const std::string& command, std::vector<std::string> more) {
        return of(command, "CONV3", "eyeriss-v1", std::move(more));
    };
    const auto layer = answer("exam", {})["layers"][0];
    const auto curve = answer("map", {"--capacity-curve", "GLB"})["layers"][0];
    const auto fused = answer("fuse", {})["groups"][0];
    // Eyeriss codes zeros on the way to DRAM: an exam counts the coded bytes, a curve the words.
    CHECK(curve["compulsory_bytes"] > layer["compulsory_bytes"]);
    // Without coding, and without padding, which an exam counts as read, both are the same.
    CHECK(of("map", "CONV1", "diannao",
             {"--capacity-curve", "buffers"})["layers"][0]["compulsory_bytes"] ==
          of("exam", "CONV1", "diannao", {})["layers"][0]["compulsory_bytes"]);
    CHECK(curve["level_traffic_bytes"] == fused["apart"]["dram_bytes"]);
    double moved = 0.0; // over the border of the outermost memory, before zeros are coded
    for (const json& tensor : layer["traffic"]) {
        moved += tensor["level"] == "DRAM"
                     ? tensor["read_bytes"].get<double>() + tensor["write_bytes"].get<double>()
                     : 0.0;
    }
    CHECK(curve["level_traffic_bytes"] == moved);
}

TEST_CASE("fronts and curves are of every different layer, as text, JSON, CSV and picture") {
    const Files files;
    const std::string svg = (files.scratch / "all.svg").string();
    const std::string net = (files.scratch / "small.csv").string();
    write_text(net, "name,op,m,n,k\nfirst,gemm,4,8,4\nsecond,gemm,8,8,8\nthird,gemm,4,8,4\n");
    const auto lines = [](const std::string& text) {
        return std::count(text.begin(), text.end(), '\n');
    };
    for (const std::vector<std::string>& question :
         {std::vector<std::string>{"--pareto"}, {"--capacity-curve", "GLB"}}) {
        CAPTURE(question.front());
        std::vector<std::string> words = {"map", net, "--on", files.arch, "--plot", svg};
        words.insert(words.end(), question.begin(), question.end());
        const auto with = [&](const char* format) {
            auto all = words;
            all.insert(all.end(), {"--format", format});
            return run(all);
        };
        const auto outcome = with("json");
        REQUIRE(outcome.exit == 0);
        const auto layers = json::parse(outcome.out)["layers"];
        REQUIRE(layers.size() == 2); // the third equals the first
        CHECK(layers[0]["layer"] == "first");
        CHECK(layers[0]["equals"] == json::array({"third"}));
        CHECK(layers[1]["layer"] == "second");
        CHECK(lines(with("csv").out) > 2);
        CHECK(contains(with("csv").out, "\nsecond,"));
        const auto text = with("text");
        CHECK(contains(text.out, "first (and 1 like it)"));
        CHECK(contains(text.out, "second"));
        CHECK(contains(tests::read_file(svg), "2 layers of small"));
    }
}

TEST_CASE("the convergence plot shows every strategy against the proven bound") {
    const Files files;
    const std::string svg = (files.scratch / "c.svg").string();
    const auto outcome =
        run({"map", files.problem, "--on", files.arch, "--time-limit", "1", "--plot", svg});
    REQUIRE(outcome.exit == 0);
    const std::string text = tests::read_file(svg);
    for (const char* part :
         {"exact ", "random ", "random-pruned ", "annealing ", "genetic ", "proven bound"}) {
        CAPTURE(part);
        CHECK(contains(text, part));
    }
}

TEST_CASE("a stopped map ends with the code of an interrupt and writes nothing") {
    const Files files;
    std::stop_source source;
    source.request_stop();
    cli::Environment environment;
    environment.stop = source.get_token();
    const auto outcome = run({"map", files.layers, "--on", "nvdla-large"}, environment);
    CHECK(outcome.exit == 130);
    CHECK(outcome.out.empty());
}

} // namespace test_cli_map_drawn
