#include "analysis/calibrate/validate.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

namespace eyeroof::analysis {

using model::Layer;

namespace {

constexpr double kClearlyBetter = 2.0 / 3.0;

std::optional<double> seconds(const std::string& cell) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    const bool whole = error == std::errc{} && end == cell.data() + cell.size();
    return whole && std::isfinite(value) && value > 0.0 ? std::optional(value) : std::nullopt;
}

std::optional<Layer> exchanged(const Layer& layer) {
    Layer other = layer;
    auto* shape = std::get_if<model::GemmShape>(&other.shape);
    if (shape == nullptr || shape->n == shape->k) {
        return std::nullopt;
    }
    std::swap(shape->n, shape->k);
    return other;
}

// Collects the ratios of one group.
class Ratios {
  public:
    void add(const ValidatedRow& row) {
        const double ratio = row.predicted_s / row.row.measured_s;
        errors_.push_back(std::fabs(ratio - 1.0));
        log_sum_ += std::log(ratio);
        naive_ += std::fabs(row.naive_s / row.row.measured_s - 1.0);
        inside_ += row.row.measured_s >= row.low_s && row.row.measured_s <= row.high_s ? 1 : 0;
        unphysical_ += row.predicted_s < row.step6_s * (1.0 - 1e-9) ? 1 : 0;
    }
    void add_exchanged(double error) { exchanged_ += error; }

    ErrorFigures figures() {
        ErrorFigures f;
        f.rows = static_cast<int>(errors_.size());
        const double n = std::max(1.0, static_cast<double>(f.rows));
        for (const double e : errors_) {
            f.mape += e / n;
        }
        std::sort(errors_.begin(), errors_.end());
        f.median = errors_.empty() ? 0.0 : errors_[errors_.size() / 2];
        f.bias = std::exp(log_sum_ / n) - 1.0;
        f.naive_mape = naive_ / n;
        f.coverage = inside_ / n;
        f.unphysical = unphysical_;
        return f;
    }
    double exchanged_mape() const {
        return exchanged_ / std::max(1.0, static_cast<double>(errors_.size()));
    }

  private:
    std::vector<double> errors_;
    double log_sum_ = 0.0, naive_ = 0.0, inside_ = 0.0, exchanged_ = 0.0;
    int unphysical_ = 0;
};

using GroupKey = std::tuple<std::string, std::string, std::string, std::string>;

GroupKey key_of(const MeasuredLayer& row) {
    return {row.gpu, std::string(model::op_name(row.layer.op)),
            std::string(model::data_type_name(row.layer.types.input)),
            std::string(model::direction_name(row.layer.direction))};
}

// Machines by id, each read once.
class Gpus {
  public:
    explicit Gpus(const MachineSource& source) : source_(source) {}
    const model::Gpu* find(const std::string& id, Diagnostics& found) {
        auto known = machines_.find(id);
        if (known == machines_.end()) {
            auto machine = source_(id);
            if (!machine) {
                found.append(machine.diagnostics());
                return nullptr;
            }
            known = machines_.emplace(id, std::move(*machine)).first;
        }
        const auto* gpu = std::get_if<model::Gpu>(&known->second.kind);
        if (gpu == nullptr) {
            found.error("not-a-gpu", "'" + id + "' is no GPU",
                        "times are validated on GPUs and host processors");
        }
        return gpu;
    }

  private:
    const MachineSource& source_;
    std::map<std::string, model::Machine> machines_;
};

Result<ValidatedRow> predicted(const model::Gpu& gpu, const MeasuredLayer& row,
                               const ValidateOptions& options) {
    const model::Timing timing = row.timing.value_or(options.timing);
    auto p = model::predict(gpu, row.layer, software_of(row, gpu, timing), timing);
    if (!p) {
        p.diagnostics().place({"", row.line, 1}, row.layer.name);
        return Result<ValidatedRow>(p.diagnostics());
    }
    return ValidatedRow{row,
                        p->time_s,
                        p->low_s,
                        p->high_s,
                        naive_roofline_s(gpu, row.layer, p->flops, p->bytes),
                        p->step6_s,
                        p->limiter,
                        {},
                        {},
                        {}};
}

// Of rows that are shown.
void add_fit_facts(const model::Gpu& gpu, const ValidateOptions& options, ValidatedRow& row) {
    const Layer& layer = row.row.layer;
    const model::Timing timing = row.row.timing.value_or(options.timing);
    const model::Software software = without_served(software_of(row.row, gpu, timing));
    const auto work = model::work_of(layer);
    const auto kernel = work ? model::kernel_of(gpu, layer, *work, software)
                             : Result<model::KernelChoice>(work.diagnostics());
    row.kind = model::row_kind(layer, software, timing);
    row.held_out = is_held_out(layer);
    if (kernel) {
        row.kernel_class = kernel_class_name(kernel->kernel_class);
        row.part = model::longest_part(*kernel);
        row.flops = static_cast<double>(work->flops);
        row.bytes = static_cast<double>(work->bytes());
    }
}

double exchanged_error(const model::Gpu& gpu, const ValidatedRow& row,
                       const ValidateOptions& options) {
    const auto other = exchanged(row.row.layer);
    const auto work = model::work_of(other ? *other : row.row.layer);
    const model::Timing timing = row.row.timing.value_or(options.timing);
    const auto kernel =
        other && work ? model::kernel_of(gpu, *other, *work, software_of(row.row, gpu, timing))
                      : Result<model::KernelChoice>(model::KernelChoice{});
    const double time_s =
        other && work && kernel ? model::timed_s(gpu, *other, *kernel, timing) : row.predicted_s;
    return std::fabs(time_s / row.row.measured_s - 1.0);
}

// The rows furthest from their predictions, the furthest first; of equal ones those that came
// first.
void cut_worst(std::vector<ValidatedRow>& worst, std::size_t most) {
    const auto distance = [](const ValidatedRow& r) {
        return std::fabs(std::log(r.predicted_s / r.row.measured_s));
    };
    std::stable_sort(worst.begin(), worst.end(), [&](const ValidatedRow& a, const ValidatedRow& b) {
        return distance(a) > distance(b);
    });
    worst.resize(std::min(worst.size(), most));
}

} // namespace

std::optional<model::Layout> layout_named(const std::string& name) {
    return name == "nchw"   ? model::Layout::channels_first
           : name == "nhwc" ? model::Layout::channels_last
                            : model::layout_from_name(name);
}

model::Software software_of(const MeasuredLayer& row, const model::Gpu& gpu, model::Timing timing) {
    model::Software software = model::software_from_name(row.library, row.layer.types.input);
    const bool benchmark = timing == model::Timing::stream;
    const bool own_time = benchmark && gpu.arch <= model::GpuArch::turing;
    software.library = model::library_from_name(row.library)
                           .value_or(own_time ? model::Library::until_10 : model::Library::current);
    software.layout = row.layout.value_or(benchmark ? model::Layout::channels_last
                                                    : model::Layout::channels_first);
    return software;
}

model::Software without_served(model::Software software) {
    software.serving = {};
    return software;
}

double naive_roofline_s(const model::Gpu& gpu, const Layer& layer, double flops, double bytes) {
    const double peak = gpu.rate(layer.types.input).flops_per_s;
    const double arithmetic_s = peak > 0.0 ? flops / peak : 0.0;
    return std::max(arithmetic_s, bytes / gpu.dram_bytes_per_s);
}

Result<std::vector<MeasuredLayer>> measured_layers(const formats::LayerTable& table,
                                                   const std::string& file, const std::string& on) {
    Diagnostics found;
    const int time = table.extra_index("measured_s");
    const int gpu = table.extra_index("gpu");
    const int launch = table.extra_index("launch");
    const int source = table.extra_index("source");
    const int library = table.extra_index("library");
    const int layout = table.extra_index("layout");
    const int session = table.extra_index("session");
    const int weight = table.extra_index("weight");
    if (time < 0) {
        found.error("missing-column", "there is no column 'measured_s'",
                    "add the measured seconds of each row", {file, 1, 1});
    }
    if (gpu < 0 && on.empty()) {
        found.error("missing-column", "there is no column 'gpu'",
                    "add it, or name the machine with --on", {file, 1, 1});
    }
    if (found.has_errors()) {
        return found;
    }
    std::vector<MeasuredLayer> rows;
    for (std::size_t i = 0; i < table.layers.size() && !found.full(); ++i) {
        const auto& cells = table.extras[i];
        const auto value = seconds(cells[static_cast<std::size_t>(time)]);
        if (!value) {
            found.error("bad-time", "measured_s must be a positive number of seconds",
                        "remove rows that failed", {file, table.lines[i], 1}, "measured_s");
            continue;
        }
        const std::string id = !on.empty() || gpu < 0 ? on : cells[static_cast<std::size_t>(gpu)];
        const std::string mode = launch < 0 ? "" : cells[static_cast<std::size_t>(launch)];
        const auto timing = model::timing_from_name(mode);
        if (!mode.empty() && !timing) {
            found.error("bad-launch", "'" + mode + "' is no launch mode",
                        "one of eager, stream, graph, none", {file, table.lines[i], 1}, "launch");
            continue;
        }
        const auto share =
            weight < 0 ? std::optional(1.0) : seconds(cells[static_cast<std::size_t>(weight)]);
        if (!share) {
            found.error("bad-weight", "weight must be a positive number",
                        "take rows away that shall not count", {file, table.lines[i], 1}, "weight");
            continue;
        }
        const std::string order = layout < 0 ? "" : cells[static_cast<std::size_t>(layout)];
        if (!order.empty() && !layout_named(order)) {
            found.error("bad-layout", "'" + order + "' is no layout",
                        "channels-first (nchw) or channels-last (nhwc)", {file, table.lines[i], 1},
                        "layout");
            continue;
        }
        rows.push_back({table.layers[i], id, *value, table.lines[i], timing,
                        source < 0 ? "" : cells[static_cast<std::size_t>(source)],
                        library < 0 ? "" : cells[static_cast<std::size_t>(library)],
                        layout_named(order),
                        session < 0 ? "" : cells[static_cast<std::size_t>(session)], *share});
    }
    if (found.has_errors()) {
        return found;
    }
    return rows;
}

Result<Validation> validate(const std::vector<MeasuredLayer>& rows, const MachineSource& machines,
                            const ValidateOptions& options) {
    Validation validation;
    Diagnostics found;
    Gpus gpus(machines);
    std::map<GroupKey, Ratios> groups;
    Ratios all;
    for (const MeasuredLayer& row : rows) {
        const model::Gpu* gpu = gpus.find(row.gpu, found);
        const auto checked =
            gpu != nullptr ? predicted(*gpu, row, options) : Result<ValidatedRow>(found);
        if (!checked) {
            if (gpu != nullptr) {
                found.append(checked.diagnostics());
            }
            if (gpu == nullptr || found.full()) {
                break;
            }
            continue;
        }
        Ratios& group = groups[key_of(row)];
        group.add(*checked);
        group.add_exchanged(exchanged_error(*gpu, *checked, options));
        all.add(*checked);
        validation.worst.push_back(*checked);
        if (validation.worst.size() / 2 > options.worst) {
            cut_worst(validation.worst, options.worst);
        }
    }
    if (found.has_errors()) {
        return found;
    }
    cut_worst(validation.worst, options.worst);
    for (ValidatedRow& row : validation.worst) {
        add_fit_facts(*gpus.find(row.row.gpu, found), options, row);
    }
    for (auto& [key, ratios] : groups) {
        ValidationGroup group{std::get<0>(key), std::get<1>(key), std::get<2>(key),
                              std::get<3>(key), ratios.figures(), std::nullopt};
        if (ratios.exchanged_mape() < kClearlyBetter * group.figures.mape) {
            group.exchanged_mape = ratios.exchanged_mape();
        }
        validation.mean_of_groups += group.figures.mape / static_cast<double>(groups.size());
        validation.groups.push_back(std::move(group));
    }
    validation.all = all.figures();
    return validation;
}

} // namespace eyeroof::analysis
