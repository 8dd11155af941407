#include "analysis/measured/traced_compare.hpp"

#include "analysis/exam/trace_error.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace eyeroof::analysis {

namespace {

using profiles::kNone;
using profiles::Launch;

// A standard deviation of ln(time) is a 2.56th of the logarithm of an 80 % interval's ends.
constexpr double kHalfWidths = 1.2816;

struct Span {
    double start_ns = 0.0, end_ns = 0.0;
    std::int64_t stream = kNone;
    std::size_t launch = 0;
};

// Share of each launch's time during which a kernel of another stream ran.
std::vector<double> shares_beside(const profiles::Profile& profile) {
    std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<Span>> devices;
    for (std::size_t i = 0; i < profile.launches.size(); ++i) {
        const Launch& launch = profile.launches[i];
        if (launch.start_ns != kNone && launch.duration_ns > 0.0 && launch.calls == 1) {
            const auto start = static_cast<double>(launch.start_ns);
            devices[{launch.source, launch.device}].push_back(
                {start, start + launch.duration_ns, launch.stream, i});
        }
    }
    std::vector<double> shares(profile.launches.size(), 0.0);
    for (auto& [device, spans] : devices) {
        std::ranges::sort(spans, {}, &Span::start_ns);
        std::vector<const Span*> open;
        for (const Span& span : spans) {
            std::erase_if(open, [&](const Span* o) { return o->end_ns <= span.start_ns; });
            for (const Span* other : open) {
                if (other->stream == span.stream) {
                    continue;
                }
                const double both = std::min(other->end_ns, span.end_ns) - span.start_ns;
                shares[span.launch] += both / (span.end_ns - span.start_ns);
                shares[other->launch] += both / (other->end_ns - other->start_ns);
            }
            open.push_back(&span);
        }
    }
    return shares;
}

double median(std::vector<double> values) {
    if (values.empty()) {
        return 0.0;
    }
    std::ranges::sort(values);
    const std::size_t n = values.size();
    return n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

// The interval's end at this distance in ln(time), widened by what the trace adds.
double widened(double predicted_s, double end_s, double sigma) {
    const double own = std::log(end_s / predicted_s);
    const double more = kHalfWidths * sigma;
    return predicted_s * std::exp((own < 0.0 ? -1.0 : 1.0) * std::sqrt(own * own + more * more));
}

std::string reason_not_to_compare(const TracedRow& row) {
    if (row.op.starts_with("copy::")) {
        return "a transfer or fill of the driver, not a kernel";
    }
    if (row.bound_by == "link to peers" || row.category == "communication") {
        return "a collective: its kernel waits for other ranks";
    }
    if (row.found == formats::Found::traffic) {
        return "only its tensors are known: a bound, not a prediction";
    }
    if (!(row.measured_s > 0.0)) {
        return "its kernels have no duration in the trace";
    }
    return row.alone_runs == 0 || !(row.alone_s > 0.0)
               ? "a kernel of another stream runs beside each of its runs"
               : "";
}

TracedComparison comparison_of(const std::string& name, const std::vector<const TracedRow*>& rows) {
    TracedComparison made;
    made.name = name;
    made.rows = static_cast<std::int64_t>(rows.size());
    std::vector<double> errors, ratios;
    for (const TracedRow* row : rows) {
        const double predicted = 1.0 / row->ratio().value_or(1.0);
        errors.push_back(std::abs(predicted - 1.0));
        ratios.push_back(predicted);
        made.coverage += row->inside() ? 1.0 : 0.0;
        made.model_coverage += row->inside_model ? 1.0 : 0.0;
        made.measured_s += row->alone_s;
        made.predicted_s += row->alone_s * predicted;
    }
    const auto n = static_cast<double>(std::max<std::size_t>(rows.size(), 1));
    made.coverage /= n;
    made.model_coverage /= n;
    made.median_error = median(errors);
    made.bias = median(ratios);
    return made;
}

// "Encoder_0/Layer_3" -> "Encoder/Layer": names end in the number of the instance.
std::string class_path(std::string_view path) {
    std::string made;
    while (!path.empty()) {
        const std::size_t slash = path.find('/');
        std::string_view name = path.substr(0, slash);
        const std::size_t under = name.rfind('_');
        const bool numbered =
            under != std::string_view::npos && under + 1 < name.size() &&
            name.find_first_not_of("0123456789", under + 1) == std::string_view::npos;
        made.append(made.empty() ? "" : "/").append(numbered ? name.substr(0, under) : name);
        path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    }
    return made;
}

struct ModuleSum {
    TracedModule sum;
    std::set<std::string_view> instances;
    double predicted_s = 0.0;
    bool whole = true; // every kernel has a prediction
};

} // namespace

std::vector<RunsAlone> runs_alone(const formats::TraceNetwork& trace) {
    constexpr double kBeside = 0.05;
    struct Run {
        double seconds = 0.0;
        bool alone = true;
        Count times = 1;
    };
    const auto shares = shares_beside(trace.profile);
    std::map<std::pair<std::int32_t, std::int64_t>, Run> runs;
    for (std::size_t i = 0; i < trace.profile.launches.size(); ++i) {
        const Launch& launch = trace.profile.launches[i];
        if (launch.range == kNone) {
            continue;
        }
        const auto [at, fresh] = runs.try_emplace({launch.range, launch.range_call});
        Run& run = at->second;
        run.seconds += std::max(launch.duration_ns, 0.0) * 1e-9;
        run.alone = run.alone && shares[i] <= kBeside;
        run.times = fresh ? launch.calls : std::min<Count>(run.times, launch.calls);
    }
    std::vector<RunsAlone> alone(trace.layers.size());
    for (const auto& [key, run] : runs) {
        if (run.alone) {
            RunsAlone& of = alone[static_cast<std::size_t>(key.first)];
            of.runs += run.times;
            of.seconds += run.seconds;
        }
    }
    return alone;
}

void add_prediction(TracedRow& row, const model::Layer& layer, const LayerReport& predicted) {
    const auto runs = static_cast<double>(layer.count);
    row.predicted_s = predicted.time_s * runs;
    row.not_compared = reason_not_to_compare(row);
    if (!predicted.low_s || !predicted.high_s || !(*predicted.low_s > 0.0) ||
        !(predicted.time_s > 0.0)) {
        return;
    }
    const double sigma = row.found == formats::Found::exact ? kRunSigma : kInferredSigma;
    row.low_s = widened(predicted.time_s, *predicted.low_s, sigma) * runs;
    row.high_s = widened(predicted.time_s, *predicted.high_s, sigma) * runs;
    const double each =
        row.alone_runs > 0 ? row.alone_s / static_cast<double>(row.alone_runs) : 0.0;
    row.inside_model = each >= *predicted.low_s && each <= *predicted.high_s;
}

std::string doubt_of(const TracedRow& row, const model::Layer& layer,
                     const std::vector<std::string>& kernels) {
    const auto says = [&](const char* part) {
        return std::ranges::any_of(
            kernels, [&](const std::string& name) { return name.find(part) != std::string::npos; });
    };
    constexpr Count kSmall = 16;
    if (const auto* gemm = std::get_if<model::GemmShape>(&layer.shape)) {
        if (rows_unaligned(layer)) {
            return "rows not aligned to 16 bytes; the model counts that of K, and no other kernels";
        }
        if (gemm->batch > 1 && std::min({gemm->m, gemm->n, gemm->k}) <= kSmall) {
            return "a batch of small products: kernels of their own";
        }
    }
    if (says("CatArrayBatchedCopy")) {
        return "concatenates: element by element, the model has a plain copy";
    }
    if (says("softmax_warp_forward")) {
        return "a warp a row, kept in registers; the model has a CTA a row";
    }
    if (says("cunn_SoftMaxForward")) {
        return "reads each row up to three times; the model reads it once from DRAM";
    }
    if (row.category == "reduction" || says("reduce_kernel")) {
        return "reduces; the model does not know along which stride";
    }
    return kernels.size() > 1 ? std::to_string(kernels.size()) + " kernels, predicted as one" : "";
}

std::vector<TracedComparison> comparisons_of(const std::vector<TracedRow>& rows) {
    std::vector<const TracedRow*> all;
    std::map<std::string, std::vector<const TracedRow*>> by_category;
    for (const TracedRow& row : rows) {
        if (row.ratio()) {
            all.push_back(&row);
            by_category[row.category].push_back(&row);
        }
    }
    std::vector<TracedComparison> made;
    if (all.empty()) {
        return made;
    }
    for (const auto& [name, of] : by_category) {
        made.push_back(comparison_of(name, of));
    }
    std::ranges::stable_sort(made, std::ranges::greater{}, &TracedComparison::measured_s);
    made.insert(made.begin(), comparison_of("all", all));
    return made;
}

std::vector<TracedLeftOut> left_out_of(const std::vector<TracedRow>& rows) {
    std::map<std::string, TracedLeftOut> sums;
    for (const TracedRow& row : rows) {
        if (row.predicted_s && !row.not_compared.empty()) {
            TracedLeftOut& sum = sums[row.not_compared];
            sum.why = row.not_compared;
            sum.rows += 1;
            sum.measured_s += row.measured_s;
        }
    }
    std::vector<TracedLeftOut> made;
    for (auto& [why, sum] : sums) {
        made.push_back(std::move(sum));
    }
    std::ranges::stable_sort(made, std::ranges::greater{}, &TracedLeftOut::measured_s);
    return made;
}

void add_launches(const formats::TraceNetwork& trace, Traced& traced) {
    std::map<std::string_view, std::int32_t> rows;
    for (std::size_t i = 0; i < traced.rows.size(); ++i) {
        const TracedRow& row = traced.rows[i];
        rows[row.layer] = static_cast<std::int32_t>(i);
        if (row.alone_runs > 0 && row.alone_runs < row.count) {
            const auto beside = static_cast<double>(row.count - row.alone_runs);
            const double each = row.alone_s / static_cast<double>(row.alone_runs);
            traced.beside_s += std::max(0.0, row.measured_s - row.alone_s - beside * each);
        }
    }
    std::int64_t first = kNone;
    for (const Launch& launch : trace.profile.launches) {
        if (launch.start_ns != kNone && (first == kNone || launch.start_ns < first)) {
            first = launch.start_ns;
        }
    }
    for (const profiles::Kernel& kernel : trace.profile.kernels) {
        traced.kernels.push_back(kernel.name);
    }
    for (const Launch& launch : trace.profile.launches) {
        if (launch.start_ns == kNone || launch.duration_ns < 0.0) {
            continue;
        }
        TracedLaunch made;
        made.start_s = static_cast<double>(launch.start_ns - first) * 1e-9;
        made.duration_s = launch.duration_ns * 1e-9;
        made.stream = launch.stream;
        made.kernel = launch.kernel;
        made.backward = launch.backward;
        if (launch.range != kNone) {
            made.row = rows[trace.network.layers[static_cast<std::size_t>(launch.range)].name];
        }
        traced.launches.push_back(made);
    }
    std::ranges::stable_sort(traced.launches, {}, &TracedLaunch::start_s);
}

void add_modules(const formats::TraceNetwork& trace, Traced& traced) {
    std::map<std::string, const TracedRow*> rows;
    for (const TracedRow& row : traced.rows) {
        rows[row.layer] = &row;
    }
    std::map<std::string, ModuleSum> sums;
    for (const Launch& launch : trace.profile.launches) {
        const double seconds = std::max(launch.duration_ns, 0.0) * 1e-9;
        (launch.backward ? traced.backward_s : traced.forward_s) += seconds;
        if (launch.module == kNone) {
            continue;
        }
        const std::string_view path = trace.profile.ranges[static_cast<std::size_t>(launch.module)];
        const TracedRow* row = nullptr;
        if (launch.range != kNone) {
            const auto& layer = trace.network.layers[static_cast<std::size_t>(launch.range)];
            row = rows[layer.name];
        }
        const auto ratio = row != nullptr ? row->ratio() : std::nullopt;
        for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
            const std::string_view instance = path.substr(0, end);
            ModuleSum& sum = sums[class_path(instance)];
            sum.instances.insert(instance);
            sum.sum.kernels += launch.calls;
            (launch.backward ? sum.sum.backward_s : sum.sum.forward_s) += seconds;
            sum.predicted_s += ratio ? seconds / *ratio : 0.0;
            sum.whole = sum.whole && ratio.has_value();
            if (end == std::string_view::npos) {
                break;
            }
        }
    }
    for (auto& [path, sum] : sums) {
        sum.sum.path = path;
        sum.sum.instances = static_cast<std::int64_t>(sum.instances.size());
        if (sum.whole) {
            sum.sum.predicted_s = sum.predicted_s;
        }
        traced.modules.push_back(std::move(sum.sum));
    }
    if (traced.backward_s <= 0.0) {
        traced.forward_s = 0.0;
    }
}

} // namespace eyeroof::analysis
