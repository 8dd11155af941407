#include "analysis/trials/cpu_machine.hpp"

#include "profiles/host/host_machine.hpp"
#include "profiles/host/measure_host.hpp"

#include <algorithm>
#include <fstream>
#include <string>

namespace eyeroof::analysis::tune {

namespace {

// "cpu MHz : 2600.000" of the first processor; 0 where it is missing.
double stated_clock_hz() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("cpu MHz")) {
            return 1e6 * std::atof(line.c_str() + std::min(line.size(), line.find(':') + 1));
        }
    }
    return 0.0;
}

void set_vectors(CpuMachine& machine) {
#if defined(__x86_64__) || defined(__i386__)
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
    machine.lanes = wide ? 16 : __builtin_cpu_supports("avx2") ? 8 : 4;
    machine.registers = wide ? 32 : 16;
#elif defined(__aarch64__)
    machine.lanes = 4;
    machine.registers = 32;
#else
    machine.lanes = 4;
    machine.registers = 16;
#endif
}

} // namespace

CpuMachine host_machine() {
    CpuMachine machine;
    machine.name = profiles::host_name();
    machine.cores = std::max(1, profiles::host_threads());
    set_vectors(machine);
    if (const double clock = stated_clock_hz(); clock > 1e8) {
        machine.clock_hz = clock;
    }
    for (const profiles::CacheSize& cache : profiles::host_caches()) {
        double& bytes = cache.level == "l1"   ? machine.l1_bytes
                        : cache.level == "l2" ? machine.l2_bytes
                                              : machine.l3_bytes;
        bytes = static_cast<double>(cache.bytes);
    }
    return machine;
}

CpuMachine synthetic_machine() {
    CpuMachine machine;
    machine.name = "synthetic";
    machine.cores = 2;
    machine.lanes = 16;
    machine.registers = 32;
    machine.l1_bytes = 48 << 10;
    return machine;
}

} // namespace eyeroof::analysis::tune
