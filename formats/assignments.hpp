// Reads assignments of kernels to layers by hand: a small YAML file.
//
//   eyeroof_assignments: 1
//   assign:
//     - {layer: conv1, kernel: "^fused_stem"}   # regular expression over the kernel's name
//     - {layer: fc, range: classifier}          # ranges that contain this text
#pragma once

#include "profiles/matching.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace eyeroof::formats {

Result<std::vector<profiles::ManualAssignment>> parse_assignments(std::string text,
                                                                  std::string file);
Result<std::vector<profiles::ManualAssignment>> load_assignments(const std::filesystem::path& path);

// A file that load_assignments() reads as the same.
std::string write_assignments(const std::vector<profiles::ManualAssignment>& assignments);

} // namespace eyeroof::formats
