// Fits the constants of one class of kernels to measured times.
#pragma once

#include "model/gpu/predict.hpp"
#include "model/machine/machine.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct FitRow {
    const model::Layer* layer = nullptr;
    model::Work work;
    double measured_s = 0.0;
    model::Timing timing = model::Timing::kernel;
    std::size_t gpu = 0; // index into the GPUs of the fit
    model::Software software = {};
    double weight = 1.0; // beside the other rows of its GPU and kind

    // The group by which errors are reported: see model::row_kind.
    std::string kind() const { return model::row_kind(*layer, software, timing); }
};

// Start-up latency depends on the library's kernels and on the driver. The few large convolutions
// of one GPU hardly depend on it and would confuse it with their own cost. A fit to them would make
// that GPU look faster in small layers than one without rows.
bool is_start(const std::string& name, model::KernelClass c);

struct FitOptions {
    double pull = 0.02; // cost of moving a constant by a factor of e from where it was
    int rounds = 12;    // of the pattern search
    // With several GPUs: share of what each lies off the others, by the median row of the kind that
    // the most of them were measured in, that is the GPU's own and that common constants shall not
    // explain. 0: the constants must explain all of it.
    double own_offset = 0.0;
    // What a kernel waits for before its pipes are full stays as it was: see is_start.
    bool keep_starts = false;
};

// The time that the model gives a row now, seconds; 0 where the GPU cannot run it.
double modelled_s(const model::Gpu& gpu, const FitRow& row);

// measured / predicted of every row, ascending.
std::vector<double> ratios_of(const std::vector<model::Gpu>& gpus, const std::vector<FitRow>& rows);

// Mean |predicted / measured - 1| and its median, of ratios measured / predicted.
double mape_of(const std::vector<double>& measured_over_predicted);
double median_error_of(const std::vector<double>& measured_over_predicted);

// Minimises, over the GPUs, the mean of mean |ln(predicted / measured) - offset|, each GPU counted
// once, and of a GPU each model::row_kind once, plus pull mean (ln change)^2, by damped least
// squares in the logarithms of the constants (Marquardt, SIAM 11, 1963). All GPUs keep common
// constants: those of the first are the start. The clock under power stays each GPU's own where
// there are several, and is fitted where there is one. The launch costs of the modes that the rows
// name are among the constants. Constants that are zero are switched off and stay so.
void fit_class(std::vector<model::Gpu>& gpus, model::KernelClass kernel_class,
               const std::vector<FitRow>& rows, const FitOptions& options,
               const std::stop_token& stop);

} // namespace eyeroof::analysis
