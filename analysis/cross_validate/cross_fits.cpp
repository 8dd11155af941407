// The fits of a cross-validation: what they start from, see and leave out.
#include "analysis/calibrate/calibrate.hpp"
#include "analysis/cross_validate/cross_folds.hpp"
#include "base/statistics.hpp"
#include "hwdb/calibration_reader.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace eyeroof::analysis {

using model::GpuCalibration;
using model::KernelClass;

namespace {

constexpr double kLongS = 5e-4; // kernels that show a sustained rate
constexpr double kSustainedQuantile = 0.99;

// Gradients were measured on few of the GPUs that convolutions were: half of what those lie off the
// others counts as theirs, so that the gradients' constants do not take it up.
constexpr double kConvOffset = 0.5;

double own_offset(KernelClass c) {
    return c == KernelClass::conv || c == KernelClass::tensor_conv ? kConvOffset : 0.0;
}

} // namespace

bool same_die(const model::Gpu& a, const model::Gpu& b) {
    return a.arch == b.arch && a.sms == b.sms && a.fp32_lanes == b.fp32_lanes;
}

std::string name_of(const Fold& fold) {
    return fold.cases.empty() ? std::string{} : fold.cases.front().left_with;
}

void take_class(const GpuCalibration& from, KernelClass c, GpuCalibration& to) {
    GpuCalibration source = from;
    const auto terms = model::calibration_terms(source, c);
    for (const auto& [name, target] : model::calibration_terms(to, c)) {
        *target = *terms.at(name);
    }
    to.record(c) = source.record(c);
}

model::Gpu with_constants(const model::Gpu& gpu, const GpuCalibration& constants) {
    model::Gpu copy = gpu;
    hwdb::apply_calibration({"", constants, {}, {}}, copy);
    return copy;
}

namespace {

double predicted_s(const model::Gpu& gpu, const FitRow& row) {
    const auto p = model::predict(gpu, *row.layer, row.software, row.timing);
    return p ? p->time_s : modelled_s(gpu, row);
}

} // namespace

bool is_amd(const Fold& fold) {
    return fold.gpu.arch == model::GpuArch::amd;
}

Family family_of(const model::Gpu& gpu) {
    if (gpu.arch != model::GpuArch::amd) {
        return Family::others;
    }
    const bool matrix = gpu.rate(model::DataType::fp16).pipe == model::Pipe::tensor;
    return matrix ? Family::amd_matrix : Family::amd_lanes;
}

const GpuCalibration& ClassFolds::common(const model::Gpu& gpu) const {
    const Family family = family_of(gpu);
    return family == Family::others ? together : together_amd.at(static_cast<std::size_t>(family));
}

const GpuCalibration& ClassFolds::common_half(const model::Gpu& gpu) const {
    const Family family = family_of(gpu);
    return family == Family::others ? half : half_amd.at(static_cast<std::size_t>(family));
}

std::vector<Case> of_quick_sessions(const Fold& fold) {
    constexpr double kSlowSession = 1.25;
    std::map<model::Op, std::map<std::string, std::vector<double>>> ratios;
    for (const Case& c : fold.cases) {
        if (c.left_s > 0.0) {
            ratios[c.row.layer->op][c.session].push_back(c.row.measured_s / c.left_s);
        }
    }
    std::set<std::pair<model::Op, std::string>> slow;
    for (auto& [op, sessions] : ratios) {
        std::map<std::string, double> medians;
        double quickest = INFINITY;
        for (auto& [session, of] : sessions) {
            const std::size_t count = of.size();
            medians[session] = median(std::move(of));
            quickest = count >= kFewestToFit ? std::min(quickest, medians[session]) : quickest;
        }
        for (const auto& [session, median] : medians) {
            if (median > kSlowSession * quickest) {
                slow.insert({op, session});
            }
        }
    }
    std::vector<Case> quick;
    std::copy_if(fold.cases.begin(), fold.cases.end(), std::back_inserter(quick),
                 [&](const Case& c) {
                     return slow.count({c.row.layer->op, c.session}) == 0;
                 });
    return quick;
}

namespace {

// Smaller work first; rows of one shape in an order that does not depend on the table's.
bool is_before(const Case* a, const Case* b) {
    const auto key = [](const Case* c) {
        return std::tuple{c->row.work.flops, c->row.work.bytes(), std::string_view(c->source),
                          c->row.measured_s};
    };
    return key(a) < key(b);
}

// One of each of `taken` equal stretches of `from`, at a place in it that varies by the golden
// ratio: evenly spaced rows would meet one of two libraries that measured the same shapes.
std::vector<const Case*> spread_over(std::vector<const Case*> from, std::size_t taken) {
    constexpr double kGolden = 0.6180339887498949;
    std::sort(from.begin(), from.end(), is_before);
    std::vector<const Case*> some;
    for (std::size_t j = 0; j < taken; ++j) {
        const double place = static_cast<double>(j) * kGolden;
        const double at = static_cast<double>(j) + place - std::floor(place);
        const double each = static_cast<double>(from.size()) / static_cast<double>(taken);
        some.push_back(from[std::min(from.size() - 1, static_cast<std::size_t>(at * each))]);
    }
    return some;
}

} // namespace

std::vector<FitRow> picked(const std::vector<Case>& cases, bool all, std::size_t most,
                           std::size_t gpu) {
    std::map<std::tuple<std::string, model::Timing, std::string>, std::vector<const Case*>> kinds;
    for (const Case& c : cases) {
        if (all || !c.tested) {
            kinds[{c.row.kind(), c.row.timing, c.library}].push_back(&c);
        }
    }
    std::vector<std::vector<const Case*>> rarest_first;
    for (auto& [kind, rows] : kinds) {
        rarest_first.push_back(std::move(rows));
    }
    std::stable_sort(rarest_first.begin(), rarest_first.end(),
                     [](const auto& a, const auto& b) { return a.size() < b.size(); });
    std::vector<FitRow> picked_rows;
    for (std::size_t i = 0; i < rarest_first.size(); ++i) {
        const auto& from = rarest_first[i];
        const std::size_t quota = (most - picked_rows.size()) / (rarest_first.size() - i);
        const std::size_t taken = std::min(from.size(), quota);
        for (const Case* c : spread_over(from, taken)) {
            picked_rows.push_back(c->row);
            picked_rows.back().gpu = gpu;
            picked_rows.back().weight =
                std::sqrt(static_cast<double>(from.size())) / static_cast<double>(taken);
        }
    }
    return picked_rows;
}

namespace {

// The rate that the longest kernels of the GPU sustain; nothing where none is long.
std::optional<std::pair<model::DataType, double>> sustained_rate(const Fold& fold) {
    std::vector<double> rates;
    for (const Case& c : fold.cases) {
        if (c.row.measured_s >= kLongS) {
            rates.push_back(static_cast<double>(c.row.work.flops) / c.row.measured_s);
        }
    }
    if (rates.empty()) {
        return std::nullopt;
    }
    std::sort(rates.begin(), rates.end());
    const auto at =
        static_cast<std::size_t>(kSustainedQuantile * static_cast<double>(rates.size() - 1));
    const model::DataType type = fold.cases.front().row.layer->types.input;
    return std::pair{type, std::min(rates[at], fold.gpu.rate(type).flops_per_s)};
}

// The host's call beyond that of the constants, by the GPU's smallest eager operators (a tenth of
// them): the host is no part of the GPU that is left out.
double host_beyond_s(const Fold& fold, const model::Gpu& gpu) {
    std::vector<std::pair<double, double>> by_bytes;
    for (const Case& c : fold.cases) {
        if (c.row.timing == model::Timing::eager) {
            by_bytes.emplace_back(static_cast<double>(c.row.work.bytes()),
                                  c.row.measured_s - modelled_s(gpu, c.row));
        }
    }
    std::sort(by_bytes.begin(), by_bytes.end());
    std::vector<double> beyond;
    for (std::size_t i = 0; i < (by_bytes.size() + 9) / 10; ++i) {
        beyond.push_back(by_bytes[i].second);
    }
    std::sort(beyond.begin(), beyond.end());
    return beyond.empty() ? 0.0 : beyond[beyond.size() / 2];
}

// The GPU by constants that have not seen it, with one figure of its own: a sustained rate, or for
// memory operators the host's call.
model::Gpu with_one_rate(const Fold& fold, const model::Gpu& gpu, KernelClass kernel_class) {
    model::Gpu one = gpu;
    const auto rate = sustained_rate(fold);
    if (kernel_class == KernelClass::memory) {
        double& host_s = one.calibration.memory.host_s;
        host_s = std::max(1e-6, host_s + host_beyond_s(fold, gpu));
    } else if (rate) {
        const auto fixed = calibrate_sustained(gpu, rate->first, rate->second, "its own rows");
        one.calibration = fixed ? fixed->calibration : one.calibration;
    }
    return one;
}

// textbook_start with a term of the class switched off ("": none).
GpuCalibration start_without(KernelClass c, const std::string& off) {
    GpuCalibration start = textbook_start();
    if (!off.empty()) {
        *model::calibration_terms(start, c).at(off) = 0.0;
    }
    return start;
}

} // namespace

namespace {

using Sees = std::function<std::vector<FitRow>(const Fold&, std::size_t)>;

// Constants that the folds of `families` share, on the rows that `sees` lets through; `start` where
// there are too few of them.
GpuCalibration fit_family(const ClassFolds& all, const GpuCalibration& start,
                          const std::set<Family>& families, const Sees& sees,
                          const CrossValidateOptions& options, const std::stop_token& stop) {
    std::vector<model::Gpu> gpus;
    std::vector<FitRow> rows;
    for (const Fold& fold : all.folds) {
        const bool of_these = families.count(family_of(fold.gpu)) != 0;
        const auto some = of_these ? sees(fold, gpus.size()) : std::vector<FitRow>{};
        if (!some.empty()) {
            rows.insert(rows.end(), some.begin(), some.end());
            gpus.push_back(with_constants(fold.gpu, start));
        }
    }
    GpuCalibration fitted = start;
    if (rows.size() >= kFewestToFit) {
        fit_class(gpus, all.kernel_class, rows,
                  {options.common_pull, options.rounds, own_offset(all.kernel_class)}, stop);
        take_class(gpus.front().calibration, all.kernel_class, fitted);
    }
    return fitted;
}

// Of all of AMD's GPUs first, then of those without matrix cores and of those with them.
std::array<GpuCalibration, 2> fit_amd(const ClassFolds& all, const GpuCalibration& start,
                                      const Sees& sees, const CrossValidateOptions& options,
                                      const std::stop_token& stop) {
    if (std::none_of(all.folds.begin(), all.folds.end(), is_amd)) {
        return {start, start};
    }
    const GpuCalibration both =
        fit_family(all, start, {Family::amd_lanes, Family::amd_matrix}, sees, options, stop);
    return {fit_family(all, both, {Family::amd_lanes}, sees, options, stop),
            fit_family(all, both, {Family::amd_matrix}, sees, options, stop)};
}

// Does a leave-out take all rows of a GPU, or may it leave some in the fit?
bool takes_whole_gpus(LeaveOut by) {
    return by == LeaveOut::die || by == LeaveOut::architecture;
}

// One GPU's own constants on `rows` of it, from `start`, whose kernels' starts stay.
GpuCalibration own_fit(const Fold& fold, const GpuCalibration& start,
                       const std::vector<FitRow>& rows, KernelClass c,
                       const CrossValidateOptions& options, const std::stop_token& stop) {
    std::vector<model::Gpu> own = {with_constants(fold.gpu, start)};
    if (rows.size() >= kFewestToFit) {
        const double weight = static_cast<double>(options.rows) / static_cast<double>(rows.size());
        FitOptions fit{options.pull * weight, options.rounds};
        fit.keep_starts = true;
        fit_class(own, c, rows, fit, stop);
    }
    return own.front().calibration;
}

// How many rows of other names a GPU has of each operator in each launch mode.
std::map<std::pair<std::string, model::Timing>, std::size_t> seen_without(const Fold& fold,
                                                                          const std::string& name) {
    std::map<std::pair<std::string, model::Timing>, std::size_t> seen;
    for (const Case& c : fold.cases) {
        if (c.left_with != name) {
            ++seen[{c.row.kind(), c.row.timing}];
        }
    }
    return seen;
}

// The GPU's own constants on its rows of other names: it was measured, though never like those.
GpuCalibration own_without(const Fold& fold, const GpuCalibration& common, KernelClass c,
                           const std::string& name, const CrossValidateOptions& options,
                           const std::stop_token& stop) {
    std::vector<Case> kept;
    std::copy_if(fold.cases.begin(), fold.cases.end(), std::back_inserter(kept),
                 [&](const Case& of) { return of.left_with != name; });
    return own_fit(fold, common, picked(kept, true, options.own_rows, 0), c, options, stop);
}

// What blind constants say of the fold's rows of one name. Folds that several names leave rows out
// of are shared by their tasks: those write into the rows alone.
void predict_left(Fold& fold, const GpuCalibration& left, KernelClass c, const std::string& name,
                  bool fitted, const CrossValidateOptions& options, const std::stop_token& stop) {
    if (std::none_of(fold.cases.begin(), fold.cases.end(),
                     [&](const Case& row) { return row.left_with == name; })) {
        return;
    }
    const bool whole = takes_whole_gpus(options.leave_out);
    const model::Gpu gpu = with_constants(fold.gpu, left);
    const model::Gpu one = with_one_rate(fold, gpu, c);
    const auto seen = seen_without(fold, name);
    const bool measured = !whole && fitted && !seen.empty();
    const model::Gpu own =
        with_constants(fold.gpu, measured ? own_without(fold, left, c, name, options, stop) : left);
    for (Case& row : fold.cases) {
        if (row.left_with == name && (whole || fitted)) {
            const auto rows = seen.find({row.row.kind(), row.row.timing});
            const bool tells = measured && rows != seen.end() && rows->second >= kFewestToFit;
            row.left_s = predicted_s(tells ? own : gpu, row.row);
            row.one_s = predicted_s(one, row.row);
        }
    }
    if (whole) {
        fold.left = gpu.calibration;
        fold.has_left = fitted;
    }
}

} // namespace

void leave_out(ClassFolds& all, const std::string& name, const CrossValidateOptions& options,
               const std::stop_token& stop, const std::string& off) {
    const GpuCalibration start = start_without(all.kernel_class, off);
    const auto others = [&](const Fold& fold, std::size_t gpu) {
        std::vector<Case> kept;
        std::copy_if(fold.cases.begin(), fold.cases.end(), std::back_inserter(kept),
                     [&](const Case& c) { return c.left_with != name; });
        return picked(kept, true, options.rows, gpu);
    };
    const auto has_rows = [&](bool amd) {
        return std::any_of(all.folds.begin(), all.folds.end(), [&](const Fold& fold) {
            return is_amd(fold) == amd &&
                   std::any_of(fold.cases.begin(), fold.cases.end(),
                               [&](const Case& c) { return c.left_with == name; });
        });
    };
    // Where nothing of theirs is left out, the others' constants are those of all rows, and AMD's
    // predict nothing.
    const bool as_before = off.empty() && !has_rows(false);
    const GpuCalibration left =
        as_before ? all.together : fit_family(all, start, {Family::others}, others, options, stop);
    const auto left_amd = has_rows(true) ? fit_amd(all, left, others, options, stop)
                                         : std::array<GpuCalibration, 2>{start, start};
    for (Fold& fold : all.folds) {
        const Family family = family_of(fold.gpu);
        const GpuCalibration& blind =
            family == Family::others ? left : left_amd.at(static_cast<std::size_t>(family));
        predict_left(fold, blind, all.kernel_class, name, !(blind == start), options, stop);
    }
}

void fit_all(ClassFolds& all, const CrossValidateOptions& options, const std::stop_token& stop) {
    const auto every = [&](const Fold& fold, std::size_t gpu) {
        return picked(fold.cases, true, options.rows, gpu);
    };
    all.together = fit_family(all, textbook_start(), {Family::others}, every, options, stop);
    all.together_amd = fit_amd(all, all.together, every, options, stop);
}

void fit_half(ClassFolds& all, const CrossValidateOptions& options, const std::stop_token& stop,
              const std::string& off) {
    const auto half = [&](const Fold& fold, std::size_t gpu) {
        return picked(fold.cases, false, options.rows, gpu);
    };
    const GpuCalibration start = start_without(all.kernel_class, off);
    all.half = fit_family(all, start, {Family::others}, half, options, stop);
    all.half_amd = fit_amd(all, all.half, half, options, stop);
}

namespace {

// What saw half of the shapes, with the starts of all: they are one for every GPU, measured or not.
GpuCalibration with_common_starts(const ClassFolds& all, const model::Gpu& gpu) {
    GpuCalibration half = all.common_half(gpu);
    GpuCalibration together = all.common(gpu);
    const auto common = model::calibration_terms(together, all.kernel_class);
    for (const auto& [name, value] : model::calibration_terms(half, all.kernel_class)) {
        const bool on = *value > 0.0; // an ablation switches terms off
        *value = on && is_start(name, all.kernel_class) ? *common.at(name) : *value;
    }
    return half;
}

} // namespace

void hold_out(const ClassFolds& all, Fold& fold, const CrossValidateOptions& options,
              const std::stop_token& stop) {
    const std::vector<Case> quick = of_quick_sessions(fold);
    const auto rows = picked(quick, false, options.own_rows, 0);
    const bool tested =
        std::any_of(fold.cases.begin(), fold.cases.end(), [](const Case& c) { return c.tested; });
    fold.has_held = rows.size() >= kFewestToFit && tested;
    const GpuCalibration start = with_common_starts(all, fold.gpu);
    const std::vector<FitRow> seen = fold.has_held ? rows : std::vector<FitRow>{};
    fold.held = own_fit(fold, start, seen, all.kernel_class, options, stop);
    model::Gpu own = fold.gpu;
    own.calibration = fold.held;
    for (Case& c : fold.cases) {
        c.fitted_s = predicted_s(own, c.row);
    }
}

std::set<std::string> names_left_out(const ClassFolds& all) {
    std::set<std::string> names;
    for (const Fold& fold : all.folds) {
        for (const Case& c : fold.cases) {
            names.insert(c.left_with);
        }
    }
    names.erase(kNothingLeftOut);
    return names;
}

} // namespace eyeroof::analysis
