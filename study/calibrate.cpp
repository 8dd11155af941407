#include "study/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace eyeroof::study {

using model::GpuCalibration;
using model::KernelClass;
using model::Result;

namespace {

constexpr std::size_t kFewestRows = 20;
constexpr double kFirstStep = 0.4; // of the pattern search, in ln
constexpr double kLowTail = 0.1;   // of the 80 % interval

struct Row {
    const model::Layer* layer;
    model::Work work;
    double measured_s;
};

struct Split {
    std::vector<Row> fit, held;
};

// Constants that are shares keep below one; the others within a factor of a hundred of the start.
double clamped(const std::string& name, double value, double start) {
    const bool share = name == "peak_share" || name == "dram_share" || name == "sustained_clock" ||
                       name == "transform_share" || name == "fused_share";
    return std::clamp(value, start / 100.0, share ? 1.0 : start * 100.0);
}

double time_of(const model::Gpu& gpu, const Row& row, model::Launch launch) {
    const auto kernel = model::kernel_of(gpu, *row.layer, row.work);
    return kernel ? model::with_launch(gpu, *row.layer, *kernel, launch) : 0.0;
}

double mean_log(const model::Gpu& gpu, const std::vector<Row>& rows, model::Launch launch) {
    double sum = 0.0;
    for (const Row& row : rows) {
        sum += std::fabs(std::log(time_of(gpu, row, launch) / row.measured_s));
    }
    return sum / static_cast<double>(rows.size());
}

std::vector<double> ratios(const model::Gpu& gpu, const std::vector<Row>& rows,
                           model::Launch launch) {
    std::vector<double> all;
    for (const Row& row : rows) {
        all.push_back(row.measured_s / time_of(gpu, row, launch));
    }
    std::sort(all.begin(), all.end());
    return all;
}

double mape(const std::vector<double>& measured_over_predicted) {
    double sum = 0.0;
    for (const double ratio : measured_over_predicted) {
        sum += std::fabs(1.0 / ratio - 1.0);
    }
    return sum / static_cast<double>(measured_over_predicted.size());
}

double median_error(const std::vector<double>& measured_over_predicted) {
    std::vector<double> errors;
    for (const double ratio : measured_over_predicted) {
        errors.push_back(std::fabs(1.0 / ratio - 1.0));
    }
    const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
    std::nth_element(errors.begin(), middle, errors.end());
    return *middle;
}

struct Knob {
    std::string name;
    double* value;
    double start;
};

// Moves each constant up or down while that lowers the cost; halves the step when none does.
class PatternSearch {
  public:
    PatternSearch(model::Gpu& gpu, const std::vector<Row>& rows, std::vector<Knob> knobs,
                  const CalibrateOptions& options)
        : gpu_(gpu), rows_(rows), knobs_(std::move(knobs)), options_(options) {}

    void run(const std::stop_token& stop) {
        double best = cost();
        double step = kFirstStep;
        for (int round = 0; round < options_.rounds && !stop.stop_requested(); ++round) {
            bool moved = false;
            for (Knob& knob : knobs_) {
                moved = try_knob(knob, step, best) || moved;
            }
            step *= moved ? 1.0 : 0.5;
        }
    }

  private:
    bool try_knob(Knob& knob, double step, double& best) {
        const double at = *knob.value;
        for (const double factor : {std::exp(step), std::exp(-step)}) {
            *knob.value = clamped(knob.name, at * factor, knob.start);
            if (const double c = cost(); c < best) {
                best = c;
                return true;
            }
        }
        *knob.value = at;
        return false;
    }

    double cost() const {
        double pull = 0.0;
        for (const Knob& knob : knobs_) {
            const double moved = std::log(*knob.value / knob.start);
            pull += moved * moved;
        }
        return mean_log(gpu_, rows_, options_.launch) +
               options_.pull * pull / static_cast<double>(knobs_.size());
    }

    model::Gpu& gpu_;
    const std::vector<Row>& rows_;
    std::vector<Knob> knobs_;
    const CalibrateOptions& options_;
};

std::vector<Knob> knobs_of(model::Gpu& gpu, KernelClass c, model::Launch launch) {
    std::vector<Knob> knobs;
    for (const auto& [name, value] : model::calibration_terms(gpu.calibration, c)) {
        if (*value > 0.0) {
            knobs.push_back({name, value, *value});
        }
    }
    double& launch_s = gpu.calibration.record(c).launch[static_cast<std::size_t>(launch)];
    if (launch_s > 0.0) {
        knobs.push_back({"launch", &launch_s, launch_s});
    }
    return knobs;
}

void set_record(const std::vector<double>& held, const std::vector<Row>& rows,
                const CalibrateOptions& options, model::ClassRecord& record) {
    const auto at = [&](double q) {
        return held[static_cast<std::size_t>(q * static_cast<double>(held.size() - 1))];
    };
    record.band.low = std::min(at(kLowTail), 0.999);
    record.band.high = std::max(at(1.0 - kLowTail), 1.001);
    record.band.mape = mape(held);
    record.band.median = median_error(held);
    record.band.rows = static_cast<int>(held.size());
    record.band.basis = "held-out rows of " + options.source;
    record.measured = true;
    record.provenance = {options.source, model::Confidence::fitted};
    record.domain = {1e30, 0.0, 1e30, 0.0};
    for (const Row& row : rows) {
        const auto flops = static_cast<double>(row.work.flops);
        const auto bytes = static_cast<double>(row.work.bytes());
        record.domain.flops_low = std::min(record.domain.flops_low, flops);
        record.domain.flops_high = std::max(record.domain.flops_high, flops);
        record.domain.bytes_low = std::min(record.domain.bytes_low, bytes);
        record.domain.bytes_high = std::max(record.domain.bytes_high, bytes);
    }
}

FittedClass fit_class(model::Gpu& gpu, KernelClass c, const Split& split,
                      const CalibrateOptions& options, const std::stop_token& stop) {
    FittedClass fitted{c, static_cast<int>(split.fit.size()), 0.0, 0.0, 0.0};
    fitted.before = mape(ratios(gpu, split.held, options.launch));
    PatternSearch(gpu, split.fit, knobs_of(gpu, c, options.launch), options).run(stop);
    fitted.fitted = mape(ratios(gpu, split.fit, options.launch));
    const std::vector<double> held = ratios(gpu, split.held, options.launch);
    fitted.held_out = mape(held);
    set_record(held, split.fit, options, gpu.calibration.record(c));
    return fitted;
}

// Every second row is held out; of the others at most `most`, evenly picked.
Split split_rows(std::vector<Row> rows, std::size_t most) {
    Split split;
    std::vector<Row> fit;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        (i % 2 == 0 ? fit : split.held).push_back(std::move(rows[i]));
    }
    const std::size_t stride = std::max<std::size_t>(1, (fit.size() + most - 1) / most);
    for (std::size_t i = 0; i < fit.size(); i += stride) {
        split.fit.push_back(std::move(fit[i]));
    }
    return split;
}

} // namespace

Result<Calibrated> calibrate(const model::Gpu& gpu, const std::vector<MeasuredLayer>& rows,
                             const CalibrateOptions& options, std::stop_token stop) {
    std::array<std::vector<Row>, model::kKernelClasses> by_class;
    model::Diagnostics found;
    for (const MeasuredLayer& row : rows) {
        auto work = model::work_of(row.layer);
        const auto kernel = work ? model::kernel_of(gpu, row.layer, *work)
                                 : Result<model::KernelChoice>(work.diagnostics());
        if (!kernel) {
            found.append(kernel.diagnostics());
            continue;
        }
        by_class[static_cast<std::size_t>(kernel->kernel_class)].push_back(
            {&row.layer, std::move(*work), row.measured_s});
    }
    model::Gpu working = gpu;
    Calibrated result;
    for (std::size_t i = 0; i < by_class.size() && !found.has_errors(); ++i) {
        const auto c = static_cast<KernelClass>(i);
        if (by_class[i].empty()) {
            continue;
        }
        if (by_class[i].size() < kFewestRows) {
            found.error("too-few-rows",
                        fmt::format("{} has {} rows, a fit needs {}", kernel_class_name(c),
                                    by_class[i].size(), kFewestRows));
            continue;
        }
        const Split split = split_rows(std::move(by_class[i]), options.rows);
        result.classes.push_back(fit_class(working, c, split, options, stop));
    }
    if (found.has_errors()) {
        return found;
    }
    result.calibration = working.calibration;
    return result;
}

Result<GpuCalibration> calibrate_sustained(const model::Gpu& gpu, model::DataType type,
                                           double flops_per_s) {
    const model::Rate& rate = gpu.rate(type);
    const double share = rate.flops_per_s > 0.0 ? flops_per_s / rate.flops_per_s : 0.0;
    if (!(share >= 0.01 && share <= 1.0)) {
        return Result<GpuCalibration>::failure(
            "bad-rate", "a sustained rate lies between 1 % and 100 % of the data sheet's peak");
    }
    GpuCalibration c = gpu.calibration;
    const auto clock = [&](const model::MatmulTerms& terms) {
        return std::clamp(share / terms.peak_share, 0.01, 1.0);
    };
    if (rate.pipe == model::Pipe::tensor) {
        c.tensor_gemm.sustained_clock = clock(c.tensor_gemm);
        c.tensor_conv.matmul.sustained_clock = clock(c.tensor_gemm);
    } else {
        c.linear.sustained_clock = clock(c.linear);
        c.batched.sustained_clock = clock(c.batched);
        c.conv.matmul.sustained_clock = clock(c.linear);
    }
    return c;
}

} // namespace eyeroof::study
