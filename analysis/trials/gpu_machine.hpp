// The parameters of a GPU for the closed-form cost of kernels.
// Read by the GPU template's rules, by its closed form and by its features.
#pragma once

#include "base/checked.hpp"
#include "model/gpu/gpu.hpp"

#include <string>

namespace eyeroof::analysis::tune {

// Latencies and issue rates are those common to NVIDIA's SMs since Volta; they only order
// candidates: what is reported is measured.
struct GpuMachine {
    std::string name;
    int capability = 80; // 10 x major + minor of the compute capability
    int sms = 108;
    int lanes = 64; // fp32 multiply-adds a cycle of an SM
    double clock_hz = 1.41e9;
    Count l2_bytes = 40 << 20;
    double l2_bytes_per_s = 4e12, dram_bytes_per_s = 1.55e12;
    // Of an SM: threads and CTAs at once, registers; shared memory of an SM and of one CTA, bytes.
    int max_threads = 2048, max_ctas = 32;
    Count registers = 65536, sm_shared_bytes = 164 << 10, cta_shared_bytes = 163 << 10;

    bool operator==(const GpuMachine&) const = default;
};

// Limits of a compute capability (CUDA C++ Programming Guide, table "Technical Specifications per
// Compute Capability"); later ones than are known here count as the last known.
GpuMachine with_limits_of(int capability, GpuMachine machine);

// One of the catalog's. Nothing for GPUs whose compute capability is no NVIDIA one from 7.0 on.
std::optional<GpuMachine> gpu_machine_of(const model::Gpu& gpu, const std::string& name);

} // namespace eyeroof::analysis::tune
