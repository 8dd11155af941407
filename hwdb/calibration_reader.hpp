// Reads and writes the fitted constants of the GPU time model.
// Called by the catalog when it loads a GPU, and by `eyeroof hw calibrate`.
// Knows no measurement: the fit itself is study's.
//
// A file in calibration/ belongs to the GPU that it is named after; "carried-over" serves all GPUs
// without one. Each class (linear, batched, tensor_gemm, conv, tensor_conv, memory) has its terms,
// its launch costs by mode, its error on rows that were not fitted, and the range of its rows.
#pragma once

#include "hwdb/yaml.hpp"
#include "model/machine/machine.hpp"

#include <filesystem>
#include <string>

namespace eyeroof::hwdb {

inline constexpr const char* kCarriedOver = "carried-over";

struct CalibrationFile {
    std::string id;
    model::GpuCalibration calibration;
    bool measures_clock[model::kKernelClasses] = {}; // sustained_clock is fitted, not derived

    bool operator==(const CalibrationFile&) const = default;
};

model::Result<CalibrationFile> read_calibration(Document& document, const std::string& id);

// YAML that read_calibration turns into the same again.
std::string write_calibration(const CalibrationFile& file);

// Gives the GPU its constants; a clock that was not fitted on it follows from its power.
void apply_calibration(const CalibrationFile& file, model::Gpu& gpu);

// The file calibration/<id>.yaml, else calibration/carried-over.yaml, of the first folder that has
// one; without either the model's own defaults stay.
model::Result<model::Gpu> with_calibration(model::Gpu gpu, const std::string& id,
                                           const std::vector<std::filesystem::path>& folders);

} // namespace eyeroof::hwdb
