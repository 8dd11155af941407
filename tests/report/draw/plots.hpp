// Plots made by hand for the tests of the scene.
#pragma once

#include "report/draw/roofline_scene.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace eyeroof::report {

// 100 FLOP/s of arithmetic, 10 bytes/s of memory: the ridge lies at 10 FLOP/byte.
inline analysis::PlotMachine plain_machine(const std::string& id = "m") {
    return {id,
            id + " machine",
            {{id + "/c", id, "units", analysis::RoofKind::compute, "", 100.0, false, "by hand"},
             {id + "/d", id, "DRAM", analysis::RoofKind::memory, "DRAM", 10.0, false, "by hand"}}};
}

inline PlotPoint plain_point(const std::string& name, double flops, double bytes, double time_s,
                             bool measured = false, const std::string& machine = "m") {
    PlotPoint point;
    point.id = machine + (measured ? "/measured/" : "/predicted/") + name;
    point.name = name;
    point.machine = machine;
    point.measured = measured;
    point.flops = flops;
    point.time_s = time_s;
    point.bytes = {{"DRAM", bytes}};
    return point;
}

// `n` points scattered below the roofs, the same for the same n.
inline PlotInput scattered(std::size_t n) {
    PlotInput input{"Scattered", {plain_machine()}, {}};
    std::uint64_t state = 1;
    const auto uniform = [&state] { // Knuth's MMIX generator
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<double>(state >> 11U) / 9007199254740992.0;
    };
    for (std::size_t i = 0; i < n; ++i) {
        const double intensity = std::pow(10.0, -1.0 + 4.0 * uniform());
        const double roof = std::min(100.0, 10.0 * intensity);
        const double rate = roof * std::pow(10.0, -1.5 * uniform());
        const double flops = std::pow(10.0, 3.0 * uniform());
        PlotPoint point = plain_point(fmt::format("void kernel_{}<float, {}>", i, i % 7), flops,
                                      flops / intensity, flops / rate);
        point.id += fmt::format("#{}", i);
        point.limiter_step = 1 + i % 7;
        input.points.push_back(point);
    }
    return input;
}

} // namespace eyeroof::report
