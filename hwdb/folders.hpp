// Folders of machines, nearest first, and what of a name stands in the nearest.
#pragma once

#include <filesystem>
#include <optional>
#include <span>

namespace eyeroof::hwdb {

using Folders = std::span<const std::filesystem::path>;

// `name` below the first folder that has it: "calibration/a100.yaml". Nothing where none has.
std::optional<std::filesystem::path> nearest_file(Folders folders,
                                                  const std::filesystem::path& name);

} // namespace eyeroof::hwdb
