// What lines of a log were trials of.
#include "analysis/trials/cpu_task.hpp"
#include "analysis/trials/gpu_task.hpp"
#include "analysis/trials/log.hpp"

#include <algorithm>

namespace eyeroof::analysis::tune {

CpuMachine machine_of(const TrialOrigin& origin) {
    CpuMachine machine;
    machine.name = origin.machine;
    machine.cores = std::max(1, origin.cores);
    machine.lanes = origin.lanes > 0 ? origin.lanes : machine.lanes;
    machine.registers = origin.registers > 0 ? origin.registers : machine.registers;
    const auto set = [](double& to, Count bytes) {
        to = bytes > 0 ? static_cast<double>(bytes) : to;
    };
    set(machine.l1_bytes, origin.l1_bytes);
    set(machine.l2_bytes, origin.l2_bytes);
    set(machine.l3_bytes, origin.l3_bytes);
    return machine;
}

std::optional<SearchTask> search_task_of(const TrialLine& line) {
    if (line.template_name == kGpuTemplate && line.origin.gpu) {
        return gpu_task(line.work, *line.origin.gpu);
    }
    if (line.template_name != kCpuTemplate) {
        return std::nullopt;
    }
    const bool threads = std::any_of(line.knobs.begin(), line.knobs.end(),
                                     [](const auto& knob) { return knob.first == "threads"; });
    return cpu_task(line.work, machine_of(line.origin),
                    threads ? std::max(2, line.origin.cores) : 1);
}

} // namespace eyeroof::analysis::tune
