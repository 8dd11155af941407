#include "analysis/measured/traced_changes.hpp"

#include "base/ascii.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace eyeroof::analysis {

namespace {

using model::Op;

constexpr double kTold = 0.01; // of the step

double percent_of(double part, double whole) {
    return whole > 0.0 ? 100.0 * part / whole : 0.0;
}

bool is_pointwise(const model::Layer& layer) {
    const auto* shape = std::get_if<model::ElementwiseShape>(&layer.shape);
    return shape != nullptr && shape->fn != "h2d" && shape->fn != "d2h" && shape->fn != "peer" &&
           shape->fn != "adam" && !shape->fn.starts_with("sgd");
}

Count elements_of(const model::Layer& layer) {
    if (const auto* rows = std::get_if<model::RowsShape>(&layer.shape)) {
        return rows->rows * rows->cols;
    }
    const auto* shape = std::get_if<model::ElementwiseShape>(&layer.shape);
    return shape != nullptr ? shape->rows * shape->cols : 0;
}

// Scores of an attention that is written out: a softmax over what one product of a batch makes and
// another takes. What a fused kernel saves is the softmax, the pointwise operators on the scores,
// and the products' reads and writes of them; the products' arithmetic stays.
std::optional<TracedChange> fused_attention(const formats::TraceNetwork& trace) {
    double saves_s = 0.0;
    Count largest = 0;
    std::set<Count> scores;
    const auto& layers = trace.network.layers;
    std::set<Count> made; // elements of what products of a batch make
    for (const model::Layer& layer : layers) {
        const auto* s = std::get_if<model::GemmShape>(&layer.shape);
        if (s != nullptr && layer.op == Op::bmm) {
            made.insert(s->batch * s->m * s->n);
        }
    }
    for (const model::Layer& layer : layers) {
        if (layer.op == Op::softmax && made.contains(elements_of(layer))) {
            scores.insert(elements_of(layer));
            largest = std::max(largest, elements_of(layer));
        }
    }
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const bool on_scores = layers[i].op == Op::softmax || is_pointwise(layers[i]);
        if (on_scores && scores.contains(elements_of(layers[i]))) {
            saves_s += trace.layers[i].measured_s;
        }
    }
    if (scores.empty()) {
        return std::nullopt;
    }
    return TracedChange{
        "run attention as one kernel (scaled_dot_product_attention)",
        fmt::format("softmax and the operators on its scores ({} elements) pass through memory",
                    format_si(static_cast<double>(largest), "")),
        saves_s};
}

// Operators that follow each other on the same number of elements: a compiler makes one kernel of
// them, which reads and writes once.
std::optional<TracedChange> fused_pointwise(const formats::TraceNetwork& trace) {
    double saves_s = 0.0;
    std::int64_t kernels = 0;
    std::vector<profiles::Launch> order = trace.profile.launches;
    std::ranges::stable_sort(order, {}, &profiles::Launch::start_ns);
    std::int64_t last = profiles::kNone;
    for (const profiles::Launch& launch : order) {
        const bool known = launch.range != profiles::kNone;
        const auto at = known ? static_cast<std::size_t>(launch.range) : 0;
        const bool pointwise = known && is_pointwise(trace.network.layers[at]);
        const std::int64_t elements = pointwise ? elements_of(trace.network.layers[at]) : -1;
        if (pointwise && elements == last) {
            saves_s += launch.duration_ns * 1e-9;
            ++kernels;
        }
        last = elements;
    }
    if (kernels == 0) {
        return std::nullopt;
    }
    return TracedChange{
        "fuse pointwise operators (torch.compile)",
        fmt::format("{} kernels follow another on tensors of the same size", kernels), saves_s};
}

std::optional<TracedChange> aligned(const formats::TraceNetwork& trace, const Traced& traced) {
    double saves_s = 0.0;
    std::string first;
    for (const TracedRow& row : traced.rows) {
        if (row.cause == "rows not aligned to 16 bytes") {
            saves_s += row.saves_s();
            first = first.empty() ? row.layer : first;
        }
    }
    static_cast<void>(trace);
    return saves_s > 0.0
               ? std::optional(TracedChange{"pad dimensions to multiples of 8",
                                            first + " has rows that are not aligned to 16 bytes",
                                            saves_s})
               : std::nullopt;
}

// GEMMs of fewer tiles than SMs, and kernels that are too short to fill the device.
std::optional<TracedChange> larger_batch(const Traced& traced) {
    double saves_s = 0.0;
    std::string first;
    for (const TracedRow& row : traced.rows) {
        if (row.cause.find("tiles of 128x128 for") != std::string::npos ||
            row.cause.starts_with("short:")) {
            saves_s += row.saves_s();
            first = first.empty() ? row.layer : first;
        }
    }
    return saves_s > 0.0 ? std::optional(TracedChange{
                               "enlarge the batch, so that more work shares each start of a kernel",
                               first + " does not fill the device", saves_s})
                         : std::nullopt;
}

std::optional<TracedChange> by_cause(const Traced& traced, const char* begins, const char* what) {
    double saves_s = 0.0;
    std::string first;
    for (const TracedRow& row : traced.rows) {
        if (row.cause.starts_with(begins)) {
            saves_s += row.saves_s();
            first = first.empty() ? row.layer : first;
        }
    }
    return saves_s > 0.0
               ? std::optional(TracedChange{what, first + ": " + std::string(begins), saves_s})
               : std::nullopt;
}

// Channels-last tensors need no passes at all.
std::optional<TracedChange> without_passes(const Traced& traced) {
    double saves_s = 0.0;
    std::string first;
    for (const TracedRow& row : traced.rows) {
        if (row.cause == kLayoutPass) {
            saves_s += row.measured_s;
            first = first.empty() ? row.layer : first;
        }
    }
    return saves_s > 0.0 ? std::optional(TracedChange{"keep tensors channels-last (memory_format)",
                                                      first + " only changes a layout", saves_s})
                         : std::nullopt;
}

void add_device(const formats::TraceNetwork& trace, const profiles::DeviceTime& time,
                std::vector<TracedChange>& changes) {
    if (time.host_bound_s > 0.0) {
        changes.push_back(
            {"launch fewer or captured kernels (CUDA graph, torch.compile, larger batch)",
             fmt::format("the GPU waits for the host in {:.1f} % of the step",
                         percent_of(time.host_bound_s, time.total_s)),
             time.host_bound_s});
    }
    if (time.exposed_copies_s > 0.0) {
        const bool pageable = std::ranges::any_of(
            trace.step.copies, [](const profiles::DeviceCopy& copy) { return copy.pageable; });
        changes.push_back(
            {pageable ? "pin host memory and copy ahead (pin_memory, non_blocking)"
                      : "copy the next batch while this one computes",
             fmt::format("nothing computes in {} of copies", format_si(time.exposed_copies_s, "s")),
             time.exposed_copies_s});
    }
    if (time.exposed_communication_s > 0.0) {
        changes.push_back({"overlap communication with computation",
                           fmt::format("nothing computes in {} of collectives, which includes "
                                       "waiting for other ranks",
                                       format_si(time.exposed_communication_s, "s")),
                           time.exposed_communication_s});
    }
}

} // namespace

std::vector<TracedChange> changes_of(const formats::TraceNetwork& trace, const Traced& traced) {
    std::vector<TracedChange> changes;
    if (traced.device) {
        add_device(trace, *traced.device, changes);
    }
    const std::size_t from_kernels = changes.size();
    for (auto change : {fused_attention(trace), fused_pointwise(trace), aligned(trace, traced),
                        by_cause(traced, "fp32 units, no tensor cores", "allow tf32, or use bf16"),
                        without_passes(traced)}) {
        if (change) {
            changes.push_back(*std::move(change));
        }
    }
    if (traced.beside_s > 0.0) {
        changes.push_back({"keep collectives off the SMs that compute (fewer channels, "
                           "NCCL_MAX_CTAS, or copy engines)",
                           "kernels take that much longer while another stream's kernel runs",
                           traced.beside_s});
    }
    if (auto change = larger_batch(traced)) {
        changes.push_back(*std::move(change));
    }
    // Kernels of several streams overlap: no change of them saves more than the time in which any
    // computes.
    const double step_s = traced.device ? traced.device->total_s : traced.kernel_s;
    for (std::size_t i = from_kernels; traced.device && i < changes.size(); ++i) {
        changes[i].saves_s = std::min(changes[i].saves_s, traced.device->computation_s);
    }
    std::erase_if(changes,
                  [&](const TracedChange& change) { return change.saves_s < kTold * step_s; });
    std::ranges::stable_sort(changes, std::ranges::greater{}, &TracedChange::saves_s);
    return changes;
}

} // namespace eyeroof::analysis
