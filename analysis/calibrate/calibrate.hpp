// Fits the constants of a class of kernels to measured layers of one GPU.
#pragma once

#include "analysis/calibrate/fit.hpp"
#include "analysis/calibrate/validate.hpp"
#include "base/result.hpp"
#include "model/gpu/calibration.hpp"
#include "model/machine/machine.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct CalibrateOptions {
    model::Timing timing = model::Timing::kernel;
    std::size_t rows = 300; // of each class that the fit looks at, evenly picked
    double pull = 0.02;     // cost of moving a constant by a factor of e from where it was
    int rounds = 12;        // of the pattern search
    std::string source;     // that the fitted constants will name

    bool operator==(const CalibrateOptions&) const = default;
};

struct FittedClass {
    model::KernelClass kernel_class = model::KernelClass::linear;
    int fitted_rows = 0;
    double before = 0.0;   // MAPE on the held-out rows with the constants as they were
    double fitted = 0.0;   // on the rows of the fit
    double held_out = 0.0; // on the other rows

    bool operator==(const FittedClass&) const = default;
};

struct Calibrated {
    model::GpuCalibration calibration;
    std::vector<FittedClass> classes; // whose constants are new

    bool operator==(const Calibrated&) const = default;
};

// Minimises mean |ln(predicted / measured)| + pull mean (ln change)^2 by damped least squares in
// the logarithms of the constants, with the GPU's present ones as the start; the launch cost of the
// mode is one of them. Half of the shapes (is_held_out) gives the error and the interval. Errors:
// those of predict(); "too-few-rows" for a class with less than 20, "too-few-shapes" where less
// than five rows fall on one side.
Result<Calibrated> calibrate(const model::Gpu& gpu, const std::vector<MeasuredLayer>& rows,
                             const CalibrateOptions& options, std::stop_token stop = {});

// Constants that the GPUs of the rows share, or, where there is one, that are its own: by
// fit_class, on every row by its weight, from those that the first GPU has. Nothing is held out:
// the errors before and after are those of the rows. Errors: the machines', "not-a-gpu", those of
// predict().
Result<Calibrated> calibrate_together(const std::vector<MeasuredLayer>& rows,
                                      const MachineSource& machines, model::Timing timing,
                                      const FitOptions& options, const std::stop_token& stop = {});

// From one sustained figure: the share of the clock that makes the largest products reach it.
// Sets sustained_clock of the classes that the type's pipe serves, which the result names without
// rows: nothing was fitted, and they are not measured. Error: "bad-rate" when it is not between 1 %
// and 100 % of the peak.
Result<Calibrated> calibrate_sustained(const model::Gpu& gpu, model::DataType type,
                                       double flops_per_s, const std::string& source);

} // namespace eyeroof::analysis
