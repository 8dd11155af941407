// The parameters of a processor core for the closed-form cost of kernels.
// Read by the template's rules, by the closed form and by the features.
#pragma once

#include "base/checked.hpp"

#include <string>

namespace eyeroof::analysis::tune {

// Cycle figures are those common to x86 server cores since 2017 and recent Arm ones (two FMA pipes
// of 4 cycles, two loads and one store a cycle); caches and vectors are this processor's own. They
// only order candidates: what is reported is measured.
struct CpuMachine {
    std::string name;
    int cores = 1;         // that this process may use
    int lanes = 8;         // fp32 values of the widest vector
    int registers = 16;    // of that width
    int pipes = 2;         // vectors of multiply-adds a cycle
    int latency = 4;       // cycles of one
    double loads = 2.0;    // vectors or broadcasts a cycle
    double issue = 6.0;    // instructions a cycle
    double clock_hz = 2e9; // only scales predicted times
    double l1_bytes = 32768, l2_bytes = 1 << 20, l3_bytes = 32 << 20;
    // Bytes a cycle into L1 from L2, into L2 from L3, into L3 from memory.
    double l2_bandwidth = 32.0, l3_bandwidth = 10.0, dram_bandwidth = 5.0;

    bool operator==(const CpuMachine&) const = default;
};

// This host's, as the operating system and the processor tell.
CpuMachine host_machine();

// What synthetic targets are for, on every host: two server cores with AVX-512.
CpuMachine synthetic_machine();

} // namespace eyeroof::analysis::tune
