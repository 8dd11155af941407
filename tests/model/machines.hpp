// Small machines and problems that the tests of mappings and costs share.
// Used by tests/model and tests/mapper.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/accelerator/mapping.hpp"
#include "model/workload/problem.hpp"

namespace eyeroof::test {

// One store: capacity in 16-bit words (0: unbounded), bandwidths in words per cycle.
inline model::Store store(model::OperandSet operands, Count words, double read, double write,
                          double pj) {
    model::Store s;
    s.operands = operands;
    if (words > 0) {
        s.capacity_bytes = words * 2;
    }
    s.read_bytes_per_cycle = read * 2;
    s.write_bytes_per_cycle = write * 2;
    s.read_pj = pj;
    s.write_pj = pj;
    return s;
}

inline model::Level level(std::string name, std::vector<model::Store> stores,
                          std::vector<model::Axis> fanout = {}, bool forwards = false) {
    model::Level l;
    l.name = std::move(name);
    l.stores = std::move(stores);
    l.fanout = std::move(fanout);
    if (forwards) {
        model::Channel c;
        c.name = l.name + " network";
        c.operands = {model::Operand::input, model::Operand::weight, model::Operand::output};
        c.forwards = true;
        l.channels.push_back(c);
    }
    return l;
}

inline constexpr model::OperandSet kAll = {model::Operand::input, model::Operand::weight,
                                           model::Operand::output};

// The machine `eyeriss168` of the published mapping study: 14 x 12 PEs, three scratchpads each.
inline model::Accelerator eyeriss168() {
    using model::Operand;
    model::Accelerator a;
    a.clock_hz = 200e6;
    a.mac_pj = 1.0;
    a.levels = {level("DRAM", {store(kAll, 0, 4, 4, 200.0)}),
                level("GLB", {store(kAll, 55296, 16, 16, 6.0)}, {{"x", 14}, {"y", 12}}, true),
                level("InputSpad", {store({Operand::input}, 12, 2, 2, 1.0)}),
                level("WeightSpad", {store({Operand::weight}, 224, 2, 2, 1.0)}),
                level("PsumSpad", {store({Operand::output}, 24, 2, 2, 1.0)})};
    return a;
}

// bounds in the order R S P Q C K N of the study, square stride.
inline model::Problem conv(std::string name, std::array<Count, 7> b, Count stride_h = 1,
                           Count stride_w = 1) {
    model::Problem p;
    p.name = std::move(name);
    p.bounds = {b[6], 1, b[5], b[4], b[2], b[3], b[0], b[1]};
    p.stride = {stride_h, stride_w};
    return p;
}

} // namespace eyeroof::test
