// Timeloop's published example simba_like has nine levels, three of them axes without stores.
#include "tests/cli/program.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace test_cli_nine_levels {

using namespace eyeroof;
using nlohmann::json;
using tests::run;

namespace {

const char* const kAxes = R"(
        - {name: "%AXES%", class: dummy_storage, attributes: {width: 1, depth: 1, datawidth: 1, meshX: %X%}})";

// Six stores; `axes` adds the levels without stores, as the example has them.
std::string machine(bool axes) {
    const auto level = [&](const std::string& name, const std::string& width) {
        std::string text = axes ? kAxes : "";
        if (axes) {
            text.replace(text.find("%AXES%"), 6, name);
            text.replace(text.find("%X%"), 3, width);
        }
        return text;
    };
    return R"(architecture:
  version: '0.4'
  subtree:
    - name: top
      attributes: {technology: '45nm', global_cycle_seconds: 1e-9, datawidth: 8}
      local:
        - {name: DRAM, class: DRAM, attributes: {width: 64, vector_access_energy: 512}}
        - {name: GlobalBuffer, class: smartbuffer_SRAM,
           attributes: {depth: 2048, width: 256, vector_access_energy: 60}})" +
           level("inter_PE[1..1]", "1") + R"(
        - {name: "PEInputBuffer[1..16]", class: storage,
           attributes: {depth: 8192, width: 64, vector_access_energy: 20, meshX: 16}})" +
           level("inter_buffers[1..16]", "16") + R"(
        - {name: "PEWeightBuffer[1..64]", class: storage,
           attributes: {depth: 4096, width: 64, vector_access_energy: 12, meshX: 16}}
        - {name: "PEAccuBuffer[1..64]", class: storage,
           attributes: {depth: 128, width: 8, vector_access_energy: 1.5, meshX: 16}})" +
           level("inter_reg_mac[1..64]", "16") + R"(
        - {name: "PEWeightRegs[1..256]", class: storage,
           attributes: {depth: 1, width: 512, vector_access_energy: 0.6, meshX: 16}}
        - {name: "mac[1..256]", class: intmac, attributes: {meshX: 16}}
architecture_constraints:
  targets:
    - {type: dataspace, target: GlobalBuffer, keep: [Inputs, Outputs], bypass: [Weights]}
    - {type: dataspace, target: PEInputBuffer, keep: [Inputs], bypass: [Weights, Outputs]}
    - {type: dataspace, target: PEWeightBuffer, keep: [Weights], bypass: [Inputs, Outputs]}
    - {type: dataspace, target: PEAccuBuffer, keep: [Outputs], bypass: [Inputs, Weights]}
    - {type: dataspace, target: PEWeightRegs, keep: [Weights], bypass: [Inputs, Outputs]}
)";
}

const char* const kProblem =
    "problem: {shape: cnn-layer, R: 3, S: 3, P: 8, Q: 8, C: 4, K: 16, N: 1}\n";

json best(bool axes, const std::string& objective) {
    const tests::Scratch scratch;
    const std::string arch = (scratch / "arch.yaml").string();
    const std::string problem = (scratch / "prob.yaml").string();
    tests::write_text(arch, machine(axes));
    tests::write_text(problem, kProblem);
    const auto outcome = run({"map", problem, "--on", arch, "--counting", "timeloop", "--objective",
                              objective, "--format", "json"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.exit == 0);
    return json::parse(outcome.out)["layers"][0];
}

} // namespace

TEST_CASE(
    "nine levels, three of them without stores, are searched and proved like the six stores") {
    for (const char* objective : {"edp", "latency"}) {
        CAPTURE(objective);
        const json nine = best(true, objective)["certificate"];
        const json six = best(false, objective)["certificate"];
        CHECK(nine["proved"] == true);
        CHECK(six["proved"] == true);
        CHECK(nine["value"].get<double>() > 0.0);
        CHECK(nine["value"].get<double>() == tests::near(six["value"].get<double>()));
    }
}

} // namespace test_cli_nine_levels
