#include "analysis/calibrate/fit.hpp"

#include "base/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>

namespace eyeroof::analysis {

using model::KernelClass;

namespace {

constexpr double kFirstStep = 0.4;                   // of the pattern search, in ln
constexpr double kLastStep = 0.01;                   // below it the search is over
constexpr const char* kOwnClock = "sustained_clock"; // never common to several GPUs
constexpr double kSettledS = 1e-3;                   // kernels by whose end the clock has settled
// ln: a row that lies further off has another mechanism than the terms, and says nothing of them.
constexpr double kFarOff = 1.0;
constexpr int kFewestSettled = 5; // of them to tell a GPU's own clock

// Within what the name allows, and a factor of a hundred of the start.
double clamped(const std::string& name, double value, double start) {
    const model::TermBound bound = model::term_bound(name);
    return std::clamp(value, std::max(bound.low, start / 100.0),
                      std::min(bound.high, start * 100.0));
}

struct FitKnob {
    std::string name;
    std::vector<double*> values; // of every GPU
    double start;

    double value() const { return *values.front(); }
    void set(double value) const {
        for (double* target : values) {
            *target = value;
        }
    }
};

// What hardly any measured row waits for is not common to GPUs: the L2 for tiles of tensor cores,
// DRAM for linear layers in fp32. A GPU of its own may tell it.
bool is_hardware(const std::string& name, KernelClass c) {
    const bool tensor = c == KernelClass::tensor_gemm || c == KernelClass::tensor_conv;
    return (name == "l2_share" && tensor) || (name == "dram_share" && c == KernelClass::linear);
}

// Rows too short for the power limiter say nothing of the clock that it settles at: what a fit on
// them calls a low clock is something else, and would slow all long kernels down.
bool tells_clock(const std::vector<FitRow>& rows) {
    return std::count_if(rows.begin(), rows.end(), [](const FitRow& row) {
               return row.measured_s >= kSettledS;
           }) >= kFewestSettled;
}

// Constants that no row's time depends on are no constants of the fit.
bool moves_a_row(const FitKnob& knob, const std::vector<model::Gpu>& gpus,
                 const std::vector<FitRow>& rows, const std::vector<double>& times) {
    constexpr double kFar = 2.0;
    const double at = knob.value();
    bool moves = false;
    for (const double factor : {kFar, 1.0 / kFar}) {
        knob.set(at * factor);
        for (std::size_t i = 0; i < rows.size() && !moves; ++i) {
            moves = modelled_s(gpus[rows[i].gpu], rows[i]) != times[i];
        }
    }
    knob.set(at);
    return moves;
}

void keep_told(std::vector<FitKnob>& knobs, const std::vector<model::Gpu>& gpus,
               const std::vector<FitRow>& rows) {
    std::vector<double> times;
    for (const FitRow& row : rows) {
        times.push_back(modelled_s(gpus[row.gpu], row));
    }
    knobs.erase(
        std::remove_if(knobs.begin(), knobs.end(),
                       [&](const FitKnob& k) { return !moves_a_row(k, gpus, rows, times); }),
        knobs.end());
}

std::vector<FitKnob> knobs_of(std::vector<model::Gpu>& gpus, KernelClass c,
                              const std::set<model::Timing>& modes, bool own_clock,
                              bool keep_starts) {
    std::vector<FitKnob> knobs;
    const auto add = [&](const std::string& name, std::vector<double*> values) {
        const FitKnob knob{name, std::move(values), 0.0};
        if (knob.value() > 0.0) {
            knob.set(knob.value());
            knobs.push_back({knob.name, knob.values, knob.value()});
        }
    };
    for (const auto& [name, first] : model::calibration_terms(gpus.front().calibration, c)) {
        const bool common = gpus.size() > 1;
        if ((name == kOwnClock && (common || !own_clock)) || (common && is_hardware(name, c)) ||
            (keep_starts && is_start(name, c))) {
            continue;
        }
        std::vector<double*> values;
        for (model::Gpu& gpu : gpus) {
            values.push_back(model::calibration_terms(gpu.calibration, c).at(name));
        }
        add(name, std::move(values));
    }
    for (const model::Timing mode : modes) {
        std::vector<double*> values;
        for (model::Gpu& gpu : gpus) {
            values.push_back(&gpu.calibration.record(c).launch[static_cast<std::size_t>(mode)]);
        }
        add("launch_" + std::string(model::timing_name(mode)), std::move(values));
    }
    return knobs;
}

// Moves each constant up or down while that lowers the cost; halves the step when none does.
class PatternSearch {
  public:
    PatternSearch(std::vector<model::Gpu>& gpus, const std::vector<FitRow>& rows,
                  std::vector<FitKnob> knobs, const FitOptions& options)
        : gpus_(gpus), rows_(rows), knobs_(std::move(knobs)), options_(options) {
        keep_told(knobs_, gpus_, rows_);
        std::map<std::size_t, std::map<std::string, double>> counts;
        for (const FitRow& row : rows) {
            counts[row.gpu][row.kind()] += 1.0;
        }
        for (const FitRow& row : rows) {
            const auto& kinds = counts.at(row.gpu);
            weights_.push_back(
                1.0 / (kinds.at(row.kind()) * static_cast<double>(kinds.size() * counts.size())));
        }
        const std::string kind = most_measured(counts);
        for (const FitRow& row : rows) {
            tells_offset_.push_back(row.kind() == kind);
        }
    }

    void run(const std::stop_token& stop) {
        double best = cost();
        double step = kFirstStep;
        for (int round = 0; round < options_.rounds && step > kLastStep; ++round) {
            bool moved = false;
            for (FitKnob& knob : knobs_) {
                if (stop.stop_requested()) {
                    return;
                }
                moved = try_knob(knob, step, best) || moved;
            }
            step *= moved ? 0.9 : 0.5;
        }
    }

  private:
    bool try_knob(FitKnob& knob, double step, double& best) {
        const double at = knob.value();
        for (const double factor : {std::exp(step), std::exp(-step)}) {
            knob.set(clamped(knob.name, at * factor, knob.start));
            if (const double c = cost(); c < best) {
                best = c;
                return true;
            }
        }
        knob.set(at);
        return false;
    }

    // The kind that the most GPUs were measured in.
    static std::string
    most_measured(const std::map<std::size_t, std::map<std::string, double>>& counts) {
        std::map<std::string, int> gpus;
        for (const auto& [gpu, kinds] : counts) {
            for (const auto& [kind, rows] : kinds) {
                ++gpus[kind];
            }
        }
        const auto most =
            std::max_element(gpus.begin(), gpus.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
        return most == gpus.end() ? "" : most->first;
    }

    // FitOptions::own_offset of the distance of each GPU's median from the mean of the medians, ln.
    std::vector<double> offsets(const std::vector<double>& logs) const {
        std::vector<double> own(gpus_.size(), 0.0);
        if (gpus_.size() < 2 || options_.own_offset <= 0.0) {
            return own;
        }
        std::vector<std::vector<double>> of_gpu(gpus_.size());
        for (std::size_t i = 0; i < logs.size(); ++i) {
            if (tells_offset_[i]) {
                of_gpu[rows_[i].gpu].push_back(logs[i]);
            }
        }
        double mean = 0.0;
        double counted = 0.0;
        for (std::size_t g = 0; g < own.size(); ++g) {
            if (std::vector<double>& of = of_gpu[g]; !of.empty()) {
                const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
                std::nth_element(of.begin(), middle, of.end());
                own[g] = *middle;
                mean += *middle;
                counted += 1.0;
            }
        }
        for (std::size_t g = 0; g < own.size(); ++g) {
            own[g] = of_gpu[g].empty() ? 0.0 : options_.own_offset * (own[g] - mean / counted);
        }
        return own;
    }

    double cost() const {
        double pull = 0.0;
        for (const FitKnob& knob : knobs_) {
            const double moved = std::log(knob.value() / knob.start);
            pull += moved * moved;
        }
        std::vector<double> logs;
        logs.reserve(rows_.size());
        for (const FitRow& row : rows_) {
            logs.push_back(std::log(modelled_s(gpus_[row.gpu], row) / row.measured_s));
        }
        const std::vector<double> own = offsets(logs);
        double error = 0.0;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            error += weights_[i] * std::min(std::fabs(logs[i] - own[rows_[i].gpu]), kFarOff);
        }
        return error + options_.pull * pull / std::max(1.0, static_cast<double>(knobs_.size()));
    }

    std::vector<model::Gpu>& gpus_;
    const std::vector<FitRow>& rows_;
    std::vector<FitKnob> knobs_;
    FitOptions options_;
    std::vector<double> weights_;
    std::vector<bool> tells_offset_;
};

} // namespace

bool is_start(const std::string& name, KernelClass c) {
    return c == KernelClass::tensor_conv && (name == "layout_s" || name.starts_with("ramp_"));
}

double modelled_s(const model::Gpu& gpu, const FitRow& row) {
    const auto kernel = model::kernel_of(gpu, *row.layer, row.work, row.software);
    return kernel ? model::timed_s(gpu, *row.layer, *kernel, row.timing) : 0.0;
}

std::vector<double> ratios_of(const std::vector<model::Gpu>& gpus,
                              const std::vector<FitRow>& rows) {
    std::vector<double> all;
    for (const FitRow& row : rows) {
        all.push_back(row.measured_s / modelled_s(gpus[row.gpu], row));
    }
    std::sort(all.begin(), all.end());
    return all;
}

double mape_of(const std::vector<double>& measured_over_predicted) {
    double sum = 0.0;
    for (const double ratio : measured_over_predicted) {
        sum += std::fabs(1.0 / ratio - 1.0);
    }
    return sum / static_cast<double>(measured_over_predicted.size());
}

double median_error_of(const std::vector<double>& measured_over_predicted) {
    std::vector<double> errors;
    for (const double ratio : measured_over_predicted) {
        errors.push_back(std::fabs(1.0 / ratio - 1.0));
    }
    return median(std::move(errors));
}

namespace {

// Terms of 8-bit products alone, and the rows that tell them.
bool is_byte_term(const std::string& name) {
    return name == "fp8_share" || name == "int8_share" || name == "int8_s" ||
           name == "quantise_s" || name == "quantise_pass" || name == "cast_cycles" ||
           name == "fused_cast_s";
}

bool is_byte_row(const FitRow& row) {
    const model::DataType type = row.layer->types.input;
    const bool product = row.layer->op == model::Op::gemm || row.layer->op == model::Op::bmm;
    return product && (type == model::DataType::fp8 || type == model::DataType::int8);
}

std::set<model::Timing> modes_of(const std::vector<FitRow>& rows) {
    std::set<model::Timing> modes;
    for (const FitRow& row : rows) {
        modes.insert(row.timing);
    }
    return modes;
}

} // namespace

// 8-bit products differ by library more than by anything that the terms they share with 16-bit ones
// describe: those are fitted on the other rows first, and stay.
void fit_class(std::vector<model::Gpu>& gpus, KernelClass kernel_class,
               const std::vector<FitRow>& rows, const FitOptions& options,
               const std::stop_token& stop) {
    std::vector<FitRow> plain;
    std::vector<FitRow> bytes;
    for (const FitRow& row : rows) {
        (is_byte_row(row) ? bytes : plain).push_back(row);
    }
    if (plain.empty() || bytes.empty()) {
        PatternSearch(
            gpus, rows,
            knobs_of(gpus, kernel_class, modes_of(rows), tells_clock(rows), options.keep_starts),
            options)
            .run(stop);
        return;
    }
    std::vector<FitKnob> common =
        knobs_of(gpus, kernel_class, modes_of(plain), tells_clock(plain), options.keep_starts);
    std::vector<FitKnob> own = knobs_of(gpus, kernel_class, {}, false, options.keep_starts);
    common.erase(std::remove_if(common.begin(), common.end(),
                                [](const FitKnob& k) { return is_byte_term(k.name); }),
                 common.end());
    own.erase(std::remove_if(own.begin(), own.end(),
                             [](const FitKnob& k) { return !is_byte_term(k.name); }),
              own.end());
    PatternSearch(gpus, plain, std::move(common), options).run(stop);
    PatternSearch(gpus, bytes, std::move(own), options).run(stop);
}

} // namespace eyeroof::analysis
