#include "study/calibrate/cross_validate.hpp"

#include "hwdb/calibration_reader.hpp"
#include "study/calibrate/calibrate.hpp"
#include "study/calibrate/cross_folds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>
#include <tuple>

namespace eyeroof::study {

using model::GpuCalibration;
using model::KernelClass;
using model::Result;

namespace {

constexpr std::size_t kFewestToFit = 20; // rows of a GPU in a class
constexpr double kLongS = 5e-4;          // kernels that show a sustained rate
constexpr double kSustainedQuantile = 0.99;

// Gradients were measured on few of the GPUs that convolutions were: half of what those lie off the
// others counts as theirs, so that the gradients' constants do not take it up.
constexpr double kConvOffset = 0.5;

double own_offset(KernelClass c) {
    return c == KernelClass::conv || c == KernelClass::tensor_conv ? kConvOffset : 0.0;
}

} // namespace

GpuCalibration textbook_start() {
    GpuCalibration c;
    for (model::MatmulTerms* m : {&c.linear, &c.batched, &c.conv.matmul}) {
        *m = {0.9, 5.0, 16.0, 0.1, 0.05, 0.8, 1.0, 3.0, 5e-6, 1.0, 3e-4,
              1.0, 0.2, 64.0, 5.0, 0.0,  0.8, 4.0, 0.9, 1e-6, 1.0};
    }
    c.tensor_gemm = c.tensor_conv.matmul = c.linear;
    c.batched.reuse = 0.0; // a batch's weights are small: see "not carry over" in docs/gpu-model.md
    c.tensor_gemm.ramp_k = c.tensor_conv.matmul.ramp_k = 64.0;
    c.tensor_gemm.resident_l2 = 1.0;
    for (model::ConvTerms* conv : {&c.conv, &c.tensor_conv}) {
        conv->fwd_cost = conv->bwd_data_cost = conv->bwd_weight_cost = 1.0;
        conv->layout_share = 0.5;
    }
    c.memory = {0.8, 1e-7, 0.4,  0.8,  4.0,    1.0,  1.0,  1.0,  1.0,
                1.5, 1.0,  1e-8, 1e-5, 1.5e-5, 5e-6, 1e-5, 2e-5, 4.0};
    for (model::ClassRecord& record : c.records) {
        record.launch = {5e-5, 6e-6, 3.5e-6, 4.5e-6};
    }
    c.record(KernelClass::memory).launch = {0.0, 4e-6, 2e-6, 3e-6};
    return c;
}

bool same_die(const model::Gpu& a, const model::Gpu& b) {
    return a.arch == b.arch && a.sms == b.sms && a.fp32_lanes == b.fp32_lanes;
}

namespace {

// FNV-1a of the shape, so that equal shapes fall on the same side on every machine.
bool falls_in_test(const model::Layer& layer) {
    std::uint64_t hash = 14695981039346656037ULL;
    const auto mix = [&](model::Count value) {
        for (int i = 0; i < 8; ++i) {
            hash = (hash ^ ((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xffU)) *
                   1099511628211ULL;
        }
    };
    mix(static_cast<model::Count>(layer.op));
    mix(static_cast<model::Count>(layer.direction));
    if (const auto* g = std::get_if<model::GemmShape>(&layer.shape)) {
        for (const model::Count v : {g->batch, g->m, g->n, g->k}) {
            mix(v);
        }
    } else if (const auto* c = std::get_if<model::ConvShape>(&layer.shape)) {
        for (const model::Count v : {c->n, c->c, c->h, c->w, c->k, c->r, c->s, c->stride.h}) {
            mix(v);
        }
    } else if (const auto* r = std::get_if<model::RowsShape>(&layer.shape)) {
        mix(r->rows);
        mix(r->cols);
    } else if (const auto* e = std::get_if<model::ElementwiseShape>(&layer.shape)) {
        mix(e->rows);
        mix(e->cols);
    }
    return ((hash >> 32U) & 1U) != 0;
}

} // namespace

void take_class(const GpuCalibration& from, KernelClass c, GpuCalibration& to) {
    GpuCalibration source = from;
    const auto terms = model::calibration_terms(source, c);
    for (const auto& [name, target] : model::calibration_terms(to, c)) {
        *target = *terms.at(name);
    }
    to.record(c) = source.record(c);
}

namespace {

// The GPU with these constants, and a clock that follows from its power.
model::Gpu with_constants(const model::Gpu& gpu, const GpuCalibration& constants) {
    model::Gpu copy = gpu;
    hwdb::apply_calibration({"", constants, {}}, copy);
    return copy;
}

double predicted_s(const model::Gpu& gpu, const FitRow& row) {
    const auto p = model::predict(gpu, *row.layer, row.launch);
    return p ? p->time_s : modelled_s(gpu, row);
}

// At most `most` rows, of each kind as many as of any other, evenly picked.
std::vector<FitRow> picked(const std::vector<Case>& cases, bool all, std::size_t most,
                           std::size_t gpu) {
    std::map<std::string, std::vector<const Case*>> kinds;
    for (const Case& c : cases) {
        if (all || !c.tested) {
            kinds[model::row_kind(*c.row.layer, c.row.launch)].push_back(&c);
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
        for (std::size_t j = 0; j < taken; ++j) {
            picked_rows.push_back(from[j * from.size() / taken]->row);
            picked_rows.back().gpu = gpu;
        }
    }
    return picked_rows;
}

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

void leave_out(const ClassFolds& all, Fold& fold, const CrossValidateOptions& options,
               const std::stop_token& stop) {
    std::vector<model::Gpu> others;
    std::vector<FitRow> rows;
    for (const Fold& other : all.folds) {
        if (same_die(other.gpu, fold.gpu)) {
            continue;
        }
        const auto some = picked(other.cases, true, options.rows, others.size());
        rows.insert(rows.end(), some.begin(), some.end());
        others.push_back(with_constants(other.gpu, textbook_start()));
    }
    fold.left = textbook_start();
    if (rows.size() >= kFewestToFit) {
        fit_class(others, all.kernel_class, rows,
                  {options.common_pull, options.rounds, own_offset(all.kernel_class)}, stop);
        take_class(others.front().calibration, all.kernel_class, fold.left);
        fold.has_left = true;
    }
    const model::Gpu gpu = with_constants(fold.gpu, fold.left);
    model::Gpu one = gpu;
    const auto rate = sustained_rate(fold);
    if (rate && all.kernel_class != KernelClass::memory) {
        const auto fixed = calibrate_sustained(gpu, rate->first, rate->second);
        one.calibration = fixed ? *fixed : one.calibration;
    }
    for (Case& c : fold.cases) {
        c.left_s = predicted_s(gpu, c.row);
        c.one_s = predicted_s(one, c.row);
    }
    fold.left = gpu.calibration;
}

void fit_all(ClassFolds& all, const CrossValidateOptions& options, const std::stop_token& stop) {
    std::vector<model::Gpu> gpus;
    std::vector<FitRow> rows;
    for (const Fold& fold : all.folds) {
        const auto some = picked(fold.cases, true, options.rows, gpus.size());
        rows.insert(rows.end(), some.begin(), some.end());
        gpus.push_back(with_constants(fold.gpu, textbook_start()));
    }
    if (rows.size() >= kFewestToFit) {
        fit_class(gpus, all.kernel_class, rows,
                  {options.common_pull, options.rounds, own_offset(all.kernel_class)}, stop);
    }
    all.together = gpus.front().calibration;
}

void hold_out(KernelClass kernel_class, Fold& fold, const CrossValidateOptions& options,
              const std::stop_token& stop) {
    const auto rows = picked(fold.cases, false, options.rows, 0);
    fold.has_held = rows.size() >= kFewestToFit && rows.size() < fold.cases.size();
    std::vector<model::Gpu> own = {fold.gpu};
    own.front().calibration = fold.left;
    if (fold.has_held) {
        fit_class(own, kernel_class, rows, {options.pull, options.rounds}, stop);
    }
    fold.held = own.front().calibration;
    for (Case& c : fold.cases) {
        c.fitted_s = predicted_s(own.front(), c.row);
    }
}

using Key = std::tuple<std::string, std::string, std::string>; // op, dtype, direction

Key key_of(const model::Layer& layer) {
    return {std::string(model::op_name(layer.op)),
            std::string(model::data_type_name(layer.types.input)),
            layer.direction == model::Direction::fwd ? "fwd" : "gradient"};
}

// Held-out rows in two halves: each is judged by the other's quantiles.
void judge_held(const std::vector<const Case*>& tested, CrossGroup& group) {
    constexpr std::size_t kFewest = 8;
    std::array<std::vector<double>, 2> halves;
    for (std::size_t i = 0; i < tested.size(); ++i) {
        halves[i % 2].push_back(tested[i]->row.measured_s / tested[i]->fitted_s);
    }
    if (halves[1].size() < kFewest) {
        return;
    }
    double inside = 0.0;
    for (std::size_t h = 0; h < 2; ++h) {
        const Band band = band_of(halves[1 - h]);
        for (const double ratio : halves[h]) {
            inside += band.holds(ratio) ? 1.0 : 0.0;
        }
    }
    group.held_out_inside = inside / static_cast<double>(tested.size());
}

double error_of(double predicted, const Case& c) {
    return std::fabs(predicted / c.row.measured_s - 1.0);
}

CrossGroup group_of(const ClassFolds& all, const Fold& fold, const Key& key,
                    const std::vector<const Case*>& cases) {
    CrossGroup g{fold.id,
                 std::get<0>(key),
                 std::get<1>(key),
                 std::get<2>(key),
                 static_cast<int>(cases.size()),
                 0.0,
                 {},
                 {},
                 {},
                 {},
                 {},
                 {}};
    std::vector<const Case*> tested;
    double fitted = 0.0;
    double held = 0.0;
    double left = 0.0;
    double one = 0.0;
    double inside = 0.0;
    const FitRow& first = cases.front()->row;
    const auto elsewhere = band_of_others(all, &fold, model::row_kind(*first.layer, first.launch));
    const Band band = elsewhere.value_or(Band{});
    const auto n = static_cast<double>(cases.size());
    for (const Case* c : cases) {
        g.naive += error_of(c->naive_s, *c) / n;
        left += error_of(c->left_s, *c) / n;
        one += error_of(c->one_s, *c) / n;
        inside += band.holds(c->row.measured_s / c->left_s) ? 1.0 / n : 0.0;
        (c->tested ? held : fitted) += error_of(c->fitted_s, *c);
        if (c->tested) {
            tested.push_back(c);
        }
    }
    const auto held_rows = static_cast<double>(tested.size());
    if (fold.has_held && held_rows > 0.0 && held_rows < n) {
        g.held_out = held / held_rows;
        g.fitted = fitted / (n - held_rows);
        judge_held(tested, g);
    }
    if (fold.has_left) {
        g.left_out = left;
        g.one_figure = all.kernel_class == KernelClass::memory ? std::nullopt : std::optional(one);
        g.left_out_inside = elsewhere ? std::optional(inside) : std::nullopt;
    }
    return g;
}

void add_groups(const ClassFolds& all, std::vector<CrossGroup>& groups) {
    for (const Fold& fold : all.folds) {
        std::map<Key, std::vector<const Case*>> by_key;
        for (const Case& c : fold.cases) {
            by_key[key_of(*c.row.layer)].push_back(&c);
        }
        for (const auto& [key, cases] : by_key) {
            groups.push_back(group_of(all, fold, key, cases));
        }
    }
}

void add_rows(const ClassFolds& all, std::vector<CrossRow>& rows) {
    for (const Fold& fold : all.folds) {
        model::Gpu own = fold.gpu;
        own.calibration = fold.held;
        for (const Case& c : fold.cases) {
            const auto [op, dtype, direction] = key_of(*c.row.layer);
            const auto p = model::predict(own, *c.row.layer, c.row.launch);
            rows.push_back({c.line, fold.id, op, dtype, c.row.measured_s, c.tested, c.fitted_s,
                            fold.has_left ? c.left_s : 0.0, p ? p->mapping : ""});
        }
    }
}

// Mean over the groups that have the figure.
std::optional<double> mean_of(const std::vector<CrossGroup>& groups,
                              std::optional<double> CrossGroup::*figure) {
    double sum = 0.0;
    double count = 0.0;
    for (const CrossGroup& g : groups) {
        sum += (g.*figure).value_or(0.0);
        count += g.*figure ? 1.0 : 0.0;
    }
    return count > 0.0 ? std::optional(sum / count) : std::nullopt;
}

void add_means(CrossValidation& result) {
    std::map<Key, std::vector<CrossGroup>> by_key;
    for (const CrossGroup& g : result.groups) {
        by_key[{g.op, g.dtype, g.direction}].push_back(g);
    }
    for (const auto& [key, groups] : by_key) {
        CrossGroup mean{fmt::format("{} GPU{}", groups.size(), groups.size() == 1 ? "" : "s"),
                        std::get<0>(key),
                        std::get<1>(key),
                        std::get<2>(key),
                        0,
                        0.0,
                        {},
                        {},
                        {},
                        {},
                        {},
                        {}};
        for (const CrossGroup& g : groups) {
            mean.rows += g.rows;
            mean.naive += g.naive / static_cast<double>(groups.size());
        }
        for (const auto figure : {&CrossGroup::fitted, &CrossGroup::held_out, &CrossGroup::left_out,
                                  &CrossGroup::one_figure, &CrossGroup::held_out_inside,
                                  &CrossGroup::left_out_inside}) {
            mean.*figure = mean_of(groups, figure);
        }
        result.means.push_back(std::move(mean));
    }
}

// Rows by class and GPU; every bad one is told.
class Sorter {
  public:
    Sorter(const MachineSource& machines, const CrossValidateOptions& options)
        : machines_(machines), options_(options) {}

    void add(const MeasuredLayer& row, model::Diagnostics& found) {
        const model::Gpu* gpu = find(row.gpu, found);
        auto work = model::work_of(row.layer);
        if (gpu == nullptr || !work) {
            found.append(work.diagnostics());
            return;
        }
        const KernelClass c = model::kernel_class_of(*gpu, row.layer);
        FitRow fit{&row.layer, std::move(*work), row.measured_s,
                   row.launch.value_or(options_.launch), 0};
        if (options_.only && *options_.only != c) {
            return;
        }
        if (!(modelled_s(*gpu, fit) > 0.0)) {
            found.error("unsupported-type", "'" + row.gpu + "' does not serve this layer", {},
                        {"", row.line, 1});
            return;
        }
        const double naive = naive_roofline_s(*gpu, row.layer, static_cast<double>(fit.work.flops),
                                              static_cast<double>(fit.work.bytes()));
        fold_of(c, row.gpu, *gpu)
            .cases.push_back({std::move(fit), falls_in_test(row.layer), row.line, row.source, naive,
                              0.0, 0.0, 0.0});
    }

    std::vector<ClassFolds> folds;

  private:
    const model::Gpu* find(const std::string& id, model::Diagnostics& found) {
        auto known = gpus_.find(id);
        if (known == gpus_.end()) {
            auto machine = machines_(id);
            if (!machine) {
                found.append(machine.diagnostics());
            } else if (!std::holds_alternative<model::Gpu>(machine->kind)) {
                found.error("not-a-gpu", "'" + id + "' is no GPU");
            } else {
                known = gpus_.emplace(id, std::get<model::Gpu>(machine->kind)).first;
            }
        }
        return known == gpus_.end() ? nullptr : &known->second;
    }

    Fold& fold_of(KernelClass c, const std::string& id, const model::Gpu& gpu) {
        auto in_class = std::find_if(folds.begin(), folds.end(),
                                     [&](const ClassFolds& f) { return f.kernel_class == c; });
        if (in_class == folds.end()) {
            in_class = folds.insert(folds.end(), ClassFolds{c, {}, {}});
        }
        auto& of_class = in_class->folds;
        auto fold = std::find_if(of_class.begin(), of_class.end(),
                                 [&](const Fold& f) { return f.id == id; });
        if (fold == of_class.end()) {
            fold = of_class.insert(of_class.end(), Fold{id, gpu, {}, false, false, {}, {}, {}});
        }
        return *fold;
    }

    const MachineSource& machines_;
    const CrossValidateOptions& options_;
    std::map<std::string, model::Gpu> gpus_;
};

struct Task {
    ClassFolds* all;
    Fold* fold; // null: all GPUs together
};

// Every fold by itself; which thread takes which does not matter.
void run_tasks(const std::vector<Task>& tasks, const CrossValidateOptions& options,
               const std::stop_token& stop, const model::ProgressCallback& progress) {
    std::atomic<std::size_t> next{0};
    std::size_t done = 0;
    std::mutex told;
    const auto work = [&] {
        for (std::size_t i = next++; i < tasks.size() && !stop.stop_requested(); i = next++) {
            if (tasks[i].fold == nullptr) {
                fit_all(*tasks[i].all, options, stop);
            } else {
                leave_out(*tasks[i].all, *tasks[i].fold, options, stop);
                hold_out(tasks[i].all->kernel_class, *tasks[i].fold, options, stop);
            }
            const std::scoped_lock lock(told);
            ++done;
            if (progress) {
                progress({static_cast<double>(done) / static_cast<double>(tasks.size()),
                          fmt::format("{} of {}", kernel_class_name(tasks[i].all->kernel_class),
                                      tasks[i].fold == nullptr ? "all" : tasks[i].fold->id),
                          0.0, -1.0});
            }
        }
    };
    const auto wanted = options.threads > 0 ? static_cast<std::size_t>(options.threads)
                                            : std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min<std::size_t>(wanted, tasks.size()); ++i) {
        threads.emplace_back(work);
    }
    work();
}

} // namespace

Result<CrossValidation> cross_validate(const std::vector<MeasuredLayer>& rows,
                                       const MachineSource& machines,
                                       const CrossValidateOptions& options, std::stop_token stop,
                                       const model::ProgressCallback& progress) {
    model::Diagnostics found;
    Sorter sorter(machines, options);
    for (const MeasuredLayer& row : rows) {
        sorter.add(row, found);
        if (found.size() >= read::kShownErrors) {
            break;
        }
    }
    std::vector<Task> tasks;
    std::size_t most = 0;
    for (ClassFolds& folds : sorter.folds) {
        tasks.push_back({&folds, nullptr});
        for (Fold& fold : folds.folds) {
            tasks.push_back({&folds, &fold});
            most = std::max(most, fold.cases.size());
        }
    }
    if (!found.has_errors() && most < kFewestToFit) {
        found.error("too-few-rows", fmt::format("no GPU has {} rows of a class", kFewestToFit));
    }
    if (found.has_errors()) {
        return found;
    }
    run_tasks(tasks, options, stop, progress);
    if (stop.stop_requested()) {
        return Result<CrossValidation>::failure("cancelled", "cancelled");
    }
    CrossValidation result;
    for (const ClassFolds& folds : sorter.folds) {
        add_groups(folds, result.groups);
        add_rows(folds, result.rows);
    }
    add_constants(sorter.folds, result);
    std::sort(result.groups.begin(), result.groups.end(), [](const auto& a, const auto& b) {
        return std::tie(a.op, a.dtype, a.direction, a.gpu) <
               std::tie(b.op, b.dtype, b.direction, b.gpu);
    });
    add_means(result);
    return result;
}

} // namespace eyeroof::study
