#include "analysis/measured/traced.hpp"

#include "analysis/exam/report_figures.hpp"
#include "analysis/measured/traced_changes.hpp"
#include "analysis/measured/traced_compare.hpp"
#include "base/ascii.hpp"
#include "base/units.hpp"
#include "formats/trace_gpu.hpp"
#include "profiles/kernel_names.hpp"
#include "profiles/operator_layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace eyeroof::analysis {

namespace {

using model::Op;

const char* category_of(const model::Layer& layer) {
    switch (layer.op) {
    case Op::conv2d:
        return "convolution";
    case Op::gemm:
    case Op::bmm:
        return "GEMM";
    case Op::attention:
        return "attention";
    case Op::moe:
        return "experts";
    case Op::softmax:
        return "softmax";
    case Op::layernorm:
    case Op::batchnorm:
        return "norm";
    case Op::embedding:
        return "embedding";
    case Op::maxpool:
    case Op::avgpool:
        return "reduction";
    default:
        break;
    }
    const auto* shape = std::get_if<model::ElementwiseShape>(&layer.shape);
    const std::string_view fn = shape != nullptr ? std::string_view(shape->fn) : "";
    return fn == "h2d" || fn == "d2h" ? "host copy"
           : fn == "peer"             ? "communication"
           : fn == "copy" || fn == "permute" || fn == "transpose" || fn == "concat" || fn == "cast"
               ? "copy"
           : fn == "fill"                          ? "fill"
           : fn == "adam" || fn.starts_with("sgd") ? "optimizer"
                                                   : "pointwise";
}

struct Bound {
    double seconds = 0.0;
    std::string by;
    bool on_device_memory = false;
};

// The least time that the data sheet allows: operations at the type's peak (GEMMs, convolutions and
// attention on tensor cores, the rest on fp32 lanes), bytes at the memory's or link's bandwidth.
Bound bound_of(const model::Gpu& gpu, const model::Layer& layer, const model::Work& work) {
    const auto* shape = std::get_if<model::ElementwiseShape>(&layer.shape);
    const std::string_view fn = shape != nullptr ? std::string_view(shape->fn) : "";
    if (fn == "h2d" || fn == "d2h" || fn == "peer") {
        const bool peer = fn == "peer";
        const double link =
            peer ? gpu.link_bytes_per_s / 2.0 : gpu.pcie_bytes_per_s; // links: both directions
        const double bytes = static_cast<double>(work.bytes_read());
        return {link > 0.0 ? bytes / link : 0.0, peer ? "link to peers" : "PCIe", false};
    }
    const bool products = model::multiplies(layer.op) || layer.op == Op::moe;
    const model::DataType type = products ? layer.types.input : model::DataType::fp32;
    const double peak = gpu.rate(type).flops_per_s;
    const double flops =
        products ? 2.0 * static_cast<double>(work.macs) : static_cast<double>(work.flops);
    const double arithmetic = peak > 0.0 ? flops / peak : 0.0;
    const double memory = static_cast<double>(work.bytes()) / gpu.dram_bytes_per_s;
    return arithmetic > memory
               ? Bound{arithmetic, std::string(model::data_type_name(type)) + " arithmetic", false}
               : Bound{memory, "DRAM", true};
}

// What a trace says of its own accuracy, and of the device.
struct Evidence {
    double l2_bytes = 0.0;
    double clock_s = 0.0; // durations are whole multiples of it; 0: finer than a nanosecond
};

// 1 us where every duration is a whole number of them, as in traces before PyTorch 2.
double clock_of(const profiles::Profile& profile) {
    constexpr double kUs = 1e3; // in ns
    constexpr std::size_t kFewest = 16;
    std::size_t timed = 0;
    for (const profiles::Launch& launch : profile.launches) {
        if (launch.duration_ns > 0.0 && launch.calls == 1) {
            if (std::fmod(launch.duration_ns, kUs) != 0.0) {
                return 0.0;
            }
            ++timed;
        }
    }
    return timed >= kFewest ? 1e-6 : 0.0;
}

// Arithmetic above the peak of the operands' type: the kernel's name says a faster one.
std::string faster_type(const model::Layer& layer, const std::vector<std::string>& kernels,
                        const model::Gpu& gpu) {
    for (const std::string& name : kernels) {
        const auto type = profiles::type_in_kernel_name(name);
        if (type && gpu.rate(*type).flops_per_s > gpu.rate(layer.types.input).flops_per_s) {
            return fmt::format("its kernel computes in {}", model::data_type_name(*type));
        }
    }
    return {};
}

// Why a kernel is faster than its tensors' bytes or its operations allow: each cause is held
// against the figures before it is named.
std::string above_cause(const TracedRow& row, const model::Layer& layer, const Bound& bound,
                        const std::vector<std::string>& kernels, const model::Gpu& gpu,
                        const Evidence& evidence) {
    const auto runs = static_cast<double>(row.count);
    const double each = row.bytes / runs;
    const double l2_bytes = evidence.l2_bytes;
    if (bound.on_device_memory && each <= l2_bytes) {
        return fmt::format("its {} fit L2 ({})", format_si(each, "B"), format_si(l2_bytes, "B"));
    }
    if (evidence.clock_s > 0.0 && row.measured_s + runs * evidence.clock_s >= *row.bound_s) {
        return "within the trace's clock, which counts whole microseconds";
    }
    const double moved = row.measured_s / runs * gpu.dram_bytes_per_s;
    if (bound.on_device_memory && each - moved <= l2_bytes) {
        return fmt::format("at least {} of its {} were still in L2", format_si(each - moved, "B"),
                           format_si(each, "B"));
    }
    if (row.found == formats::Found::traffic) {
        return fmt::format("it touches at most {} of the {} of its tensors",
                           format_si(moved + l2_bytes, "B"), format_si(each, "B"));
    }
    const auto* table = std::get_if<model::RowsShape>(&layer.shape);
    if (layer.op == Op::embedding && table != nullptr && table->rows > table->table &&
        table->table > 0) {
        return fmt::format("{} lookups share {} rows, which stay in L2", table->rows, table->table);
    }
    if (!bound.on_device_memory) {
        if (std::string type = faster_type(layer, kernels, gpu); !type.empty()) {
            return type;
        }
    }
    return row.found == formats::Found::exact
               ? "not known: fewer operations or bytes than its definition counts"
               : "its work is not exact: " + row.why;
}

std::vector<std::vector<std::string>> kernels_by_layer(const formats::TraceNetwork& trace) {
    std::vector<std::map<std::string, double>> times(trace.layers.size());
    for (const profiles::Launch& launch : trace.profile.launches) {
        if (launch.range != profiles::kNone) {
            times[static_cast<std::size_t>(launch.range)][trace.profile.kernel_of(launch).name] +=
                launch.duration_ns;
        }
    }
    std::vector<std::vector<std::string>> names;
    for (const auto& of_layer : times) {
        std::vector<std::pair<double, std::string>> order;
        for (const auto& [name, time] : of_layer) {
            order.emplace_back(-time, name);
        }
        std::ranges::sort(order);
        auto& list = names.emplace_back();
        for (auto& entry : order) {
            list.push_back(std::move(entry.second));
        }
    }
    return names;
}

bool any_says(const std::vector<std::string>& kernels, std::initializer_list<const char*> parts) {
    return std::ranges::any_of(kernels, [&](const std::string& name) {
        const std::string low = lowered(name);
        return std::ranges::any_of(
            parts, [&](const char* part) { return low.find(part) != std::string::npos; });
    });
}

// What keeps a kernel from its bound, by its name and shape.
std::string below_cause(const TracedRow& row, const model::Layer& layer,
                        const std::vector<std::string>& kernels, const model::Gpu& gpu) {
    constexpr double kClose = 1.25;
    constexpr double kShort_s = 5e-6;
    const auto runs = static_cast<double>(row.count);
    if (!row.bound_s || row.measured_s <= kClose * *row.bound_s) {
        return "near its bound";
    }
    if (row.measured_s / runs < kShort_s) {
        return "short: start and end of the kernel take most of it";
    }
    const auto* fn = std::get_if<model::ElementwiseShape>(&layer.shape);
    if (fn != nullptr && fn->fn.starts_with("to_channels_")) {
        return kLayoutPass;
    }
    if (fn != nullptr && fn->fn == "transpose") {
        return "transposes: neighbors on one side are scattered on the other";
    }
    const bool products = model::multiplies(layer.op);
    if (products && any_says(kernels, {"sgemm", "simt"}) &&
        layer.types.input == model::DataType::fp32) {
        return "fp32 units, no tensor cores: tf32 or bf16 would use them";
    }
    if (rows_unaligned(layer)) {
        return "rows not aligned to 16 bytes";
    }
    if (any_says(kernels, {"splitk", "reduce_kernel"}) && products) {
        return "split along K, and a reduction behind it";
    }
    const auto* gemm = std::get_if<model::GemmShape>(&layer.shape);
    if (gemm != nullptr) {
        const double tiles = static_cast<double>(gemm->batch) *
                             static_cast<double>((gemm->m + 127) / 128) *
                             static_cast<double>((gemm->n + 127) / 128);
        const double waves = tiles / std::max(1, gpu.sms);
        if (waves < 1.0) {
            return fmt::format("{:.0f} tiles of 128x128 for {} SMs", tiles, gpu.sms);
        }
        if (gemm->k < 128) {
            return "short inner dimension: loading a tile is not hidden";
        }
    }
    if (row.bound_by == "link to peers") {
        return "waiting for other ranks, or latency of a small message";
    }
    if (row.bound_by == "PCIe") {
        return "pageable memory, or a small copy";
    }
    if (row.found == formats::Found::traffic) {
        return "more traffic than its tensors once, or arithmetic that is not counted";
    }
    return layer.op == Op::softmax || layer.op == Op::layernorm || layer.op == Op::avgpool
               ? "tensors read more than once, or few rows in flight"
               : "traffic above its tensors once, or low occupancy";
}

void add_bound(TracedRow& row, const model::Layer& layer, const model::Work& work,
               const std::vector<std::string>& kernels, const model::Gpu& gpu,
               const Evidence& evidence) {
    const Bound bound = bound_of(gpu, layer, work);
    if (!(bound.seconds > 0.0)) {
        return;
    }
    row.bound_s = bound.seconds * static_cast<double>(row.count);
    row.bound_by = bound.by;
    row.cause = row.above_roof() ? above_cause(row, layer, bound, kernels, gpu, evidence)
                                 : below_cause(row, layer, kernels, gpu);
}

std::string kernel_family(const std::string& kernel) {
    using profiles::KernelCategory;
    switch (profiles::category_of(kernel)) {
    case KernelCategory::communication:
        return fmt::format("communication ({})", profiles::communication_of(kernel));
    case KernelCategory::gemm:
        return "GEMM";
    case KernelCategory::conv:
        return "convolution";
    case KernelCategory::elementwise:
        return "pointwise";
    case KernelCategory::normalization:
        return "norm";
    case KernelCategory::pooling:
        return "reduction";
    case KernelCategory::unknown:
        return "other";
    default:
        return profiles::category_name(profiles::category_of(kernel));
    }
}

std::string said_by(const std::string& kernel, const std::string& category) {
    std::string says;
    if (category != "GEMM" && category != "attention" && category != "experts" &&
        category != "convolution") {
        return says;
    }
    if (const auto type = profiles::type_in_kernel_name(kernel)) {
        says = model::data_type_name(*type);
    }
    if (const auto tile = profiles::tile_of(kernel)) {
        says +=
            fmt::format("{}tiles of {}x{}", says.empty() ? "" : ", ", tile->rows, tile->columns);
    }
    return says;
}

// Kernels without a layer.
void add_unknown(const formats::TraceNetwork& trace, Traced& made) {
    std::map<std::uint32_t, TracedKernel> sums;
    for (const profiles::Launch& launch : trace.profile.launches) {
        if (launch.range == profiles::kNone) {
            TracedKernel& sum = sums[launch.kernel];
            sum.runs += launch.calls;
            sum.measured_s += std::max(launch.duration_ns, 0.0) * 1e-9;
        }
    }
    for (auto& [kernel, sum] : sums) {
        sum.name = trace.profile.kernels[kernel].name;
        sum.category = kernel_family(sum.name);
        sum.says = said_by(sum.name, sum.category);
        made.unknown.push_back(std::move(sum));
    }
    std::ranges::stable_sort(made.unknown, std::ranges::greater{}, &TracedKernel::measured_s);
}

void add_categories(const formats::TraceNetwork& trace, double all_s, Traced& made) {
    std::map<std::string, TracedCategory> sums;
    for (std::size_t i = 0; i < trace.layers.size(); ++i) {
        TracedCategory& sum = sums[category_of(trace.network.layers[i])];
        sum.runs += trace.network.layers[i].count;
        sum.measured_s += trace.layers[i].measured_s;
    }
    for (const TracedKernel& kernel : made.unknown) {
        const std::string name = kernel.category.substr(0, kernel.category.find(" ("));
        TracedCategory& sum = sums[name == "other" ? "not known" : name];
        sum.runs += kernel.runs;
        sum.measured_s += kernel.measured_s;
    }
    for (auto& [name, sum] : sums) {
        sum.name = name;
        sum.share = all_s > 0.0 ? sum.measured_s / all_s : 0.0;
        made.categories.push_back(sum);
    }
    std::ranges::stable_sort(made.categories, std::ranges::greater{}, &TracedCategory::measured_s);
}

// Of the types that the step's operators have, and of fp32 lanes.
void add_roofs(const formats::TraceNetwork& trace, const model::Gpu& gpu, Traced& made) {
    std::map<std::string, double> peaks;
    peaks["fp32"] = gpu.rate(model::DataType::fp32).flops_per_s;
    for (const model::Layer& layer : trace.network.layers) {
        if (model::multiplies(layer.op) || layer.op == Op::moe) {
            peaks[std::string(model::data_type_name(layer.types.input))] =
                gpu.rate(layer.types.input).flops_per_s;
        }
    }
    for (const auto& [name, rate] : peaks) {
        if (rate > 0.0) {
            made.roofs.push_back({name, rate, false});
        }
    }
    made.roofs.push_back({"DRAM", gpu.dram_bytes_per_s, true});
    made.roofs.push_back({"L2", model::l2_bandwidth(gpu), true});
}

} // namespace

bool ran_as_asked(const formats::TraceNetwork& trace, const Scenario& scenario,
                  hwdb::Folders machines) {
    const bool as_it_ran = scenario.batch.value_or(1) == 1 && !scenario.data_type &&
                           !scenario.training && !scenario.compiled && scenario.changes.empty() &&
                           scenario.density.empty();
    return as_it_ran && formats::same_gpu(trace.profile.run, scenario.machine, machines);
}

std::string traced_category(const model::Layer& layer) {
    return category_of(layer);
}

double Traced::placed_share() const {
    double placed = 0.0, all = 0.0;
    for (const TracedRow& row : rows) {
        placed += row.placed() ? row.measured_s : 0.0;
        all += row.measured_s;
    }
    return all > 0.0 ? placed / all : 0.0;
}

std::optional<double> TracedRow::ratio() const {
    if (!predicted_s || !not_compared.empty() || alone_runs <= 0 || !(alone_s > 0.0) ||
        !(*predicted_s > 0.0)) {
        return std::nullopt;
    }
    const double predicted = *predicted_s * static_cast<double>(alone_runs);
    return alone_s * static_cast<double>(count) / predicted;
}

bool TracedRow::inside() const {
    const auto measured = ratio();
    return measured && low_s && high_s && *measured * *predicted_s >= *low_s &&
           *measured * *predicted_s <= *high_s;
}

bool rows_unaligned(const model::Layer& layer) {
    const auto* gemm = std::get_if<model::GemmShape>(&layer.shape);
    const int bytes = std::max(1, model::storage_bits(layer.types.input) / 8);
    const auto cut = [bytes](Count columns) { return columns > 1 && columns * bytes % 16 != 0; };
    return gemm != nullptr && (cut(gemm->n) || cut(gemm->k));
}

TracedStep traced_step(const Traced& traced) {
    TracedStep step;
    if (traced.device) {
        step.step_s = traced.device->total_s;
        step.kernels_s = traced.device->busy_s();
    }
    if (!traced.comparisons.empty()) {
        step.compared_s = traced.comparisons.front().measured_s;
        step.predicted_s = traced.comparisons.front().predicted_s;
    }
    return step;
}

Result<Traced> traced(const formats::TraceNetwork& trace, const model::Machine* machine,
                      const Report* report) {
    const auto* gpu = machine != nullptr ? std::get_if<model::Gpu>(&machine->kind) : nullptr;
    Traced made;
    made.step = trace.step_name;
    made.gpu = trace.profile.run.gpu;
    made.machine = gpu != nullptr ? machine->id : "";
    made.device = profiles::device_time(trace.step);
    made.path = critical_path(trace.step);
    made.kernel_s = trace.kernel_s;
    if (const auto missing = formats::missing_operators(trace)) {
        made.notes.push_back(
            fmt::format("only {:.1f} % of the {} of kernels belong to operators of known work: {}",
                        100.0 * trace.layered_s / trace.kernel_s, format_si(trace.kernel_s, "s"),
                        missing->why));
        made.notes.push_back(missing->fix);
    }
    made.notes.insert(made.notes.end(), trace.notes.begin(), trace.notes.end());
    add_unknown(trace, made);
    made.layered_s = trace.layered_s;
    made.l2_bytes = gpu != nullptr ? gpu->l2_bytes : 0.0;
    double all_s = model::uncosted_seconds(trace.network);
    for (const formats::TracedLayer& layer : trace.layers) {
        all_s += layer.measured_s;
    }
    LayersByName predicted = report != nullptr ? layers_by_name(*report) : LayersByName();
    const auto kernels = kernels_by_layer(trace);
    const auto alone = runs_alone(trace);
    const Evidence evidence{made.l2_bytes, clock_of(trace.step)};
    for (std::size_t i = 0; i < trace.layers.size(); ++i) {
        const model::Layer& layer = trace.network.layers[i];
        const auto work = model::work_of(layer);
        if (!work) {
            return work.diagnostics();
        }
        const formats::TracedLayer& from = trace.layers[i];
        TracedRow row;
        row.layer = layer.name;
        row.category = category_of(layer);
        row.op = from.op;
        row.dims = from.dims;
        row.found = from.found;
        row.why = from.why;
        row.count = layer.count;
        row.measured_s = from.measured_s;
        row.share = all_s > 0.0 ? from.measured_s / all_s : 0.0;
        const auto runs = static_cast<double>(layer.count);
        row.flops = runs * (work->macs > 0 ? 2.0 * static_cast<double>(work->macs)
                                           : static_cast<double>(work->flops));
        row.bytes = runs * static_cast<double>(work->bytes());
        row.alone_runs = alone[i].runs;
        row.alone_s = alone[i].seconds;
        if (gpu != nullptr && row.measured_s > 0.0) {
            add_bound(row, layer, *work, kernels[i], *gpu, evidence);
        }
        if (const auto at = predicted.next(layer.name)) {
            add_prediction(row, layer, report->layers[*at]);
            row.doubt = doubt_of(row, layer, kernels[i]);
        }
        made.rows.push_back(std::move(row));
    }
    std::ranges::stable_sort(made.rows, std::ranges::greater{}, &TracedRow::measured_s);
    add_categories(trace, all_s, made);
    add_launches(trace, made);
    if (gpu != nullptr) {
        add_roofs(trace, *gpu, made);
    }
    made.changes = changes_of(trace, made);
    made.comparisons = comparisons_of(made.rows);
    made.left_out = left_out_of(made.rows);
    add_modules(trace, made);
    return made;
}

} // namespace eyeroof::analysis
