#include "analysis/calibrate/fit.hpp"

#include "base/statistics.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>

namespace eyeroof::analysis {

using model::KernelClass;

namespace {

constexpr double kFirstStep = 0.08;  // of one constant alone, in ln
constexpr double kLastStep = 0.01;   // below it the search is over
constexpr double kSlopeStep = 0.04;  // ln, of a difference quotient
constexpr double kLongestStep = 0.7; // ln, of a constant at once
constexpr double kNear = 0.02;       // ln: nearer rows pull in proportion
constexpr double kConverged = 2e-4;  // of the cost
constexpr double kFirstDamping = 1e-2, kMostDamping = 1e4, kMoreDamping = 4.0, kLessDamping = 8.0;
constexpr const char* kOwnClock = "sustained_clock"; // never common to several GPUs
constexpr double kSettledS = 1e-3;                   // kernels by whose end the clock has settled
// ln: a row that lies further off has another mechanism than the terms, and says nothing of them.
constexpr double kFarOff = 1.0;
constexpr int kFewestSettled = 5;    // of them to tell a GPU's own clock
constexpr double kFewGpusPull = 3.0; // on 8-bit terms that several GPUs share

struct FitTerm {
    std::string name;
    std::vector<double*> values; // of every GPU
    double start;
    double most = INFINITY; // beyond the bound of its name

    double value() const { return *values.front(); }

    // Within what the name allows, and a factor of a hundred of the start.
    double clamped(double wanted) const {
        const model::TermBound bound = model::term_bound(name);
        const double low = std::max(bound.low, start / 100.0);
        return std::clamp(wanted, low, std::max(low, std::min({bound.high, start * 100.0, most})));
    }
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
bool moves_a_row(const FitTerm& parameter, const std::vector<model::Gpu>& gpus,
                 const std::vector<FitRow>& rows, const std::vector<double>& times) {
    constexpr double kFar = 2.0;
    const double at = parameter.value();
    bool moves = false;
    for (const double factor : {kFar, 1.0 / kFar}) {
        parameter.set(at * factor);
        for (std::size_t i = 0; i < rows.size() && !moves; ++i) {
            moves = modelled_s(gpus[rows[i].gpu], rows[i]) != times[i];
        }
    }
    parameter.set(at);
    return moves;
}

void keep_moving(std::vector<FitTerm>& parameters, const std::vector<model::Gpu>& gpus,
                 const std::vector<FitRow>& rows) {
    std::vector<double> times;
    for (const FitRow& row : rows) {
        times.push_back(modelled_s(gpus[row.gpu], row));
    }
    parameters.erase(
        std::remove_if(parameters.begin(), parameters.end(),
                       [&](const FitTerm& k) { return !moves_a_row(k, gpus, rows, times); }),
        parameters.end());
}

std::set<model::Timing> modes_of(const std::vector<FitRow>& rows) {
    std::set<model::Timing> modes;
    for (const FitRow& row : rows) {
        modes.insert(row.timing);
    }
    return modes;
}

// The time that hardly a row of one GPU undercuts: what a launch there takes at most, at the clock
// that launches are kept at. Nothing where there are several GPUs, or no such rows.
double shortest_s(const std::vector<model::Gpu>& gpus, const std::vector<FitRow>& rows,
                  model::Timing mode) {
    constexpr double kUndercut = 0.01;
    std::vector<double> times;
    for (const FitRow& row : rows) {
        if (row.timing == mode) {
            times.push_back(row.measured_s);
        }
    }
    if (gpus.size() > 1 || times.empty()) {
        return INFINITY;
    }
    std::sort(times.begin(), times.end());
    const bool of_gpu = mode == model::Timing::kernel || mode == model::Timing::graph;
    const double clock = of_gpu ? gpus.front().boost_hz / model::kReferenceHz : 1.0;
    const double at = kUndercut * static_cast<double>(times.size());
    return clock * times[static_cast<std::size_t>(at)];
}

std::vector<FitTerm> parameters_of(std::vector<model::Gpu>& gpus, KernelClass c,
                                   const std::vector<FitRow>& rows, bool own_clock,
                                   bool keep_starts) {
    std::vector<FitTerm> parameters;
    const auto add = [&](const std::string& name, std::vector<double*> values,
                         double most = INFINITY) {
        FitTerm parameter{name, std::move(values), 0.0, most};
        parameter.start = parameter.value();
        if (parameter.start > 0.0) {
            parameter.set(parameter.clamped(parameter.start));
            parameters.push_back(std::move(parameter));
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
    for (const model::Timing mode : modes_of(rows)) {
        std::vector<double*> values;
        for (model::Gpu& gpu : gpus) {
            values.push_back(&gpu.calibration.record(c).launch[static_cast<std::size_t>(mode)]);
        }
        add("launch_" + std::string(model::timing_name(mode)), std::move(values),
            shortest_s(gpus, rows, mode));
    }
    return parameters;
}

// The normal equations of one step: left x = right.
struct NormalEquations {
    Eigen::MatrixXd left;
    Eigen::VectorXd right;
};

// Levenberg and Marquardt's step. An unknown that no equation holds stays 0, as LDLT leaves it.
Eigen::VectorXd damped_step(const NormalEquations& equations, double damping) {
    Eigen::MatrixXd left = equations.left;
    left.diagonal() *= 1.0 + damping;
    return left.ldlt().solve(equations.right);
}

// Damped least squares on the logarithms of the constants, each row weighted by what its error's
// absolute value is worth beside the square (iteratively reweighted, so that far rows pull no more
// than near ones); then each constant alone up or down while that lowers the cost, across the kinks
// where the library's choice of a tile changes.
class Search {
  public:
    Search(std::vector<model::Gpu>& gpus, const std::vector<FitRow>& rows,
           std::vector<FitTerm> parameters, const FitOptions& options)
        : gpus_(gpus), rows_(rows), parameters_(std::move(parameters)), options_(options) {
        keep_moving(parameters_, gpus_, rows_);
        std::map<std::size_t, std::map<std::string, double>> counts;
        for (const FitRow& row : rows) {
            counts[row.gpu][row.kind()] += row.weight;
        }
        for (const FitRow& row : rows) {
            const auto& kinds = counts.at(row.gpu);
            weights_.push_back(row.weight / (kinds.at(row.kind()) *
                                             static_cast<double>(kinds.size() * counts.size())));
        }
        const std::string kind = most_measured(counts);
        for (const FitRow& row : rows) {
            tells_offset_.push_back(row.kind() == kind);
        }
    }

    void run(const std::stop_token& stop) {
        if (!parameters_.empty()) {
            descend(stop);
            polish(stop);
        }
    }

  private:
    void descend(const std::stop_token& stop) {
        double damping = kFirstDamping;
        double best = cost_of(residuals());
        for (int round = 0; round < options_.rounds && damping < kMostDamping; ++round) {
            const std::vector<double> at = residuals();
            const NormalEquations sums = normal_equations(at, stop);
            if (stop.stop_requested()) {
                return;
            }
            const double before = best;
            while (!improves(sums, damping, best) && damping < kMostDamping) {
                damping *= kMoreDamping;
            }
            damping /= kLessDamping;
            if (before - best < kConverged * before) {
                return;
            }
        }
    }

    void polish(const std::stop_token& stop) {
        double best = cost_of(residuals());
        double step = kFirstStep;
        for (int round = 0; round < options_.rounds && step > kLastStep; ++round) {
            for (FitTerm& parameter : parameters_) {
                if (stop.stop_requested()) {
                    return;
                }
                try_parameter(parameter, step, best);
            }
            step *= 0.5;
        }
    }

    void try_parameter(FitTerm& parameter, double step, double& best) {
        const double at = parameter.value();
        for (const double factor : {std::exp(step), std::exp(-step)}) {
            parameter.set(parameter.clamped(at * factor));
            if (const double c = cost_of(residuals()); c < best) {
                best = c;
                return;
            }
        }
        parameter.set(at);
    }

    // How strongly a constant is drawn to its start, of the square of the distance in ln.
    double pull_of(const FitTerm& parameter) const {
        const double spread = model::term_bound(parameter.name).spread;
        return options_.pull / (spread * spread * static_cast<double>(parameters_.size()));
    }

    NormalEquations normal_equations(const std::vector<double>& at, const std::stop_token& stop) {
        const auto rows = static_cast<Eigen::Index>(at.size());
        const auto unknowns = static_cast<Eigen::Index>(parameters_.size());
        Eigen::MatrixXd slopes(rows, unknowns);
        for (Eigen::Index a = 0; a < unknowns; ++a) {
            if (stop.stop_requested()) {
                return NormalEquations{};
            }
            const std::vector<double> slope = slopes_of(parameters_[std::size_t(a)], at);
            slopes.col(a) = Eigen::Map<const Eigen::VectorXd>(slope.data(), rows);
        }
        Eigen::VectorXd weights(rows);
        for (Eigen::Index i = 0; i < rows; ++i) {
            const double off = std::fabs(at[std::size_t(i)]);
            weights[i] = off < kFarOff ? weights_[std::size_t(i)] / std::max(off, kNear) : 0.0;
        }
        const Eigen::Map<const Eigen::VectorXd> residual(at.data(), rows);
        const Eigen::MatrixXd weighted = weights.asDiagonal() * slopes;
        NormalEquations sums{slopes.transpose() * weighted, -weighted.transpose() * residual};
        for (Eigen::Index a = 0; a < unknowns; ++a) {
            const FitTerm& term = parameters_[std::size_t(a)];
            const double pull = 2.0 * pull_of(term);
            sums.left(a, a) += pull;
            sums.right[a] -= pull * std::log(term.value() / term.start);
        }
        return sums;
    }

    // Of every row's residual, for a factor of e on the constant.
    std::vector<double> slopes_of(FitTerm& parameter, const std::vector<double>& at) {
        const double value = parameter.value();
        double moved = parameter.clamped(value * std::exp(kSlopeStep));
        if (std::log(moved / value) < kSlopeStep / 2.0) { // at its bound
            moved = value * std::exp(-kSlopeStep);
        }
        parameter.set(moved);
        std::vector<double> slopes = residuals();
        parameter.set(value);
        const double step = std::log(moved / value);
        for (std::size_t i = 0; i < slopes.size(); ++i) {
            slopes[i] = (slopes[i] - at[i]) / step;
        }
        return slopes;
    }

    bool improves(const NormalEquations& sums, double damping, double& best) {
        const Eigen::VectorXd step = damped_step(sums, damping);
        std::vector<double> before;
        for (std::size_t a = 0; a < parameters_.size(); ++a) {
            before.push_back(parameters_[a].value());
            const double by =
                std::clamp(step[static_cast<Eigen::Index>(a)], -kLongestStep, kLongestStep);
            parameters_[a].set(parameters_[a].clamped(before[a] * std::exp(by)));
        }
        if (const double c = cost_of(residuals()); c < best) {
            best = c;
            return true;
        }
        for (std::size_t a = 0; a < parameters_.size(); ++a) {
            parameters_[a].set(before[a]);
        }
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

    // ln(predicted / measured) of every row, less the GPU's own offset.
    std::vector<double> residuals() const {
        std::vector<double> logs;
        logs.reserve(rows_.size());
        for (const FitRow& row : rows_) {
            logs.push_back(std::log(modelled_s(gpus_[row.gpu], row) / row.measured_s));
        }
        const std::vector<double> own = offsets(logs);
        for (std::size_t i = 0; i < logs.size(); ++i) {
            logs[i] -= own[rows_[i].gpu];
        }
        return logs;
    }

    double cost_of(const std::vector<double>& residuals) const {
        double cost = 0.0;
        for (const FitTerm& parameter : parameters_) {
            const double moved = std::log(parameter.value() / parameter.start);
            cost += pull_of(parameter) * moved * moved;
        }
        for (std::size_t i = 0; i < residuals.size(); ++i) {
            cost += weights_[i] * std::min(std::fabs(residuals[i]), kFarOff);
        }
        return cost;
    }

    std::vector<model::Gpu>& gpus_;
    const std::vector<FitRow>& rows_;
    std::vector<FitTerm> parameters_;
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
        Search(gpus, rows,
               parameters_of(gpus, kernel_class, rows, tells_clock(rows), options.keep_starts),
               options)
            .run(stop);
        return;
    }
    std::vector<FitTerm> common =
        parameters_of(gpus, kernel_class, plain, tells_clock(plain), options.keep_starts);
    std::vector<FitTerm> own = parameters_of(gpus, kernel_class, {}, false, options.keep_starts);
    common.erase(std::remove_if(common.begin(), common.end(),
                                [](const FitTerm& k) { return is_byte_term(k.name); }),
                 common.end());
    own.erase(std::remove_if(own.begin(), own.end(),
                             [](const FitTerm& k) { return !is_byte_term(k.name); }),
              own.end());
    Search(gpus, plain, std::move(common), options).run(stop);
    FitOptions few = options; // three GPUs serve them: each would draw the constants its way
    few.pull *= gpus.size() > 1 ? kFewGpusPull : 1.0;
    Search(gpus, bytes, std::move(own), few).run(stop);
}

} // namespace eyeroof::analysis
