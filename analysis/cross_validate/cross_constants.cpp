// What a cross-validation keeps of its fits: constants, error bands, ranges and sources.
#include "analysis/cross_validate/cross_folds.hpp"
#include "hwdb/calibration_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace eyeroof::analysis {

using model::GpuCalibration;
using model::KernelClass;
using model::Timing;

namespace {

constexpr double kGraphGapS = 1e-6; // between two kernels of a graph; recalled

model::ErrorBand error_band(const Band& band, const std::vector<double>& ratios,
                            std::string basis) {
    return {std::min(band.low, 0.999), std::max(band.high, 1.001),      mape_of(ratios),
            median_error_of(ratios),   static_cast<int>(ratios.size()), std::move(basis)};
}

// measured / predicted of the rows that were held out, by row_kind.
std::map<std::string, std::vector<double>> held_ratios(const Fold& fold) {
    std::map<std::string, std::vector<double>> ratios;
    for (const Case& c : fold.cases) {
        if (c.tested) {
            ratios[c.row.kind()].push_back(c.row.measured_s / c.fitted_s);
        }
    }
    return ratios;
}

void widen(model::Domain& domain, const std::vector<Case>& cases) {
    for (const Case& c : cases) {
        const auto flops = static_cast<double>(c.row.work.flops);
        const auto bytes = static_cast<double>(c.row.work.bytes());
        domain.flops_low = std::min(domain.flops_low, flops);
        domain.flops_high = std::max(domain.flops_high, flops);
        domain.bytes_low = std::min(domain.bytes_low, bytes);
        domain.bytes_high = std::max(domain.bytes_high, bytes);
    }
}

constexpr model::Domain kNothing{1e30, 0.0, 1e30, 0.0};

// A mode without a measurement costs no more than the modes that hold more, and no less than the
// kernel's.
void order_launches(const std::set<Timing>& measured, model::LaunchSeconds& launch) {
    const auto at = [&](Timing mode) -> double& { return launch[static_cast<std::size_t>(mode)]; };
    if (measured.count(Timing::stream) == 0 && measured.count(Timing::eager) != 0 &&
        at(Timing::eager) > 0.0) {
        at(Timing::stream) = std::min(at(Timing::stream), at(Timing::eager));
    }
    if (measured.count(Timing::kernel) == 0) {
        at(Timing::kernel) = std::min(at(Timing::kernel), at(Timing::stream));
    }
    at(Timing::graph) =
        std::min(at(Timing::kernel) + kGraphGapS, std::max(at(Timing::stream), at(Timing::kernel)));
}

std::set<Timing> modes_of(const std::vector<Case>& cases) {
    std::set<Timing> modes;
    for (const Case& c : cases) {
        modes.insert(c.row.timing);
    }
    return modes;
}

std::string sources_of(const std::set<std::string>& names) {
    return fmt::format("{}", fmt::join(names, "; "));
}

void add_sources(const std::vector<Case>& cases, std::set<std::string>& names) {
    for (const Case& c : cases) {
        names.insert(c.source.empty() ? "a table of measured layers" : c.source);
    }
}

// Do the times of the fold's rows depend on a constant?
bool is_seen(const Fold& fold, KernelClass c, const GpuCalibration& constants,
             const std::string& name) {
    constexpr double kMoved = 0.9;
    model::Gpu before = fold.gpu;
    before.calibration = constants;
    model::Gpu after = before;
    *model::calibration_terms(after.calibration, c).at(name) *= kMoved;
    return std::any_of(fold.cases.begin(), fold.cases.end(), [&](const Case& row) {
        return modelled_s(before, row.row) != modelled_s(after, row.row);
    });
}

// What a GPU's own rows do not tell is as on all GPUs together.
void complete(const ClassFolds& all, const Fold& fold, GpuCalibration& constants) {
    GpuCalibration common = all.common(fold.gpu);
    const GpuCalibration fitted = constants;
    const auto known = model::calibration_terms(common, all.kernel_class);
    for (const auto& [name, value] : model::calibration_terms(constants, all.kernel_class)) {
        if (!is_seen(fold, all.kernel_class, fitted, name)) {
            *value = *known.at(name);
        }
    }
}

// Constants of one class that saw half of one GPU's shapes.
GpuCalibration own_constants(const ClassFolds& all, const Fold& fold) {
    const KernelClass c = all.kernel_class;
    GpuCalibration constants = fold.held;
    complete(all, fold, constants);
    model::ClassRecord& record = constants.record(c);
    std::vector<double> every;
    record.kinds.clear();
    for (const auto& [kind, ratios] : held_ratios(fold)) {
        record.kinds[kind] =
            error_band(another_day(ratios), ratios, "held-out " + kind + " of " + fold.id);
        every.insert(every.end(), ratios.begin(), ratios.end());
    }
    record.band = error_band(another_day(every), every, "held-out shapes of " + fold.id);
    record.measured = true;
    record.binds = shares_of_parts(fold);
    record.domain = kNothing;
    widen(record.domain, fold.cases);
    std::set<std::string> names;
    add_sources(fold.cases, names);
    record.provenance = {sources_of(names) + ", " + fold.id, Confidence::fitted};
    order_launches(modes_of(fold.cases), record.launch);
    return constants;
}

// Did the constants that are blind to a name see this operator in this launch mode?
bool was_seen(const ClassFolds& all, const std::string& blind, const std::string& kind,
              Timing timing) {
    return std::any_of(all.folds.begin(), all.folds.end(), [&](const Fold& other) {
        return std::any_of(other.cases.begin(), other.cases.end(), [&](const Case& seen) {
            return seen.left_with != blind && seen.row.timing == timing && seen.row.kind() == kind;
        });
    });
}

// measured / predicted of rows of one GPU and name: at most 500, evenly picked, whose operator the
// constants blind to the name saw.
std::vector<double> blind_ratios(const ClassFolds& all, const std::string& name,
                                 const std::vector<const Case*>& rows) {
    constexpr std::size_t kEach = 500;
    std::vector<double> ratios;
    std::map<std::pair<std::string, Timing>, bool> known; // asked once for each
    const std::size_t taken = std::min(kEach, rows.size());
    for (std::size_t i = 0; i < taken; ++i) {
        const Case& c = *rows[i * rows.size() / taken];
        const auto [seen, is_new] = known.try_emplace({c.row.kind(), c.row.timing}, false);
        if (is_new) {
            seen->second = was_seen(all, name, seen->first.first, c.row.timing);
        }
        if (seen->second) {
            ratios.push_back(c.row.measured_s / c.left_s);
        }
    }
    return ratios;
}

// Of rows of one kind ("": of any) left out by another name than `but`, those of each GPU and name
// together; none where there are no such rows.
std::vector<std::vector<double>> ratios_of_others(const ClassFolds& all, const std::string& but,
                                                  const std::string& kind, Family family) {
    std::vector<std::vector<double>> groups;
    for (const Fold& fold : all.folds) {
        if (!fold.has_left || family_of(fold.gpu) != family) {
            continue;
        }
        std::map<std::string, std::vector<const Case*>> by_name;
        for (const Case& c : fold.cases) {
            if (c.left_s > 0.0 && c.left_with != but && (kind.empty() || c.row.kind() == kind)) {
                by_name[c.left_with].push_back(&c);
            }
        }
        for (const auto& [name, rows] : by_name) {
            if (auto ratios = blind_ratios(all, name, rows); !ratios.empty()) {
                groups.push_back(std::move(ratios));
            }
        }
    }
    return groups;
}

std::vector<double> flat(const std::vector<std::vector<double>>& gpus) {
    std::vector<double> every;
    for (const std::vector<double>& ratios : gpus) {
        every.insert(every.end(), ratios.begin(), ratios.end());
    }
    return every;
}

// Kinds of rows that some GPU was measured in.
std::set<std::string> kinds_of(const ClassFolds& all) {
    std::set<std::string> kinds;
    for (const Fold& fold : all.folds) {
        for (const Case& c : fold.cases) {
            kinds.insert(c.row.kind());
        }
    }
    return kinds;
}

// Constants of one class for a GPU that was not measured, or is taken as if it was not.
GpuCalibration others_constants(const ClassFolds& all, const GpuCalibration& fitted,
                                const Fold* but, Family family) {
    constexpr const char* kBasis = "GPUs left out of the fit, data sheet only";
    GpuCalibration constants = fitted;
    model::ClassRecord& record = constants.record(all.kernel_class);
    record.kinds.clear();
    const std::string blind = but != nullptr ? name_of(*but) : std::string{};
    const auto told_by = [&](const std::string& kind) {
        const auto own = flat(ratios_of_others(all, blind, kind, family));
        return own.empty() ? flat(ratios_of_others(all, blind, kind, Family::others)) : own;
    };
    if (const auto band = band_of_others(all, blind, "", family)) {
        record.band = error_band(*band, told_by(""), kBasis);
    }
    for (const std::string& kind : kinds_of(all)) {
        if (const auto ratios = told_by(kind); !ratios.empty()) {
            record.kinds[kind] =
                error_band(*band_of_others(all, blind, kind, family), ratios, kBasis);
        }
    }
    record.measured = false;
    record.binds.clear();
    record.domain = kNothing;
    std::set<std::string> names;
    std::set<Timing> modes;
    for (const Fold& fold : all.folds) {
        if (but != nullptr && name_of(fold) == blind) {
            continue;
        }
        if (is_amd(fold) && family == Family::others) {
            continue;
        }
        for (const auto& [part, share] : shares_of_parts(fold)) {
            record.binds[part] = std::max(record.binds[part], share);
        }
        widen(record.domain, fold.cases);
        add_sources(fold.cases, names);
        modes.merge(modes_of(fold.cases));
    }
    record.provenance = {names.empty()
                             ? "round values, not fitted"
                             : sources_of(names) + (but == nullptr ? ", all GPUs together"
                                                                   : ", all GPUs but " + but->id),
                         names.empty() ? Confidence::recalled : Confidence::fitted};
    if (names.empty()) {
        record.domain = {};
    }
    order_launches(modes, record.launch);
    return constants;
}

} // namespace

std::optional<Band> band_of_others(const ClassFolds& all, const std::string& name,
                                   const std::string& kind, Family family) {
    const auto of = [&](const std::string& rows, Family which) -> std::optional<Band> {
        const auto ratios = ratios_of_others(all, name, rows, which);
        return ratios.empty() ? std::nullopt : std::optional(band_of_gpus(ratios));
    };
    if (const auto same = of(kind, family)) {
        return same;
    }
    if (const auto foreign = of(kind, Family::others)) {
        return doubled(*foreign); // another vendor's kernels
    }
    if (const auto every = of("", family)) {
        return doubled(*every);
    }
    const auto last = of("", Family::others);
    return last ? std::optional(doubled(doubled(*last))) : std::nullopt;
}

namespace {

const GpuCalibration& carried_for(const CrossValidation& result, const model::Gpu& gpu) {
    const Family family = family_of(gpu);
    return family == Family::others ? result.carried_over
                                    : result.carried_over_amd.at(static_cast<std::size_t>(family));
}

} // namespace

void add_constants(const std::vector<ClassFolds>& all, CrossValidation& result) {
    result.carried_over = textbook_start();
    result.carried_over_amd.fill(textbook_start());
    for (const ClassFolds& folds : all) {
        take_class(others_constants(folds, folds.together, nullptr, Family::others),
                   folds.kernel_class, result.carried_over);
        for (const Family family : {Family::amd_lanes, Family::amd_matrix}) {
            const auto at = static_cast<std::size_t>(family);
            take_class(others_constants(folds, folds.together_amd.at(at), nullptr, family),
                       folds.kernel_class, result.carried_over_amd.at(at));
        }
    }
    for (const ClassFolds& folds : all) {
        for (const Fold& fold : folds.folds) {
            const GpuCalibration& carried = carried_for(result, fold.gpu);
            result.left_out.try_emplace(fold.id, carried);
            result.held_out.try_emplace(fold.id, carried);
        }
    }
    // A GPU that a class was not measured on has not been seen by that class's common constants.
    for (const ClassFolds& folds : all) {
        for (const Fold& fold : folds.folds) {
            const Family family = family_of(fold.gpu);
            take_class(others_constants(folds, fold.left, &fold, family), folds.kernel_class,
                       result.left_out.at(fold.id));
            take_class(fold.has_held
                           ? own_constants(folds, fold)
                           : others_constants(folds, folds.common(fold.gpu), nullptr, family),
                       folds.kernel_class, result.held_out.at(fold.id));
        }
    }
}

namespace {

// The GPU with this die that the class was measured on: the named one itself, else the first.
std::string measured_like(const CrossValidation& result, KernelClass c, const std::string& id,
                          const std::map<std::string, model::Gpu>& catalog) {
    std::string like;
    for (const auto& [other, constants] : result.held_out) {
        const auto known = catalog.find(other);
        const bool fits = constants.record(c).measured && known != catalog.end() &&
                          same_die(known->second, catalog.at(id));
        if (fits && (like.empty() || other == id)) {
            like = other;
        }
    }
    return like;
}

// Constants of another board with this die: its errors are those of a GPU never measured.
void take_from_die(const GpuCalibration& from, KernelClass c, const GpuCalibration& carried,
                   GpuCalibration& to) {
    take_class(from, c, to);
    model::ClassRecord& record = to.record(c);
    record.measured = false;
    record.provenance.source += " (the same die)";
    record.band = carried.record(c).band;
    record.kinds = carried.record(c).kinds;
}

// What kernels are built for: the compute capability; since Blackwell a family of them, of one
// major version (CUDA Programming Guide, "family-specific features": 10.0 and 10.3, 12.0 and 12.1).
std::string kernel_target(const model::Gpu& gpu) {
    const std::string& cc = gpu.compute_capability;
    return gpu.arch == model::GpuArch::blackwell ? cc.substr(0, cc.find('.')) : cc;
}

bool runs_same_kernels(const model::Gpu& a, const model::Gpu& b) {
    const bool amd = a.arch == model::GpuArch::amd && b.arch == model::GpuArch::amd;
    return amd || (!kernel_target(a).empty() && kernel_target(a) == kernel_target(b));
}

// How near a measured GPU of AMD's is: of one compute capability, or with the same units for 16
// bits.
int nearness(const model::Gpu& a, const model::Gpu& b) {
    const auto pipe = [](const model::Gpu& gpu) { return gpu.rate(model::DataType::fp16).pipe; };
    return a.compute_capability == b.compute_capability ? 2 : pipe(a) == pipe(b) ? 1 : 0;
}

// A measured GPU that runs the same kernels (AMD: the nearest of its own), with another die.
std::string kin_of(const CrossValidation& result, KernelClass c, const model::Gpu& gpu,
                   const std::map<std::string, model::Gpu>& catalog) {
    std::string kin;
    int nearest = -1;
    for (const auto& [id, constants] : result.held_out) {
        const auto known = catalog.find(id);
        const bool same = constants.record(c).measured && known != catalog.end() &&
                          runs_same_kernels(known->second, gpu);
        const int near = same ? nearness(known->second, gpu) : -1;
        if (near > nearest) {
            kin = id;
            nearest = near;
        }
    }
    return kin;
}

// Half of the way, in ln, from the constants of all GPUs to those of one that runs the same
// kernels.
void take_half(const GpuCalibration& kin, const std::string& id, KernelClass c,
               GpuCalibration& to) {
    GpuCalibration other = kin;
    const auto theirs = model::calibration_terms(other, c);
    for (const auto& [name, value] : model::calibration_terms(to, c)) {
        const double both = *value * *theirs.at(name);
        *value = both > 0.0 ? std::sqrt(both) : *value;
    }
    model::ClassRecord& record = to.record(c);
    for (std::size_t i = 0; i < record.launch.size(); ++i) {
        const double both = record.launch[i] * kin.record(c).launch[i];
        record.launch[i] = both > 0.0 ? std::sqrt(both) : record.launch[i];
    }
    record.provenance.source += ", half of the way to " + id + " (the same kernels)";
}

} // namespace

std::map<std::string, GpuCalibration>
calibration_files(const CrossValidation& result, const std::map<std::string, model::Gpu>& catalog,
                  const std::set<std::string>& also) {
    std::map<std::string, GpuCalibration> files = {{hwdb::kCarriedOver, result.carried_over}};
    for (const auto& [id, gpu] : catalog) {
        const GpuCalibration& carried = carried_for(result, gpu);
        GpuCalibration own = carried;
        GpuCalibration blind = carried;
        bool wanted = also.count(id) != 0;
        for (std::size_t i = 0; i < model::kKernelClasses; ++i) {
            const auto c = static_cast<KernelClass>(i);
            const std::string like = measured_like(result, c, id, catalog);
            if (like.empty()) {
                if (const std::string kin = kin_of(result, c, gpu, catalog); !kin.empty()) {
                    if (gpu.arch == model::GpuArch::amd) {
                        take_from_die(result.held_out.at(kin), c, carried, own);
                    } else {
                        take_half(result.held_out.at(kin), kin, c, own);
                    }
                    take_class(result.left_out.at(kin), c, blind);
                    wanted = true;
                }
                continue;
            }
            wanted = true;
            take_class(result.left_out.at(like), c, blind);
            if (like == id) {
                take_class(result.held_out.at(id), c, own);
            } else {
                take_from_die(result.held_out.at(like), c, carried, own);
            }
        }
        if (wanted) {
            files[id] = own;
            files["left-out/" + id] = blind;
        }
    }
    return files;
}

} // namespace eyeroof::analysis
