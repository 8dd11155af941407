#include "analysis/exam/roofs.hpp"

#include "model/accelerator/outermost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

namespace {

std::string source_text(const model::Machine& machine, const std::string& field) {
    const Provenance* found = find_provenance(machine.provenance, field);
    return found == nullptr
               ? std::string{}
               : fmt::format("{} ({})", found->source, confidence_name(found->confidence));
}

void add_roofs(PlotMachine& plot, const model::Machine& machine,
               const model::Accelerator& accelerator) {
    const double units = static_cast<double>(model::mac_units(accelerator));
    const std::string peak_source = source_text(machine, "clock");
    plot.roofs.push_back({machine.id + "/compute/MAC", machine.id,
                          fmt::format("{:.0f} MAC units", units), RoofKind::compute, "",
                          2.0 * units * accelerator.clock_hz, false, peak_source});
    for (std::size_t i = 0; i + 1 < accelerator.levels.size() || i == 0; ++i) {
        const model::Level& level = accelerator.levels[i];
        const double per_cycle = model::bytes_per_cycle_below(level) *
                                 static_cast<double>(model::instances_of(accelerator, i));
        if (std::isfinite(per_cycle) && per_cycle > 0.0) {
            plot.roofs.push_back({machine.id + "/memory/" + level.name, machine.id, level.name,
                                  RoofKind::memory, level.name, per_cycle * accelerator.clock_hz,
                                  false, source_text(machine, fmt::format("levels[{}]", i))});
        }
    }
}

// Bytes that an SM moves in a cycle; 0: not known.
struct SmPaths {
    double l1 = 0.0, shared = 0.0;
};

// Shared memory: 32 banks of 4 bytes. L1: as wide since Volta, half of that on Turing.
// As recalled from: CUDA C++ Programming Guide, compute capabilities 5.x and later; NVIDIA, GA102
// white paper (L1 of Turing and GA10x); Jia et al., arXiv:1804.06826 (L1 of Volta).
SmPaths sm_paths(const model::Gpu& gpu) {
    using Arch = model::GpuArch;
    switch (gpu.arch) {
    case Arch::maxwell:
    case Arch::pascal:
        return {0.0, 128.0};
    case Arch::turing:
        return {64.0, 128.0};
    case Arch::volta:
    case Arch::ampere:
    case Arch::ada:
    case Arch::hopper:
    case Arch::blackwell:
        return {128.0, 128.0};
    case Arch::kepler:
    case Arch::amd:
    case Arch::host:
        break;
    }
    return {};
}

void add_sm_roofs(PlotMachine& plot, const model::Machine& machine, const model::Gpu& gpu) {
    const SmPaths paths = sm_paths(gpu);
    const auto add = [&](const char* key, const char* name, double bytes_per_cycle) {
        if (bytes_per_cycle > 0.0) {
            plot.roofs.push_back(
                {fmt::format("{}/memory/{}", machine.id, key), machine.id, name, RoofKind::memory,
                 key, bytes_per_cycle * gpu.sms * gpu.boost_hz, false,
                 fmt::format("{:.0f} bytes per SM and cycle at the boost clock, as recalled",
                             bytes_per_cycle)});
        }
    };
    add("L1", "L1", paths.l1);
    add("shared", "shared memory", paths.shared);
}

void add_roofs(PlotMachine& plot, const model::Machine& machine, const model::Gpu& gpu) {
    for (std::size_t i = 0; i < model::kDataTypes; ++i) {
        const model::Rate& rate = gpu.rates[i];
        if (rate.pipe == model::Pipe::none || !(rate.flops_per_s > 0.0)) {
            continue;
        }
        const std::string type(model::data_type_name(static_cast<model::DataType>(i)));
        plot.roofs.push_back({fmt::format("{}/compute/{}", machine.id, type), machine.id,
                              rate.pipe == model::Pipe::tensor ? type + " tensor" : type,
                              RoofKind::compute, type, rate.flops_per_s, false,
                              source_text(machine, fmt::format("peaks.{}", type))});
    }
    plot.roofs.push_back({fmt::format("{}/memory/{}", machine.id, kGpuMemory), machine.id,
                          kGpuMemory, RoofKind::memory, kGpuMemory, gpu.dram_bytes_per_s, false,
                          source_text(machine, "dram.bandwidth")});
    plot.roofs.push_back({machine.id + "/memory/L2", machine.id, "L2", RoofKind::memory, "L2",
                          model::l2_bandwidth(gpu), false, source_text(machine, "l2.bandwidth")});
    add_sm_roofs(plot, machine, gpu);
}

} // namespace

PlotMachine roofs_of(const model::Machine& machine) {
    PlotMachine plot{machine.id, machine.name.empty() ? machine.id : machine.name, {}};
    std::visit([&](const auto& kind) { add_roofs(plot, machine, kind); }, machine.kind);
    return plot;
}

} // namespace eyeroof::analysis
