// The work of the GPU target's child processes.
#pragma once

#include "analysis/tune/gpu_target.hpp"

namespace eyeroof::analysis::tune {

// Writes what the device is, a line "KEY VALUE" each, or "failed why"; exit status.
int tell_device(const GpuOptions& options, int file);

// Compiles, checks on an odd size and on the workload, times; writes a line as outcome_of reads it.
int run_candidate(const GpuOptions& options, int capability, const std::string& source,
                  const GpuPlan& plan, const GpuData& data, int file);

} // namespace eyeroof::analysis::tune
