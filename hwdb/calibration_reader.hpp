// Reads and writes the fitted constants of the GPU time model.
//
// A file in calibration/ belongs to the GPU that it is named after; "carried-over" serves all GPUs
// without one. Each class (linear, batched, tensor_gemm, conv, tensor_conv, memory) has its terms,
// its launch costs by mode, its error on rows that were not fitted, and the range of its rows.
#pragma once

#include "hwdb/folders.hpp"
#include "hwdb/yaml.hpp"
#include "model/machine/machine.hpp"

#include <array>
#include <filesystem>
#include <span>
#include <string>

namespace eyeroof::hwdb {

inline constexpr const char* kCarriedOver = "carried-over";

struct CalibrationFile {
    std::string id;
    model::GpuCalibration calibration;
    // sustained_clock is fitted, or given by the user, and does not follow from the GPU's power.
    std::array<bool, model::kKernelClasses> measures_clock{};
    std::array<std::string, model::kKernelClasses> dates{}; // of the fit, "2026-11-22"; "": unknown

    bool operator==(const CalibrationFile&) const = default;
};

Result<CalibrationFile> read_calibration(Document& document, const std::string& id);

// YAML that read_calibration turns into the same again: constants with every digit.
std::string write_calibration(const CalibrationFile& file);

// Gives the GPU its constants; a clock that was not fitted on it follows from its power.
void apply_calibration(const CalibrationFile& file, model::Gpu& gpu);

// The file calibration/<id>.yaml, else calibration/carried-over.yaml, of the first folder that has
// one; without either a file without an id.
Result<CalibrationFile> load_calibration(const std::string& id, Folders folders);

// The GPU with the constants of that file, and of the nearest carried-over.yaml for classes that it
// does not tell; without a file the model's own defaults stay.
Result<model::Gpu> with_calibration(model::Gpu gpu, const std::string& id, Folders folders);

} // namespace eyeroof::hwdb
