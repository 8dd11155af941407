// A report made by hand: two layers on a machine of 100 units at 1 kHz, with round numbers.
// Used by the tests of the writers and of the gate.
#pragma once

#include "analysis/exam/report.hpp"

#include <string>
#include <utility>

namespace eyeroof::tests {

inline model::Chain chain_of(std::initializer_list<double> bounds) {
    model::Chain chain;
    std::size_t i = 0;
    for (const double bound : bounds) {
        chain[i] = {bound, "limit " + std::to_string(i + 1), "Because of " + std::to_string(i + 1)};
        ++i;
    }
    return chain;
}

inline model::Limits limits_at_1_khz(const model::Chain& chain, double work) {
    return model::scaled(model::limits_of({model::nest_cycles_of(chain, 100.0, work, 0.0)}), 1e-3);
}

// 80 MAC/cycle of 100 after step 4, 50 after step 6, 40 at last: 4000 MAC take 100 cycles, 0.1 s.
inline analysis::LayerReport first_layer() {
    analysis::LayerReport layer;
    layer.layer.name = "conv,1";
    layer.layer.op = model::Op::conv2d;
    layer.layer.shape = model::ConvShape{1, 5, 4, 4, 50, 1, 1, {1, 1}, {0, 0}, {1, 1}, 1};
    layer.layer.count = 2;
    layer.macs = 4000;
    layer.flops = 8000;
    layer.bytes = 1000;
    layer.steps = chain_of({4000, 400, 100, 80, 80, 50, 40});
    layer.machine_steps = chain_of({4000, 800, 100, 100, 90, 60, 50});
    layer.active = {80.0, 79.5};
    layer.cycles = 100.0;
    layer.time_s = 0.1;
    layer.processing_time_s = 0.09;
    layer.low_s = 0.08;
    layer.high_s = 0.13;
    layer.split = {0.05, 0.04, 0.01, 0.0};
    layer.utilization = 0.4;
    layer.limiter_step = 6;
    layer.limiter = "DRAM bus: weight";
    layer.limit = model::Limit::outer_memory;
    layer.limits = limits_at_1_khz(layer.steps, 4000.0);
    layer.energy_j = 1e-6;
    layer.traffic = {{"DRAM", "weight", 500, 0, 2e-7}, {"DRAM", "output", 0, 300, 1e-7}};
    layer.outer_bytes = 800.0;
    model::Mapping mapping;
    mapping.levels.push_back({{model::Operand::input, model::Operand::weight},
                              {{model::Dim::K, 5}},
                              {{model::Dim::C, 5, 1}}});
    layer.mappings = {mapping};
    layer.mapping_text = "DRAM: for K in 5\n  spatial C 5 on y";
    layer.notes = {"a note"};
    return layer;
}

inline analysis::LayerReport second_layer() {
    analysis::LayerReport layer = first_layer();
    layer.layer.name = "relu";
    layer.layer.op = model::Op::elementwise;
    layer.layer.shape = model::ElementwiseShape{10, 10, "relu"};
    layer.layer.count = 1;
    layer.macs = 0;
    layer.flops = 100;
    layer.steps = chain_of({50, 50, 50, 50, 50, 10, 10});
    layer.machine_steps = layer.steps;
    layer.limits = limits_at_1_khz(layer.steps, 50.0);
    layer.cycles = 5.0;
    layer.time_s = 0.005;
    layer.processing_time_s = 0.005;
    layer.low_s.reset();
    layer.high_s.reset();
    layer.utilization = 0.1;
    layer.notes.clear();
    return layer;
}

inline analysis::Report small_report() {
    analysis::Report report;
    report.machine = {"box", "The <Box>", "accelerator", 100.0,    1000.0,
                      1e5,   640.0,       "ws",          {"clock"}};
    report.network_id = "net";
    report.network_name = "Net | 1";
    report.words = "Net | 1, inference, batch 1, fp32 on The <Box>; ws, mapping automatic";
    report.layers = {first_layer(), second_layer()};
    report.total.macs = 8000.0;
    report.total.flops = 16100.0;
    report.total.time_s = 0.205;
    report.total.processing_time_s = 0.185;
    report.total.energy_j = 3e-6;
    report.total.outer_bytes = 2400.0;
    report.total.utilization = 0.39;
    report.total.averaged_units = 79.5;
    report.worst = {{0, 6, 0.06}, {1, 6, 0.004}};
    return report;
}

} // namespace eyeroof::tests
