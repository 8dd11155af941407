// The folds of a cross-validation: rows by class and GPU, the predictions of each fit, and the
// fitted constants.
// Shared by cross_validate.cpp, cross_fits.cpp, cross_groups.cpp (errors) and cross_constants.cpp
// (the constants that are kept).
#pragma once

#include "analysis/calibrate/error_bands.hpp"
#include "analysis/calibrate/fit.hpp"
#include "analysis/cross_validate/cross_validate.hpp"

#include <array>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::analysis {

inline constexpr std::size_t kFewestToFit = 20;     // rows of a GPU in a class
inline constexpr const char* kNothingLeftOut = "-"; // Case::left_with of rows that every fit sees

// A row of a class, and what the folds said of it.
struct Case {
    FitRow row;
    bool tested = false; // in the half that is held out
    int line = 0;
    std::string source;
    std::string session;
    std::string library;
    std::string left_with; // rows of one name are left out together
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

// GPUs that common constants hold for. AMD's kernels are its own, with matrix cores and without:
// their constants start from those of all of AMD's GPUs, these from those of all others, which they
// tell nothing of.
enum class Family { amd_lanes, amd_matrix, others };
Family family_of(const model::Gpu& gpu);

struct ClassFolds {
    model::KernelClass kernel_class = model::KernelClass::linear;
    std::vector<Fold> folds;
    model::GpuCalibration together; // fitted on all GPUs
    model::GpuCalibration half;     // the same on the shapes that are not held out: fit_half
    // Likewise of AMD's GPUs, from those: see Family.
    std::array<model::GpuCalibration, 2> together_amd, half_amd;

    const model::GpuCalibration& common(const model::Gpu& gpu) const;
    const model::GpuCalibration& common_half(const model::Gpu& gpu) const;
};

// What a fit starts from: round values of the order that the terms' meaning suggests.
model::GpuCalibration textbook_start();

bool same_die(const model::Gpu& a, const model::Gpu& b);

bool is_amd(const Fold& fold);

// Rows of the session in which each operator of the GPU runs fastest, relative to predictions of
// constants from other GPUs, and of sessions at most kSlowSession times slower. A card may be
// throttled on one day (limited power or clocks, another kernel), but not sped up.
std::vector<Case> of_quick_sessions(const Fold& fold);

// The name that a GPU is left out by; "" where it has no rows. Of leave-outs by die or
// architecture, whose rows of a GPU all have one name.
std::string name_of(const Fold& fold);

// For rows of one row_kind that are left out as `name`, from the rows of other names ("": of all),
// each by constants that are blind to its own. Kinds in launch modes that no other name was
// measured in are left out: their constants are not fitted. Nothing left: the class's band,
// doubled. nullopt where the class has none either.
std::optional<Band> band_of_others(const ClassFolds& all, const std::string& name,
                                   const std::string& kind, Family family);

// Which limit binds in the rows of each GPU, and of all GPUs of a class; by the GPU's own
// constants.
std::vector<BindingRow> row_bindings(const std::vector<ClassFolds>& all);

// Share of the rows in which a part of the kernel's time is the longest: see model::longest_part.
std::map<std::string, double> shares_of_parts(const Fold& fold);

// The names by which rows are left out together.
std::set<std::string> names_left_out(const ClassFolds& all);

// Fits the class without the rows of one name, and predicts those; `off`: a term of the class that
// is switched off. Needs fit_all's constants.
void leave_out(ClassFolds& all, const std::string& name, const CrossValidateOptions& options,
               const std::stop_token& stop, const std::string& off = {});

// Fits the class on all GPUs and shapes.
void fit_all(ClassFolds& all, const CrossValidateOptions& options, const std::stop_token& stop);

// Fits the class on all GPUs' shapes that are not held out; `off` as in leave_out.
void fit_half(ClassFolds& all, const CrossValidateOptions& options, const std::stop_token& stop,
              const std::string& off = {});

// Fits one GPU's constants on the half of its shapes that is not tested, from all.half with the
// starts of all.together (is_start: they alone saw the tested half too), and predicts all of its
// rows. A term that is zero there stays zero. What the rows do not tell stays
// common: the pull weighs as much as a fixed number of rows, so few of them move little.
void hold_out(const ClassFolds& all, Fold& fold, const CrossValidateOptions& options,
              const std::stop_token& stop);

// Ablation: the held-out and left-out errors of each class without each term that can be disabled
// and that some row depends on.
std::vector<AblationRow> ablations_of(const std::vector<ClassFolds>& all,
                                      const CrossValidateOptions& options,
                                      const std::stop_token& stop);

// At most `most` rows of `cases`, of each kind, launch mode, and library as many as of any other,
// of every size; all, or only those that are not held out.
std::vector<FitRow> picked(const std::vector<Case>& cases, bool all, std::size_t most,
                           std::size_t gpu);

// The GPU with these constants, and a clock that follows from its power.
model::Gpu with_constants(const model::Gpu& gpu, const model::GpuCalibration& constants);

// Errors of the folds and their means, and what they said of every row.
void add_groups(const ClassFolds& all, std::vector<CrossGroup>& groups);
void add_rows(const ClassFolds& all, std::vector<CrossRow>& rows);
void add_leaders(const ClassFolds& all, std::vector<LeaderRow>& leaders);
std::vector<CrossGroup> means_of(const std::vector<CrossGroup>& groups);

// Constants, bands, ranges and sources of the folds.
void add_constants(const std::vector<ClassFolds>& all, CrossValidation& result);

} // namespace eyeroof::analysis
