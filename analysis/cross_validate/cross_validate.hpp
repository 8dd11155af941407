// Errors of predictions on measured times that the constants have not seen: other shapes of a GPU,
// and a whole GPU that was left out.
#pragma once

#include "analysis/calibrate/validate.hpp"
#include "base/progress.hpp"
#include "model/gpu/calibration.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis {

// What a fold leaves out together: the rows of GPUs with one die (architecture, SMs and lanes) or
// of one architecture (AMD: of one compute capability), of one library (the table's column), of one
// source, or of one session (the column) of a GPU: only rows that name a session are left out.
enum class LeaveOut { die, architecture, library, source, session };
std::string_view leave_out_name(LeaveOut by);
std::optional<LeaveOut> leave_out_from_name(std::string_view name);

struct CrossValidateOptions {
    LeaveOut leave_out = LeaveOut::architecture; // what the constants of left-out GPUs are blind to
    std::vector<LeaveOut> also;                  // what else errors are computed for
    model::Timing timing = model::Timing::kernel; // of rows that name none
    std::size_t rows = 300;      // of a GPU and class that a fit of several looks at, of every size
    std::size_t own_rows = 1200; // that a GPU's own looks at; `pull` is that of `rows` of them
    int rounds = 30;             // of a fit's search
    double pull = 0.03;          // see fit_class; of one GPU's own constants
    // Of constants that several GPUs share: they shall hold for GPUs that are not among them, and
    // there are fewer GPUs than constants.
    double common_pull = 0.05;
    int threads = 0; // 0: as many as the machine has; the answer does not depend on it
    std::optional<model::KernelClass> only;
    bool ablate = false; // also fit without each term

    bool operator==(const CrossValidateOptions&) const = default;
};

// Mean |predicted / measured - 1| of one kind of layer on one GPU. Each figure is of rows that its
// constants have not seen, but `fitted`, which is of those that they have.
struct CrossGroup {
    std::string gpu, op, dtype, direction; // direction: "fwd" or "gradient"
    int rows = 0;
    double naive = 0.0; // max(FLOP / peak, compulsory bytes / bandwidth)
    std::optional<double> fitted;
    std::optional<double> held_out;   // fitted on half of this GPU's shapes, tested on the others
    std::optional<double> left_out;   // fitted without what LeaveOut names, this one's data sheet
    std::optional<double> one_figure; // the same, with one sustained rate of this GPU; of memory
                                      // operators, with what this GPU's host takes for a call
    // Share of rows within 80 % intervals that come from other shapes, or from other GPUs.
    std::optional<double> held_out_inside;
    std::optional<double> left_out_inside;

    bool operator==(const CrossGroup&) const = default;
};

// Errors of rows left out by another column than the constants are. A measured GPU predicts rows of
// a library, source, or session that it has not seen by constants of its other rows, if those have
// the same operator in the same launch mode, and else by those of all GPUs.
struct LeftOut {
    LeaveOut by = LeaveOut::library;
    std::vector<CrossGroup> groups, means; // as in CrossValidation; rows that name none are absent

    bool operator==(const LeftOut&) const = default;
};

// In which share of the rows each limit binds, by the GPU's own constants.
struct BindingRow {
    std::string gpu, kernel_class; // gpu "": all GPUs together
    bool measured = false;         // rows of the table; otherwise the standard grid
    int rows = 0;
    std::map<std::string, double> shares; // by GpuPrediction::limiter

    // Names and shares, largest first: "DRAM bandwidth 54.1, occupancy 22.9".
    std::string text() const;

    bool operator==(const BindingRow&) const = default;
};

// The errors of a class with one term switched off and the rest fitted again. A term earns its
// place where either error is larger without it.
struct AblationRow {
    std::string kernel_class, term; // term "": none
    double value = 0.0;             // on all GPUs together, with all terms
    // Mean |ln(predicted / measured)|, each GPU and kind counted once: on shapes that the GPU's own
    // constants have not seen, and on GPUs that common ones have not.
    double held_out = 0.0, left_out = 0.0;

    bool operator==(const AblationRow&) const = default;
};

// One line of docs/leaderboard.csv: the rows of one source on one GPU, of one kind of layer.
struct LeaderRow {
    std::string source, gpu, kind; // kind: "conv2d fp16 gradient"
    int rows = 0;
    std::optional<double> held_out, held_out_inside; // as in CrossGroup
    std::optional<double> left_out, left_out_inside;

    bool operator==(const LeaderRow&) const = default;
};

struct CrossRow { // what the folds said of one row of the table
    int line = 0;
    std::string gpu, op, dtype, direction, kind, left_with;
    double measured_s = 0.0;
    bool tested = false;     // in the half of the shapes that is held out
    double own_s = 0.0;      // by constants that saw the other half
    double left_out_s = 0.0; // by constants that have not seen rows of left_with
    std::string mapping;     // of own_s
    std::string limiter;     // of own_s
    // What a learned model may be given: work, and the machine's data sheet.
    double naive_s = 0.0, flops = 0.0, bytes = 0.0;
    double peak_flops_per_s = 0.0, dram_bytes_per_s = 0.0, l2_bytes = 0.0, clock_hz = 0.0;
    int sms = 0;

    bool operator==(const CrossRow&) const = default;
};

struct CrossValidation {
    LeaveOut leave_out = LeaveOut::architecture; // of groups and means
    std::vector<CrossGroup> groups;              // by op, dtype, direction, gpu
    std::vector<CrossGroup> means; // over the GPUs, each counted once; gpu is how many
    std::vector<CrossRow> rows;    // by class, GPU and line
    // Constants by GPU: that have not seen it, and that saw half of its shapes (classes it was not
    // measured in are carried over). Each class with its error band, range and source.
    std::map<std::string, model::GpuCalibration> left_out, held_out;
    model::GpuCalibration carried_over; // fitted on all GPUs together
    // Likewise on AMD's, on those without matrix cores and with them.
    std::array<model::GpuCalibration, 2> carried_over_amd;
    std::vector<LeftOut> also;          // as CrossValidateOptions::also
    std::vector<BindingRow> bindings;   // of the rows; the grid is grid_bindings'
    std::vector<AblationRow> ablations; // where the options ask for them
    std::vector<LeaderRow> leaders;     // by class, GPU, source and kind

    bool operator==(const CrossValidation&) const = default;
};

// The standard grid: products of 16 to 8192 rows by 256 to 16384 columns and depths, and matrices
// of 1 to 16384 rows by 64 to 16384 elements, on every GPU of the catalog.
std::vector<BindingRow> grid_bindings(const std::map<std::string, model::Gpu>& catalog);
std::string bindings_text(const std::vector<BindingRow>& bindings);
std::string ablations_text(const std::vector<AblationRow>& ablations); // "" where there are none

// Shapes, not rows, are split in two halves, so that a shape measured twice stays on one side; the
// halves follow from a hash of the shape. Fits start from round textbook values that no data chose;
// the clock of a GPU left out follows from its power limit. Errors: the machines', "not-a-gpu",
// those of the rows, "too-few-rows", "cancelled".
Result<CrossValidation> cross_validate(const std::vector<MeasuredLayer>& rows,
                                       const MachineSource& machines,
                                       const CrossValidateOptions& options,
                                       std::stop_token stop = {},
                                       const ProgressCallback& progress = {});

// The terms and the record of one class.
void take_class(const model::GpuCalibration& from, model::KernelClass c, model::GpuCalibration& to);

// Calibration files by name: "carried-over", common to all GPUs; for every GPU of the catalog with
// a die that was measured, and those in `also`, its own by id, and under "left-out/<id>" constants
// that have not seen it.
std::map<std::string, model::GpuCalibration>
calibration_files(const CrossValidation& result, const std::map<std::string, model::Gpu>& catalog,
                  const std::set<std::string>& also = {});

} // namespace eyeroof::analysis
