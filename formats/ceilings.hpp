// Reads measured ceilings: the overlay that `eyeroof measure --overlay` writes, or a profile.
//
//   eyeroof_ceilings: 1
//   machine: "NVIDIA H200"
//   ceilings:
//     - {name: dram read, level: dram, value: 4210 GB/s}       # a bandwidth
//     - {name: tensor fp16, precision: fp16, pipe: tensor, value: 712 TFLOP/s}
//     - {name: launch eager, value: 2100 ns}                   # an overhead
//
// `median`, `spread`, `trials`, `how`, `confidence` and the run's facts (date, driver, cuda, host,
// sm_clock, memory_clock, power_limit, power, temperature_c, source) may stand there too.
#pragma once

#include "profiles/measurement.hpp"

#include <filesystem>
#include <string>

namespace eyeroof::formats {

// Only `run` and `ceilings` of the result are filled.
Result<profiles::Profile> parse_ceilings(std::string text, std::string file);
// A YAML overlay, or a profile with ceilings in it. Error "no-ceilings" when it has none.
Result<profiles::Profile> load_ceilings(const std::filesystem::path& path);

} // namespace eyeroof::formats
