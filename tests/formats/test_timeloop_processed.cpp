#include "formats/timeloop.hpp"

#include <doctest/doctest.h>

namespace test_formats_timeloop_processed {

// What Timeloop's front end writes before it calls Timeloop (parsed-processed-input.yaml): machine,
// constraints, problem and the front end's own keys in one file.

using namespace eyeroof;
using namespace eyeroof::formats;

namespace {

const char* const kProcessed = R"(dumped_by_timeloop_front_end: true
architecture:
    version: '0.4'
    subtree:
      - name: system
        attributes:
            version: '0.4'
            global_cycle_seconds: 1e-09
            technology: "45nm"
            power_gated_at: null
        local:
          - name: Main[1..1]
            class: DRAM
            attributes: {type: "LPDDR4", width: 64, datawidth: 8, vector_access_energy: 512,
                         meshX: 1, meshY: 1}
            required_actions: [leak, update, write, read]
            enabled: true
          - name: rows[1..4]
            class: dummy_storage
            attributes: {width: 1, depth: 1, datawidth: 1, technology: -1, meshX: 4, meshY: 1}
            enabled: true
          - name: Pad[1..8]
            class: smartbuffer_RF
            attributes: {depth: 64, width: 8, datawidth: 8, meshX: 4, meshY: 2}
          - name: unit[1..8]
            class: intmac
            attributes: {multiplier_width: 8, adder_width: 16, datawidth: 8, meshX: 4, meshY: 2}
architecture_constraints:
    targets:
      - {type: dataspace, bypass: [Weights, Inputs, Outputs], target: rows}
problem:
    version: '0.4'
    instance: {C: 8, M: 8, N: 1, P: 6, Q: 6, R: 3, S: 3, Wstride: 1, Hstride: 1, Wdilation: 1,
               Hdilation: 1, densities: {}}
    shape:
        name: CNN_Layer
        dimensions: [C, M, R, S, N, P, Q]
        coefficients:
          - {name: Wstride, default: 1}
          - {name: Hstride, default: 1}
          - {name: Wdilation, default: 1}
          - {name: Hdilation, default: 1}
        data_spaces:
          - {name: Weights, projection: [[[C]], [[M]], [[R]], [[S]]]}
          - {name: Inputs, projection: [[[N]], [[C]], [[R, Wdilation], [P, Wstride]],
                                        [[S, Hdilation], [Q, Hstride]]]}
          - {name: Outputs, projection: [[[N]], [[M]], [[Q]], [[P]]], read_write: true}
)";

} // namespace

TEST_CASE("what Timeloop's front end writes is recognised as machine, problem and constraints") {
    for (const auto kind : {formats::TimeloopKind::architecture, formats::TimeloopKind::problem,
                            formats::TimeloopKind::constraints}) {
        CHECK(formats::timeloop_has(kProcessed, kind));
    }
    CHECK_FALSE(formats::timeloop_has(kProcessed, formats::TimeloopKind::mapping));
    const auto machine = formats::parse_timeloop_architecture(kProcessed, "processed.yaml");
    REQUIRE(machine);
    const auto& accelerator = std::get<model::Accelerator>(machine->kind);
    CHECK(model::mac_units(accelerator) == 8); // "[1..8]" names 8 instances
    const auto problem = formats::parse_timeloop_problem(kProcessed, "processed.yaml");
    REQUIRE(problem);
    CHECK(problem->network.layers.size() == 1);
}

} // namespace test_formats_timeloop_processed
