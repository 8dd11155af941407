// The catalog's GPU that a profile was taken on, by what the profiler says of its device.
#pragma once

#include "hwdb/folders.hpp"
#include "profiles/measurement.hpp"

#include <string>

namespace eyeroof::formats {

// Every word of the model ("h100", "rtx 4090") stands in the device's name, the SMs agree where
// both are known, and of several the form (SXM unless the name says PCIe or NVL) and the nearest
// memory decide. Errors: "unknown-gpu" where none fits.
Result<std::string> gpu_of_run(const profiles::RunInfo& run, hwdb::Folders folders);

// The same of a trace or profile file, by its beginning.
Result<std::string> gpu_of_trace(const std::string& path, hwdb::Folders folders);

// Whether this machine is that GPU, so that the profile's times are its own.
bool same_gpu(const profiles::RunInfo& run, const std::string& machine, hwdb::Folders folders);

} // namespace eyeroof::formats
