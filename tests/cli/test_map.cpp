#include "report/answers/answers.hpp"
#include "tests/cli/map_files.hpp"
#include "tests/cli/program.hpp"
#include "tests/json_schema.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace test_cli_map {

using namespace eyeroof;
using eyeroof::tests::contains;
using eyeroof::tests::kArch;
using eyeroof::tests::near;
using nlohmann::json;
using tests::run;
using Files = eyeroof::tests::MapFiles;
using tests::write_text;

TEST_CASE("map searches equal layers once and certifies each, in text and in JSON") {
    const Files files;
    const auto text = run({"map", files.layers, "--on", "nvdla-large"});
    REQUIRE(text.exit == 0);
    CHECK(contains(text.out, "as first"));
    CHECK(contains(text.out, "proven optimal"));
    CHECK(contains(text.out, "gain"));
    const auto outcome = run({"map", files.layers, "--on", "nvdla-large", "--format", "json"});
    REQUIRE(outcome.exit == 0);
    const auto report = json::parse(outcome.out);
    CHECK(report["schema"] == "eyeroof/map/1");
    tests::SchemaCheck check(json::parse(eyeroof::report::schema_of("map")));
    for (const std::string& fault : check.faults(report)) {
        FAIL_CHECK(fault);
    }
    const auto csv = run({"map", files.layers, "--on", "nvdla-large", "--format", "csv"});
    CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') == 4);
    CHECK(contains(csv.out, "\nthird,1,first,"));
    REQUIRE(report["layers"].size() == 3);
    CHECK(report["layers"][2]["same_as"] == "first");
    for (const auto& layer : report["layers"]) {
        CHECK(layer["certificate"]["proved"] == true);
        CHECK(layer["certificate"]["gap"].get<double>() <= 1e-9);
        CHECK(layer["certificate"]["value"].get<double>() ==
              near(layer["energy_pj"].get<double>() * layer["cycles"].get<double>()));
        CHECK(layer["utilization"].get<double>() <= 1.0);
        CHECK(layer["mapping"].size() >= 2);
    }
    CHECK(report["energy_pj"].get<double>() ==
          near(report["layers"][0]["energy_pj"].get<double>() * 2 +
               report["layers"][1]["energy_pj"].get<double>()));
}

TEST_CASE("map --chain shows what the fastest mapping reaches of the bounds that exam gives") {
    const Files files;
    std::string slow = kArch; // a word a cycle from memory, where 152 must come in 144 cycles
    slow.replace(slow.find("read_bandwidth: 2"), 17, "read_bandwidth: 1");
    write_text(files.arch, slow);
    const auto outcome = run({"map", files.problem, "--on", files.arch, "--chain", "--factors",
                              "any", "--format", "json"});
    REQUIRE(outcome.exit == 0);
    const auto report = json::parse(outcome.out);
    CHECK(report["schema"] == "eyeroof/reach/1");
    REQUIRE(report["layers"].size() == 1);
    CHECK(report["layers"][0]["proved"] == true);
    const auto exam = json::parse(
        run({"exam", files.problem, "--on", files.arch, "--mapping", "best", "--format", "json"})
            .out);
    const auto& bounds = exam["layers"][0]["machine_steps"];
    const auto& steps = report["layers"][0]["steps"];
    REQUIRE(steps.size() == 6);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        CAPTURE(i);
        const double bound = steps[i]["bound_macs_per_cycle"].get<double>();
        CHECK(bound == near(bounds[i]["bound_macs_per_cycle"].get<double>(), 1e-12));
        CHECK(steps[i]["reached_macs_per_cycle"].get<double>() <= bound * (1 + 1e-9));
        if (i < 4) {
            CHECK(steps[i]["open"] == 0.0);
        }
    }
    CHECK(steps[3]["reached_macs_per_cycle"] == 8.0);
    CHECK(steps[5]["bound_macs_per_cycle"].get<double>() == near(1152.0 / 152.0));
    const auto text = run({"map", files.problem, "--on", files.arch, "--chain"});
    CHECK(contains(text.out, "average bandwidth"));
    const auto csv =
        run({"map", files.layers, "--on", "nvdla-large", "--chain", "--format", "csv"});
    CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') == 1 + 2 * 6);
    const std::string plot = (files.scratch / "chain.svg").string();
    CHECK(run({"map", files.problem, "--on", files.arch, "--chain", "--plot", plot}).exit == 2);
    CHECK(run({"map", files.problem, "--on", files.arch, "--chain", "--save-mapping", plot}).exit ==
          2);
}

// A buffer of 112 bytes between DRAM and 4 x 8 units.
constexpr const char* kOneBuffer = R"(eyeroof: machine/1
kind: accelerator
id: one-buffer
name: One buffer
summary: DRAM, a buffer, units
sources: {own: "made for this test"}
source: own
confidence: user
clock: 1 GHz
words: {input: 8 bit, weight: 8 bit, output: 8 bit}
mac_energy: 1 pJ
levels:
  - name: DRAM
    stores: [{operands: all, capacity: unlimited, energy: 100 pJ}]
    channels: [{name: bus, operands: all, down: 8 B/cycle, half_duplex: true, cast: multicast, reduces: false}]
  - name: buffer
    stores: [{operands: all, capacity: 112 B, energy: 1 pJ}]
    fanout: {x: 4, y: 8}
dataflows: [{kind: ws, spatial: {x: [K], y: [C]}}]
)";

TEST_CASE("map --uneven shows a line for each operand of a store, and says what is proven") {
    const Files files;
    const std::string machine = (files.scratch / "one-buffer.yaml").string();
    const std::string product = (files.scratch / "product.csv").string();
    write_text(machine, kOneBuffer);
    write_text(product, "name,op,dtype,m,n,k\ng,gemm,int8,32,48,48\n");
    const std::vector<std::string> question = {"map",         product,  "--on",     machine,
                                               "--objective", "energy", "--details"};
    const auto asked = [&](const char* more) {
        std::vector<std::string> all = question;
        all.emplace_back(more);
        return run(all);
    };
    const auto uneven = asked("--uneven");
    REQUIRE(uneven.exit == 0);
    CHECK(contains(uneven.out, "even mappings and uneven ones of buffer"));
    CHECK(contains(uneven.out, "2.02 uJ"));
    CHECK(contains(uneven.out, "proven"));
    const auto alone = [&](const std::string& operand) {
        return contains(uneven.out, "keeps " + operand + "\n") ||
               contains(uneven.out, "keeps " + operand + ";");
    };
    CHECK(alone("input"));
    CHECK(alone("weight"));
    const auto even = run(question);
    CHECK(contains(even.out, "2.23 uJ"));
    CHECK(contains(even.out, "energy, even mappings, perfect factors"));
    for (const char* other : {"--pareto", "--chain", "--plot=x.svg", "--save-mapping=x.yaml",
                              "--save-timeloop=x.yaml", "--strategy=random"}) {
        std::vector<std::string> all = question;
        all.insert(all.end(), {"--uneven", other});
        CHECK(run(all).exit == 2);
    }
    const auto refused = run({"map", files.layers, "--on", "nvdla-small", "--uneven"});
    CHECK(refused.exit == 3);
    CHECK(contains(refused.err, "convolution buffer prefetches"));
}

TEST_CASE("--layers chooses as exam does: by a match anywhere in the name") {
    const Files files;
    const auto outcome =
        run({"map", files.layers, "--on", "nvdla-large", "--layers", "sec", "--format", "json"});
    REQUIRE(outcome.exit == 0);
    CHECK(json::parse(outcome.out)["layers"].size() == 1);
    const auto none = run({"map", files.layers, "--on", "nvdla-large", "--layers", "fourth"});
    CHECK(none.exit == 3);
    CHECK(contains(none.err, "the first one is named first"));
    CHECK(run({"map", files.layers, "--on", "nvdla-large", "--layers", "("}).exit == 3);
}

TEST_CASE("exam --mapping best takes what map finds, with its certificate") {
    const Files files;
    const auto mapped = json::parse(
        run({"map", files.problem, "--on", files.arch, "--format", "json"}).out)["layers"][0];
    for (const char* policy : {"best", "auto"}) { // the machine names no dataflow
        CAPTURE(policy);
        const auto outcome = run({"exam", files.problem, "--on", files.arch, "--mapping", policy,
                                  "--counting", "timeloop", "--format", "json"});
        REQUIRE(outcome.exit == 0);
        const auto report = json::parse(outcome.out);
        tests::SchemaCheck check(json::parse(eyeroof::report::schema_of("exam")));
        for (const std::string& fault : check.faults(report)) {
            FAIL_CHECK(fault);
        }
        const auto& layer = report["layers"][0];
        REQUIRE(layer["certificates"].size() == 1);
        CHECK(layer["certificates"][0]["proved"] == true);
        CHECK(layer["certificates"][0]["value"].get<double>() <=
              mapped["certificate"]["value"].get<double>() * 1.5); // other rules of counting
    }
    const auto same = json::parse(
        run({"exam", files.problem, "--on", files.arch, "--mapping", "best", "--format", "json"})
            .out)["layers"][0];
    CHECK(same["certificates"][0]["value"] == mapped["certificate"]["value"]);
    CHECK(same["energy_j"].get<double>() * 1e12 == near(mapped["energy_pj"].get<double>(), 1e-12));
}

TEST_CASE("exam's own choice: published rules on row-stationary machines, a search elsewhere") {
    const Files files;
    const auto layer = [&](std::vector<std::string> more) {
        std::vector<std::string> words = {"exam",     files.layers, "--layers", "first",
                                          "--format", "json",       "--on"};
        words.insert(words.end(), more.begin(), more.end());
        const auto outcome = run(words);
        REQUIRE(outcome.exit == 0);
        return json::parse(outcome.out)["layers"][0];
    };
    CHECK(layer({"eyeriss-v1"}) == layer({"eyeriss-v1", "--mapping", "dataflow"}));
    CHECK_FALSE(layer({"eyeriss-v1"}).contains("certificates"));
    CHECK(layer({"nvdla-large"})["notes"][0] ==
          "no mapping under these rules has a lower edp (even mappings, perfect factors)");
    CHECK(layer({"nvdla-large"}).contains("certificates"));
    CHECK_FALSE(layer({"nvdla-large", "--mapping", "dataflow"}).contains("certificates"));
    // Free of the dataflow's rules nothing gets worse.
    const auto edp = [](const json& l) {
        return l["energy_j"].get<double>() * l["cycles"].get<double>();
    };
    const auto free = layer({"nvdla-large", "--dataflow", "free", "--mapping", "best"});
    CHECK(edp(free) <= edp(layer({"nvdla-large"})) * 1.01); // ramps are not searched
}

TEST_CASE("a searched mapping written as YAML examines to the same figures, in both forms") {
    const Files files;
    const std::string own = (files.scratch / "own.yaml").string();
    const std::string theirs = (files.scratch / "theirs.yaml").string();
    // Timeloop's mappings have one place for a dimension below a level: each axis its own here.
    write_text(files.rules, "mapspace_constraints:\n  targets:\n"
                            "  - {target: GLB, type: spatial, permutation: KPCR, split: 1}\n");
    const auto searched =
        run({"map", files.problem, "--on", files.arch, "--counting", "timeloop", "--constraints",
             files.rules, "--format", "json", "--save-mapping", own, "--save-timeloop", theirs});
    REQUIRE(searched.exit == 0);
    const auto mapped = json::parse(searched.out)["layers"][0];
    for (const std::string& file : {own, theirs}) {
        CAPTURE(tests::read_file(file));
        const auto outcome = run({"exam", files.problem, "--on", files.arch, "--mapping", file,
                                  "--counting", "timeloop", "--format", "json"});
        REQUIRE(outcome.exit == 0);
        const auto layer = json::parse(outcome.out)["layers"][0];
        CHECK(layer["cycles"].get<double>() == mapped["cycles"].get<double>());
        CHECK(layer["energy_j"].get<double>() * 1e12 ==
              near(mapped["energy_pj"].get<double>(), 1e-12));
    }
}

TEST_CASE("a bad mapping file is told with file, line and the nearest name") {
    const Files files;
    const std::string file = (files.scratch / "m.yaml").string();
    const auto exam = [&](const std::string& text) {
        write_text(file, text);
        return run({"exam", files.problem, "--on", files.arch, "--mapping", file});
    };
    const auto wrong = exam("eyeroof: mapping/1\nlevels:\n  - {name: DRAN, temporal: [K8]}\n"
                            "  - {name: GLB, temporal: [X2, K0]}\n");
    CHECK(wrong.exit == 3);
    CHECK(wrong.out.empty());
    CHECK(contains(wrong.err, "m.yaml:3:12: error: the machine has no level 'DRAN'"));
    CHECK(contains(wrong.err, "did you mean 'DRAM'?"));
    CHECK(contains(wrong.err, "m.yaml:4:"));
    const auto theirs = exam("mapping:\n  - {target: Spad, type: temporal, factors: R3 Z2}\n");
    CHECK(theirs.exit == 3);
    CHECK(contains(theirs.err, "m.yaml:2:45: error: 'Z2' is no factor"));
    const auto uncovered = exam("mapping:\n  - {target: Spad, type: temporal, factors: R3}\n");
    CHECK(uncovered.exit == 3); // P, C and K are not covered
    const auto policy = run({"exam", files.problem, "--on", files.arch, "--mapping", "bets"});
    CHECK(policy.exit == 2);
    CHECK(contains(policy.err, "did you mean 'best'?"));
}

TEST_CASE("objectives are named or products of powers, and others are refused with a hint") {
    const Files files;
    const auto value = [&](const std::string& objective) {
        const auto outcome = run({"map", files.problem, "--on", files.arch, "--objective",
                                  objective, "--format", "json"});
        REQUIRE(outcome.exit == 0);
        return json::parse(outcome.out)["layers"][0];
    };
    const auto latency = value("latency");
    const auto energy = value("energy");
    const auto weighted = value("energy^2*latency");
    CHECK(latency["cycles"] <= weighted["cycles"]);
    CHECK(energy["energy_pj"] <= weighted["energy_pj"]);
    const double e = weighted["energy_pj"];
    CHECK(weighted["certificate"]["value"].get<double>() ==
          near(e * e * weighted["cycles"].get<double>()));
    CHECK(value("latency*energy")["certificate"]["value"] == value("edp")["certificate"]["value"]);
    for (const char* wrong : {"enrgy", "energy^", "energy^-1", "energy+latency", "energy*", ""}) {
        CAPTURE(wrong);
        const auto outcome = run({"map", files.problem, "--on", files.arch, "--objective", wrong});
        CHECK(outcome.exit == 2);
    }
    CHECK(contains(run({"map", files.problem, "--on", files.arch, "--objective", "enrgy"}).err,
                   "did you mean 'energy'?"));
}

TEST_CASE("constraints that cannot be met are refused with the conflicting lines") {
    const Files files;
    // C fixed to one trip everywhere: it is 4.
    const auto away = files.constrained("  - {target: DRAM, type: temporal, factors: C1}\n"
                                        "  - {target: GLB, type: temporal, factors: C1}\n"
                                        "  - {target: GLB, type: spatial, factors: C1}\n"
                                        "  - {target: Spad, type: temporal, factors: C1}\n");
    CHECK(away.exit == 3);
    CHECK(away.out.empty());
    CHECK(contains(away.err, "cstr.yaml:3:5: error: prob: C is constrained away"));
    CHECK(contains(away.err, "cstr.yaml:6:5: note:"));
    // 24 words of weights must rest in a register file of 16.
    const auto large = files.constrained("  - {target: Spad, type: datatype, keep: [Weights]}\n"
                                         "  - {target: Spad, type: temporal, factors: C4 R3 K2}\n");
    CHECK(large.exit == 3);
    CHECK(contains(large.err, "the smallest tiles that must rest in Spad need 48 of its 32 bytes"));
    CHECK(contains(large.err, "cstr.yaml:4:5:"));
    // 16 instances of 8, and a share of the units that the allowed dimensions cannot fill.
    const auto wide =
        files.constrained("  - {target: GLB, type: spatial, factors: K16, permutation: K, "
                          "split: 7}\n");
    CHECK(wide.exit == 3);
    CHECK(contains(wide.err, "cstr.yaml:3:5: error:"));
    CHECK(contains(wide.err, "GLB asks for K16 in space"));
    const auto unfilled = files.constrained(
        "  - {target: GLB, type: spatial, factors: P1 K1 C1, permutation: RPKC, split: 1}\n"
        "  - {target: DRAM, type: utilization, min: 0.9}\n");
    CHECK(unfilled.exit == 3);
    CHECK(contains(unfilled.err, "cstr.yaml:4:5: error: prob: a utilization of 0.9"));
}

TEST_CASE(
    "what must rest and pass by at once, and limits that leave nothing, are refused by line") {
    const Files files;
    const auto both =
        files.constrained("  - {target: GLB, type: datatype, keep: [Inputs], bypass: [Inputs]}\n");
    CHECK(both.exit == 3);
    CHECK(contains(both.err, "cstr.yaml:3:5: error:"));
    CHECK(contains(both.err, "must both rest in GLB and pass by it"));
    const auto limits = files.constrained("  - {target: DRAM, type: temporal, factors: K<=2}\n"
                                          "  - {target: GLB, type: temporal, factors: K=1}\n"
                                          "  - {target: GLB, type: spatial, factors: K<=2}\n"
                                          "  - {target: Spad, type: temporal, factors: K<2}\n");
    CHECK(limits.exit == 3);
    CHECK(contains(limits.err, "K is constrained away"));
    CHECK(contains(limits.err, "cstr.yaml:6:5: note: Spad loops K at most 1 in time"));
    const auto whole = files.constrained("  - {target: Spad, type: temporal, factors: R=0 C=0}\n"
                                         "  - {target: Spad, type: datatype, keep: [Weights]}\n"
                                         "  - {target: Spad, type: temporal, factors: K=8}\n");
    CHECK(whole.exit == 3);
    CHECK(contains(whole.err, "the smallest tiles that must rest in Spad need 192"));
    // exam searches under the same rules, and refuses the same ones.
    const auto exam =
        run({"exam", files.problem, "--on", files.arch, "--constraints", files.rules});
    CHECK(exam.exit == 3);
    CHECK(contains(exam.err, "the smallest tiles that must rest in Spad need 192"));
    CHECK(run({"exam", files.problem, "--on", files.arch, "--constraints", files.rules, "--mapping",
               "dataflow"})
              .exit == 2);
}

TEST_CASE("where only all constraints together leave nothing, the fewest that do are named") {
    const Files files;
    // Each alone is fine, and so are any two: 3 K in the register file beside 4 C, all weights
    // kept.
    const auto outcome =
        files.constrained("  - {target: Spad, type: datatype, keep: [Weights, Outputs]}\n"
                          "  - {target: Spad, type: temporal, factors: K8}\n"
                          "  - {target: DRAM, type: temporal, factors: N1}\n"
                          "  - {target: GLB, type: temporal, factors: C1 R1}\n"
                          "  - {target: DRAM, type: temporal, factors: C1 R1}\n"
                          "  - {target: GLB, type: spatial, factors: C1 R1}\n");
    CHECK(outcome.exit == 3);
    CHECK(contains(outcome.err, "cstr.yaml:"));
    CHECK(contains(outcome.err, "Spad loops K8 in time"));
    CHECK_FALSE(contains(outcome.err, "DRAM loops N1 in time")); // has no part in it
}

TEST_CASE("completion and help of map and exam know the words of the search") {
    const auto help = run({"map", "--help-all"});
    for (const char* part :
         {"--pareto", "--chain", "--capacity-curve LEVEL", "--objective latency|energy|edp|…",
          "--constraints FILE", "eyeroof map prob.yaml --on arch.yaml"}) {
        CAPTURE(part);
        CHECK(contains(help.out, part));
    }
    CHECK(tests::width_of(help.out) <= 100);
    CHECK(tests::width_of(run({"exam", "--help-all"}).out) <= 100);
    CHECK(contains(run({"exam", "--help-all"}).out, "--mapping {auto,dataflow,best}|FILE"));
    const auto bash = run({"completion", "bash"});
    CHECK(contains(bash.out, "--capacity-curve"));
}

} // namespace test_cli_map
