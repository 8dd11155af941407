#include "analysis/cross_validate/cross_validate.hpp"

#include "analysis/calibrate/splits.hpp"
#include "analysis/cross_validate/cross_folds.hpp"
#include "base/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

namespace eyeroof::analysis {

using model::KernelClass;

namespace {

// Rows by class and GPU; every bad one is reported.
class Sorter {
  public:
    Sorter(const MachineSource& machines, const CrossValidateOptions& options)
        : machines_(machines), options_(options) {}

    // What the row is left out with.
    std::string left_with(const MeasuredLayer& row, const model::Gpu& gpu) const {
        switch (options_.leave_out) {
        case LeaveOut::die:
            return fmt::format("{} {} {}", gpu_arch_name(gpu.arch), gpu.sms, gpu.fp32_lanes);
        case LeaveOut::architecture:
            return gpu.arch == model::GpuArch::amd ? gpu.compute_capability
                                                   : std::string(gpu_arch_name(gpu.arch));
        case LeaveOut::session:
            return row.session.empty() ? kNothingLeftOut : row.gpu + " " + row.session;
        case LeaveOut::library:
            return row.library.empty() ? kNothingLeftOut : row.library;
        case LeaveOut::source:
            break;
        }
        return row.source.empty() ? kNothingLeftOut : row.source;
    }

    void add(const MeasuredLayer& row, Diagnostics& found) {
        const model::Gpu* gpu = find(row.gpu, found);
        auto work = model::work_of(row.layer);
        if (gpu == nullptr || !work) {
            found.append(work.diagnostics());
            return;
        }
        const KernelClass c = model::kernel_class_of(*gpu, row.layer);
        const model::Timing timing = row.timing.value_or(options_.timing);
        FitRow fit{&row.layer,
                   std::move(*work),
                   row.measured_s,
                   timing,
                   0,
                   without_served(software_of(row, *gpu, timing))};
        if (options_.only && *options_.only != c) {
            return;
        }
        if (!(modelled_s(*gpu, fit) > 0.0)) {
            found.error("unsupported-type", "'" + row.gpu + "' does not serve this layer",
                        "take the row away, or name the type that was measured", {"", row.line, 1});
            return;
        }
        const double naive = naive_roofline_s(*gpu, row.layer, static_cast<double>(fit.work.flops),
                                              static_cast<double>(fit.work.bytes()));
        fold_of(c, row.gpu, *gpu)
            .cases.push_back({std::move(fit), is_held_out(row.layer), row.line, row.source,
                              row.session, row.library, left_with(row, *gpu), naive, 0.0, 0.0,
                              0.0});
    }

    std::vector<ClassFolds> folds;

  private:
    const model::Gpu* find(const std::string& id, Diagnostics& found) {
        auto known = gpus_.find(id);
        if (known == gpus_.end() && unknown_.insert(id).second) { // each is reported once
            auto machine = machines_(id);
            if (!machine) {
                found.append(machine.diagnostics());
            } else if (!std::holds_alternative<model::Gpu>(machine->kind)) {
                found.error("not-a-gpu", "'" + id + "' is no GPU",
                            "`eyeroof hw list` names the GPUs");
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
            in_class = folds.insert(folds.end(), ClassFolds{c, {}, {}, {}, {}, {}});
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
    std::set<std::string> unknown_;
};

struct Task {
    ClassFolds* all = nullptr;
    std::string name;                                // for people
    std::function<void(const std::stop_token&)> run; // touches nothing that another task touches
};

// Which thread takes which does not matter. What a task throws ends all and reaches the caller.
void run_tasks(const std::vector<Task>& tasks, std::size_t of, std::size_t& done,
               const CrossValidateOptions& options, const std::stop_token& stop,
               const ProgressCallback& progress) {
    std::mutex told;
    const int threads = options.threads > 0
                            ? options.threads
                            : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    in_parallel(threads, tasks.size(), [&](std::size_t i) {
        if (stop.stop_requested()) {
            return;
        }
        tasks[i].run(stop);
        const std::scoped_lock lock(told);
        ++done;
        if (progress) {
            progress({static_cast<double>(done) / static_cast<double>(of),
                      fmt::format("{} of {}", kernel_class_name(tasks[i].all->kernel_class),
                                  tasks[i].name),
                      0.0, -1.0});
        }
    });
}

// First all together; then what is left out; then each GPU's own, which starts from what all say.
void run_folds(std::vector<ClassFolds>& classes, const CrossValidateOptions& options,
               const std::stop_token& stop, const ProgressCallback& progress) {
    std::vector<Task> every;
    std::vector<Task> common;
    std::vector<Task> own;
    for (ClassFolds& all : classes) {
        for (Fold& fold : all.folds) {
            own.push_back({&all, fold.id,
                           [&](const std::stop_token& s) { hold_out(all, fold, options, s); }});
        }
        every.push_back({&all, "all", [&](const std::stop_token& s) { fit_all(all, options, s); }});
        common.push_back(
            {&all, "half", [&](const std::stop_token& s) { fit_half(all, options, s); }});
        for (const std::string& name : names_left_out(all)) {
            common.push_back({&all, "all but " + name, [&all, name, &options](const auto& s) {
                                  leave_out(all, name, options, s);
                              }});
        }
    }
    std::size_t done = 0;
    const std::size_t of = every.size() + common.size() + own.size();
    run_tasks(every, of, done, options, stop, progress);
    run_tasks(common, of, done, options, stop, progress);
    run_tasks(own, of, done, options, stop, progress);
}

bool orders_by_operator(const CrossGroup& a, const CrossGroup& b) {
    return std::tie(a.op, a.dtype, a.direction, a.gpu) <
           std::tie(b.op, b.dtype, b.direction, b.gpu);
}

// The rows by what another leave-out calls them, with the constants that all rows gave.
std::vector<ClassFolds> sorted_by(const std::vector<MeasuredLayer>& rows,
                                  const MachineSource& machines,
                                  const CrossValidateOptions& options,
                                  const std::vector<ClassFolds>& fitted) {
    Diagnostics found; // the first reading of the rows had no error
    Sorter sorter(machines, options);
    for (const MeasuredLayer& row : rows) {
        sorter.add(row, found);
    }
    for (std::size_t i = 0; i < sorter.folds.size(); ++i) {
        sorter.folds[i].together = fitted[i].together;
        sorter.folds[i].together_amd = fitted[i].together_amd;
    }
    return std::move(sorter.folds);
}

// GPUs some of whose rows were left out: where several fits share a GPU, none of them says so.
void note_left(std::vector<ClassFolds>& classes) {
    for (ClassFolds& all : classes) {
        for (Fold& fold : all.folds) {
            fold.has_left = std::any_of(fold.cases.begin(), fold.cases.end(),
                                        [](const Case& c) { return c.left_s > 0.0; });
        }
    }
}

LeftOut errors_of(std::vector<ClassFolds>& classes, LeaveOut by) {
    LeftOut result{by, {}, {}};
    note_left(classes);
    for (ClassFolds& all : classes) {
        for (Fold& fold : all.folds) {
            fold.cases.erase(std::remove_if(fold.cases.begin(), fold.cases.end(),
                                            [](const Case& c) { return c.left_s <= 0.0; }),
                             fold.cases.end());
        }
        add_groups(all, result.groups);
    }
    std::sort(result.groups.begin(), result.groups.end(), orders_by_operator);
    result.means = means_of(result.groups);
    return result;
}

LeftOut left_out_by(const std::vector<MeasuredLayer>& rows, const MachineSource& machines,
                    CrossValidateOptions options, LeaveOut by,
                    const std::vector<ClassFolds>& fitted, const std::stop_token& stop,
                    const ProgressCallback& progress) {
    options.leave_out = by;
    std::vector<ClassFolds> classes = sorted_by(rows, machines, options, fitted);
    std::vector<Task> tasks;
    for (ClassFolds& all : classes) {
        for (const std::string& name : names_left_out(all)) {
            tasks.push_back({&all, "all but " + name, [&all, name, &options](const auto& s) {
                                 leave_out(all, name, options, s);
                             }});
        }
    }
    std::size_t done = 0;
    run_tasks(tasks, tasks.size(), done, options, stop, progress);
    return errors_of(classes, by);
}

constexpr std::array<std::pair<LeaveOut, std::string_view>, 5> kLeaveOuts = {
    {{LeaveOut::die, "die"},
     {LeaveOut::architecture, "architecture"},
     {LeaveOut::library, "library"},
     {LeaveOut::source, "source"},
     {LeaveOut::session, "session"}}};

} // namespace

std::string_view leave_out_name(LeaveOut by) {
    return kLeaveOuts[static_cast<std::size_t>(by)].second;
}

std::optional<LeaveOut> leave_out_from_name(std::string_view name) {
    for (const auto& [by, known] : kLeaveOuts) {
        if (known == name) {
            return by;
        }
    }
    return std::nullopt;
}

Result<CrossValidation> cross_validate(const std::vector<MeasuredLayer>& rows,
                                       const MachineSource& machines,
                                       const CrossValidateOptions& options, std::stop_token stop,
                                       const ProgressCallback& progress) {
    Diagnostics found;
    Sorter sorter(machines, options);
    for (const MeasuredLayer& row : rows) {
        sorter.add(row, found);
        if (found.full()) {
            break;
        }
    }
    std::size_t most = 0;
    for (const ClassFolds& folds : sorter.folds) {
        for (const Fold& fold : folds.folds) {
            most = std::max(most, fold.cases.size());
        }
    }
    if (!found.has_errors() && most < kFewestToFit) {
        found.error("too-few-rows", fmt::format("no GPU has {} rows of a class", kFewestToFit),
                    "give a table with more rows");
    }
    if (found.has_errors()) {
        return found;
    }
    run_folds(sorter.folds, options, stop, progress);
    if (stop.stop_requested()) {
        return Result<CrossValidation>::failure("cancelled", "cancelled");
    }
    if (options.leave_out != LeaveOut::die && options.leave_out != LeaveOut::architecture) {
        note_left(sorter.folds);
    }
    CrossValidation result;
    result.leave_out = options.leave_out;
    for (const LeaveOut by : options.also) {
        result.also.push_back(
            left_out_by(rows, machines, options, by, sorter.folds, stop, progress));
        if (stop.stop_requested()) {
            return Result<CrossValidation>::failure("cancelled", "cancelled");
        }
    }
    for (const ClassFolds& folds : sorter.folds) {
        add_groups(folds, result.groups);
        add_rows(folds, result.rows);
        add_leaders(folds, result.leaders);
    }
    add_constants(sorter.folds, result);
    result.bindings = row_bindings(sorter.folds);
    if (options.ablate) {
        result.ablations = ablations_of(sorter.folds, options, stop);
    }
    std::sort(result.groups.begin(), result.groups.end(), orders_by_operator);
    result.means = means_of(result.groups);
    return result;
}

} // namespace eyeroof::analysis
