// The folds of a cross-validation: rows by class and GPU, what each fit said of them, and the
// constants that the fits left.
// Shared by cross_validate.cpp (fits and errors) and cross_constants.cpp (what is kept of them).
// Knows no writer.
#pragma once

#include "study/calibrate/cross_validate.hpp"
#include "study/calibrate/error_bands.hpp"
#include "study/calibrate/fit.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::study {

// A row of a class, and what the folds said of it.
struct Case {
    FitRow row;
    bool tested = false; // in the half that is held out
    int line = 0;
    std::string source;
    double naive_s = 0.0;
    double fitted_s = 0.0; // by constants that saw half of the GPU's shapes
    double left_s = 0.0, one_s = 0.0;
};

struct Fold { // one GPU of one class
    std::string id;
    model::Gpu gpu;
    std::vector<Case> cases;
    bool has_left = false, has_held = false;
    model::GpuCalibration left, held;
    model::ErrorBand left_band; // of GPUs with another die
};

struct ClassFolds {
    model::KernelClass kernel_class = model::KernelClass::linear;
    std::vector<Fold> folds;
    model::GpuCalibration together; // fitted on all GPUs
};

// What a fit starts from: round values of the order that the terms' meaning suggests.
model::GpuCalibration textbook_start();

bool same_die(const model::Gpu& a, const model::Gpu& b);

// The terms and the record of one class.
void take_class(const model::GpuCalibration& from, model::KernelClass c, model::GpuCalibration& to);

// For rows of `fold`, of one row_kind, from GPUs with another die; `fold` null: from all of them.
// Kinds in launch modes that no GPU with another die was measured in are left out: their constants
// are not fitted. Nothing left: the class's band, doubled. nullopt where the class has none either.
std::optional<Band> band_of_others(const ClassFolds& all, const Fold* fold,
                                   const std::string& kind);

// Constants, bands, ranges and sources of the folds.
void add_constants(const std::vector<ClassFolds>& all, CrossValidation& result);

} // namespace eyeroof::study
