// Measures what a GPU really reaches, through a library that is opened at run time.
#pragma once

#include "base/progress.hpp"
#include "profiles/measurement.hpp"

#include <stop_token>
#include <string>

namespace eyeroof::profiles {

struct GpuMeasureOptions {
    std::string library; // path of libeyeroof_gpu.so
    int device = 0;
    int trials = 15;
    double trial_s = 0.02;
    bool layers = true;              // products of 200 and 2000, with and without copies
    std::string library_folder = {}; // of cuBLASLt
    std::string date = {};
    std::string command = {};
    std::string driver = "libcuda.so.1"; // to look for before anything is opened
};

// Ceilings and, with `layers`, a launch per product. Errors: "unavailable" for every Fault;
// "cancelled".
Result<Profile> measure_gpu(const GpuMeasureOptions& options, std::stop_token stop = {},
                            const ProgressCallback& progress = {});

} // namespace eyeroof::profiles
