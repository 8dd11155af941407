#include "analysis/calibrate/calibrate.hpp"

#include "analysis/calibrate/error_bands.hpp"
#include "analysis/calibrate/splits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace eyeroof::analysis {

using model::GpuCalibration;
using model::KernelClass;

namespace {

constexpr std::size_t kFewestRows = 20;
constexpr std::size_t kFewestOfHalf = 5;

struct Split {
    std::vector<FitRow> fit, held;
};

model::ErrorBand error_band(const std::vector<double>& held, const std::string& basis) {
    const Band band = band_of(held);
    return {std::min(band.low, 0.999), std::max(band.high, 1.001),    mape_of(held),
            median_error_of(held),     static_cast<int>(held.size()), basis};
}

// Errors of the class, and of each kind of row in it.
void set_bands(const std::vector<model::Gpu>& gpus, const std::vector<FitRow>& held,
               const std::string& source, model::ClassRecord& record) {
    std::map<std::string, std::vector<FitRow>> kinds;
    for (const FitRow& row : held) {
        kinds[row.kind()].push_back(row);
    }
    record.band = error_band(ratios_of(gpus, held), "held-out rows of " + source);
    record.kinds.clear();
    for (const auto& [kind, rows] : kinds) {
        record.kinds[kind] =
            error_band(ratios_of(gpus, rows), "held-out " + kind + " of " + source);
    }
}

void set_record(const std::vector<FitRow>& rows, const CalibrateOptions& options,
                model::ClassRecord& record) {
    record.measured = true;
    record.provenance = {options.source, Confidence::fitted};
    record.domain = {1e30, 0.0, 1e30, 0.0};
    for (const FitRow& row : rows) {
        const auto flops = static_cast<double>(row.work.flops);
        const auto bytes = static_cast<double>(row.work.bytes());
        record.domain.flops_low = std::min(record.domain.flops_low, flops);
        record.domain.flops_high = std::max(record.domain.flops_high, flops);
        record.domain.bytes_low = std::min(record.domain.bytes_low, bytes);
        record.domain.bytes_high = std::max(record.domain.bytes_high, bytes);
    }
}

FittedClass fit_one(model::Gpu& gpu, KernelClass c, const Split& split,
                    const CalibrateOptions& options, const std::stop_token& stop) {
    FittedClass fitted{c, static_cast<int>(split.fit.size()), 0.0, 0.0, 0.0};
    std::vector<model::Gpu> gpus = {gpu};
    fitted.before = mape_of(ratios_of(gpus, split.held));
    fit_class(gpus, c, split.fit, {options.pull, options.rounds}, stop);
    fitted.fitted = mape_of(ratios_of(gpus, split.fit));
    fitted.held_out = mape_of(ratios_of(gpus, split.held));
    set_bands(gpus, split.held, options.source, gpus.front().calibration.record(c));
    gpu = std::move(gpus.front());
    set_record(split.fit, options, gpu.calibration.record(c));
    return fitted;
}

// Half of the shapes is held out; of the others at most `most` rows, evenly picked.
Split split_rows(std::vector<FitRow> rows, std::size_t most) {
    Split split;
    std::vector<FitRow> fit;
    for (FitRow& row : rows) {
        (is_held_out(*row.layer) ? split.held : fit).push_back(std::move(row));
    }
    const std::size_t stride = std::max<std::size_t>(1, (fit.size() + most - 1) / most);
    for (std::size_t i = 0; i < fit.size(); i += stride) {
        split.fit.push_back(std::move(fit[i]));
    }
    return split;
}

using RowsByClass = std::array<std::vector<FitRow>, model::kKernelClasses>;

void sort_in(const MeasuredLayer& row, const model::Gpu& gpu, std::size_t index,
             model::Timing of_rows, RowsByClass& by_class, Diagnostics& found) {
    auto work = model::work_of(row.layer);
    const auto kernel = work ? model::kernel_of(gpu, row.layer, *work)
                             : Result<model::KernelChoice>(work.diagnostics());
    if (!kernel) {
        found.append(kernel.diagnostics());
        return;
    }
    const model::Timing timing = row.timing.value_or(of_rows);
    by_class[static_cast<std::size_t>(kernel->kernel_class)].push_back(
        {&row.layer, std::move(*work), row.measured_s, timing, index,
         without_served(software_of(row, gpu, timing)), row.weight});
}

} // namespace

Result<Calibrated> calibrate(const model::Gpu& gpu, const std::vector<MeasuredLayer>& rows,
                             const CalibrateOptions& options, std::stop_token stop) {
    RowsByClass by_class;
    Diagnostics found;
    for (const MeasuredLayer& row : rows) {
        sort_in(row, gpu, 0, options.timing, by_class, found);
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
                                    by_class[i].size(), kFewestRows),
                        "measure more layers of this kind, or remove these rows from the table");
            continue;
        }
        const Split split = split_rows(std::move(by_class[i]), options.rows);
        if (std::min(split.fit.size(), split.held.size()) < kFewestOfHalf) {
            found.error("too-few-shapes",
                        fmt::format("{}: {} rows have shapes to fit and {} shapes to hold out",
                                    kernel_class_name(c), split.fit.size(), split.held.size()),
                        "measure more shapes; rows of one shape fall on one side");
            continue;
        }
        result.classes.push_back(fit_one(working, c, split, options, stop));
    }
    if (found.has_errors()) {
        return found;
    }
    result.calibration = working.calibration;
    return result;
}

Result<Calibrated> calibrate_together(const std::vector<MeasuredLayer>& rows,
                                      const MachineSource& machines, model::Timing timing,
                                      const FitOptions& options, const std::stop_token& stop) {
    RowsByClass by_class;
    Diagnostics found;
    std::vector<model::Gpu> gpus;
    std::map<std::string, std::size_t> known;
    for (const MeasuredLayer& row : rows) {
        const auto [at, is_new] = known.try_emplace(row.gpu, gpus.size());
        if (is_new) {
            const auto machine = machines(row.gpu);
            const auto* gpu = machine ? std::get_if<model::Gpu>(&machine->kind) : nullptr;
            if (gpu == nullptr) {
                return machine
                           ? Result<Calibrated>::failure("not-a-gpu", "'" + row.gpu + "' is no GPU",
                                                         "`eyeroof hw list` names the GPUs")
                           : Result<Calibrated>(machine.diagnostics());
            }
            gpus.push_back(*gpu);
        }
        sort_in(row, gpus[at->second], at->second, timing, by_class, found);
    }
    if (found.has_errors()) {
        return found;
    }
    Calibrated result;
    for (std::size_t i = 0; i < by_class.size(); ++i) {
        if (const std::vector<FitRow>& of = by_class[i]; !of.empty()) {
            const double before = mape_of(ratios_of(gpus, of));
            fit_class(gpus, static_cast<KernelClass>(i), of, options, stop);
            const double after = mape_of(ratios_of(gpus, of));
            result.classes.push_back(
                {static_cast<KernelClass>(i), static_cast<int>(of.size()), before, after, 0.0});
        }
    }
    result.calibration = gpus.empty() ? GpuCalibration{} : gpus.front().calibration;
    return result;
}

Result<Calibrated> calibrate_sustained(const model::Gpu& gpu, model::DataType type,
                                       double flops_per_s, const std::string& source) {
    const model::Rate& rate = gpu.rate(type);
    const double share = rate.flops_per_s > 0.0 ? flops_per_s / rate.flops_per_s : 0.0;
    if (!(share >= 0.01 && share <= 1.0)) {
        return Result<Calibrated>::failure(
            "bad-rate", "a sustained rate lies between 1 % and 100 % of the data sheet's peak",
            "is it in FLOP/s, as in --sustained '100 TFLOP/s'?");
    }
    Calibrated result{gpu.calibration, {}};
    GpuCalibration& c = result.calibration;
    const auto clock = [&](const model::MatmulTerms& terms) {
        return std::clamp(share / terms.peak_share, 0.01, 1.0);
    };
    const auto give = [&](KernelClass kernel_class, model::MatmulTerms& terms, double value) {
        terms.sustained_clock = value;
        Provenance& from = c.record(kernel_class).provenance;
        from = {from.source.empty() ? source : from.source + "; the clock: " + source,
                Confidence::user};
        result.classes.push_back({kernel_class, 0, 0.0, 0.0, 0.0});
    };
    if (rate.pipe == model::Pipe::tensor) {
        give(KernelClass::tensor_gemm, c.tensor_gemm, clock(c.tensor_gemm));
        give(KernelClass::tensor_conv, c.tensor_conv.matmul, clock(c.tensor_gemm));
    } else {
        give(KernelClass::linear, c.linear, clock(c.linear));
        give(KernelClass::batched, c.batched, clock(c.batched));
        give(KernelClass::conv, c.conv.matmul, clock(c.linear));
    }
    return result;
}

} // namespace eyeroof::analysis
