#include "analysis/program/timeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace eyeroof::analysis::step {

model::HostIssue textbook_host() {
    return {40e-6, 16e-6, 3e-6, 1.3e-6};
}

double step_high_s(double time_s, double high_s) {
    // What a step has beside its operators (input, copies, waits of the host, kernels that the
    // network does not name) adds to it: one measured step in ten took longer than the operators'
    // own errors and this, ln, joined as independent, of 228 of 11 sources on V100, A100 and T4,
    // each source counted once; docs/dev/upgrade-evidence.md says how many of a held-out source the
    // intervals cover.
    constexpr double kStepAbove = 0.54;
    if (!(time_s > 0.0)) {
        return high_s;
    }
    return time_s * std::exp(std::hypot(std::log(std::max(high_s / time_s, 1.0)), kStepAbove));
}

std::string_view waited_text(Waited waited) {
    constexpr std::array<std::string_view, 6> texts = {"nothing", "host", "stream",
                                                       "operand", "copy", "room"};
    return texts[static_cast<std::size_t>(waited)];
}

namespace {

// A kernel that runs, for the room that it takes.
struct Running {
    double end_s;
    double share;
    OperatorId op;
};

class Simulator {
  public:
    Simulator(const Graph& graph, const Costs& costs, const model::Gpu& gpu,
              const TimelineOptions& options)
        : graph_(graph), costs_(costs), gpu_(gpu), options_(options),
          ready_(graph.tensors.size(), 0.0), maker_(graph.tensors.size(), kNone),
          copied_(graph.tensors.size(), false),
          streams_(static_cast<std::size_t>(std::max(options.streams, 1))),
          synchronous_(gpu.arch == model::GpuArch::host) {
        line_.spans.reserve(graph.operators.size());
    }

    Timeline run() {
        if (!synchronous_) {
            copy_in();
            enter();
        }
        for (OperatorId i = 0; i < static_cast<OperatorId>(graph_.operators.size()); ++i) {
            step(i);
        }
        copy_out();
        finish();
        return std::move(line_);
    }

  private:
    struct Stream {
        double free_s = 0.0;
        OperatorId last = kNone;
    };

    void copy(TensorId tensor, bool to_device, double ready_s, double& engine_s) {
        const double seconds = copy_seconds(gpu_, graph_.tensors[tensor].bytes, options_.pageable);
        if (seconds <= 0.0) {
            return;
        }
        host_ += options_.host.launch_s;
        line_.host_s += options_.host.launch_s;
        const double start = std::max({host_, engine_s, ready_s});
        engine_s = start + seconds;
        line_.copies.push_back({tensor, to_device, start, engine_s});
        if (to_device) {
            ready_[tensor] = engine_s;
            copied_[tensor] = true;
        }
        host_ = options_.pageable ? engine_s : host_;
    }

    bool staged() const {
        return options_.copies == Copies::staged || options_.copies == Copies::staged_all;
    }

    // Copies on the device before the first kernel, each a kernel that reads and writes a tensor.
    void stage() {
        double bytes = 0.0;
        double copies = 0.0;
        for (const Tensor& tensor : graph_.tensors) {
            const bool given = tensor.role == Role::input || tensor.role == Role::state;
            const bool weight =
                tensor.role == Role::weight && options_.copies == Copies::staged_all;
            if ((given || weight) && tensor.bytes > 0) {
                bytes += static_cast<double>(tensor.bytes);
                copies += 1.0;
            }
        }
        issue(copies * options_.host.launch_s);
        const double share = gpu_.calibration.memory.dram_share;
        const double seconds = 2.0 * bytes / (share * gpu_.dram_bytes_per_s);
        for (Stream& stream : streams_) {
            stream.free_s = host_ + latency_ + seconds;
        }
        line_.wait_host_s += host_ + latency_;
        busy_until_ = streams_.front().free_s;
        line_.busy_s += seconds;
    }

    void copy_in() {
        if (options_.copies == Copies::none || staged()) {
            return;
        }
        for (TensorId t = 0; t < static_cast<TensorId>(graph_.tensors.size()); ++t) {
            const Role role = graph_.tensors[t].role;
            const bool moves =
                role == Role::input ||
                (options_.copies == Copies::all && (role == Role::weight || role == Role::state));
            if (moves) {
                copy(t, true, 0.0, in_engine_);
            }
        }
    }

    void copy_out() {
        if (options_.copies == Copies::none || staged() || synchronous_) {
            return;
        }
        const bool trains =
            std::any_of(graph_.operators.begin(), graph_.operators.end(),
                        [](const Operator& o) { return o.kind == model::Issued::update; });
        for (TensorId t = 0; t < static_cast<TensorId>(graph_.tensors.size()); ++t) {
            const Tensor& tensor = graph_.tensors[t];
            const bool weight =
                tensor.role == Role::weight && trains && options_.copies == Copies::all;
            if (tensor.output || weight) {
                copy(t, false, ready_[t], out_engine_);
            }
        }
    }

    void issue(double seconds) {
        host_ += seconds;
        line_.host_s += seconds;
    }

    // What comes before the first kernel: generated code is entered, inputs are staged, a graph is
    // launched. Copies from the host were issued before by the caller, however kernels are
    // launched.
    void enter() {
        const model::HostIssue& host = options_.host;
        if (options_.launch != model::Launch::none) {
            const bool eager = options_.launch == model::Launch::eager;
            // A framework that stages inputs wraps the call, however it launches; the call that
            // replays a graph launches it as well.
            const double wrapped_s = staged() ? host.replay_s : 0.0;
            issue(captured() ? std::max(wrapped_s - host.launch_s, 0.0)
                             : wrapped_s + (options_.compiled && eager ? host.compiled_s : 0.0));
            latency_ = host.latency_s;
        }
        if (staged()) {
            stage();
        }
        if (captured()) {
            issue(host.launch_s - host.node_s);
        }
    }

    bool captured() const {
        return options_.launch == model::Launch::graph && !graph_.operators.empty();
    }

    double host_of(const Operator& op, double kernels) const {
        if (op.within_call && options_.launch == model::Launch::eager) {
            return options_.host.launch_s;
        }
        const double plain = model::issue_seconds(options_.host, options_.launch, op.kind);
        if (options_.launch != model::Launch::eager) {
            return plain * kernels;
        }
        const double weight = model::call_weight(options_.host.weights, graph_.layers[op.layer]);
        if (options_.compiled) {
            return std::min(options_.host.gradient_s, plain) * kernels *
                   (generated(op) ? 1.0 : weight);
        }
        return op.kind == model::Issued::update ? plain : plain * weight;
    }

    // Whether a compiler generates the operator's kernel: all but convolutions, GEMMs, and
    // attention, which it calls as the framework does.
    bool generated(const Operator& op) const {
        const model::Op kind = graph_.layers[op.layer].op;
        return !model::multiplies(kind) && kind != model::Op::moe;
    }

    std::size_t choose_stream(OperatorId latest) const {
        if (streams_.size() == 1) {
            return 0;
        }
        for (std::size_t s = 0; s < streams_.size(); ++s) {
            if (latest != kNone && streams_[s].last == latest) {
                return s;
            }
        }
        const auto free =
            std::min_element(streams_.begin(), streams_.end(),
                             [](const Stream& a, const Stream& b) { return a.free_s < b.free_s; });
        return static_cast<std::size_t>(free - streams_.begin());
    }

    // Moves the start back until the kernels that still run leave room.
    void make_room(double share, Span& span) {
        if (streams_.size() == 1) {
            return;
        }
        std::erase_if(running_, [&](const Running& r) { return r.end_s <= span.start_s; });
        std::sort(running_.begin(), running_.end(),
                  [](const Running& a, const Running& b) { return a.end_s < b.end_s; });
        double taken = 0.0;
        for (const Running& r : running_) {
            taken += r.share;
        }
        for (std::size_t i = 0; i < running_.size() && taken + share > 1.0 + 1e-9; ++i) {
            taken -= running_[i].share;
            span.start_s = running_[i].end_s;
            span.waited = Waited::room;
            span.before = running_[i].op;
        }
    }

    void step(OperatorId i) {
        const Operator& op = graph_.operators[i];
        const LayerCost& cost = costs_.layers[op.layer];
        Span span;
        span.issue_s = host_;
        host_ += host_of(op, static_cast<double>(cost.kernels));
        line_.host_s += host_ - span.issue_s;
        span.issued_s = host_;
        double operands_s = 0.0;
        TensorId latest = kNone;
        for (std::uint32_t r = 0; r < op.reads; ++r) {
            const TensorId t = graph_.operands[op.first_read + r];
            if (ready_[t] > operands_s) {
                operands_s = ready_[t];
                latest = t;
            }
        }
        const OperatorId maker = latest == kNone ? kNone : maker_[latest];
        const std::size_t s = choose_stream(maker);
        span.stream = static_cast<std::uint16_t>(s);
        span.start_s = span.issued_s + latency_;
        span.waited = Waited::host;
        if (streams_[s].free_s > span.start_s) {
            span.start_s = streams_[s].free_s;
            span.waited = Waited::stream;
            span.before = streams_[s].last;
        }
        if (operands_s > span.start_s) {
            span.start_s = operands_s;
            span.waited = maker == kNone ? Waited::copy : Waited::operand;
            span.before = maker;
        }
        make_room(cost.share, span);
        span.kernel_s = cost.device_s;
        span.end_s = span.start_s + cost.device_s;
        streams_[s] = {span.end_s, i};
        if (streams_.size() > 1) {
            running_.push_back({span.end_s, cost.share, i});
        }
        account(span, cost.device_s);
        for (std::uint32_t w = 0; w < op.writes; ++w) {
            const TensorId t = graph_.operands[op.first_write + w];
            ready_[t] = span.end_s;
            maker_[t] = i;
        }
        host_ = synchronous_ ? span.end_s : host_;
        line_.spans.push_back(span);
    }

    // Time without a kernel before this one belongs to what it waited for.
    void account(const Span& span, double device_s) {
        if (span.start_s > busy_until_) {
            (span.waited == Waited::copy ? line_.wait_copy_s : line_.wait_host_s) +=
                span.start_s - busy_until_;
        }
        line_.busy_s += std::max(span.end_s - std::max(span.start_s, busy_until_), 0.0);
        busy_until_ = std::max(busy_until_, span.end_s);
        line_.kernels_s += device_s;
    }

    void finish() {
        line_.time_s = std::max({busy_until_, in_engine_, out_engine_, host_});
        line_.end_s = line_.time_s - busy_until_;
        double kernels = 0.0, low = 0.0, high = 0.0;
        for (const Operator& op : graph_.operators) {
            const LayerCost& cost = costs_.layers[op.layer];
            kernels += cost.device_s;
            low += cost.low_s;
            high += cost.high_s;
        }
        line_.low_s = kernels > 0.0 ? line_.time_s * low / kernels : 0.0;
        line_.high_s = kernels > 0.0 ? line_.time_s * high / kernels : 0.0;
        if (graph_.operators.size() > 1) {
            line_.high_s = step_high_s(line_.time_s, line_.high_s);
        }
    }

    const Graph& graph_;
    const Costs& costs_;
    const model::Gpu& gpu_;
    const TimelineOptions& options_;
    std::vector<double> ready_;     // of each tensor
    std::vector<OperatorId> maker_; // that wrote it last
    std::vector<bool> copied_;
    std::vector<Stream> streams_;
    std::vector<Running> running_;
    bool synchronous_;
    double latency_ = 0.0; // of a launch
    double host_ = 0.0, in_engine_ = 0.0, out_engine_ = 0.0, busy_until_ = 0.0;
    Timeline line_;
};

} // namespace

Timeline simulate(const Graph& graph, const Costs& costs, const model::Gpu& gpu,
                  const TimelineOptions& options) {
    return Simulator(graph, costs, gpu, options).run();
}

std::vector<PathPart> critical_path(const Graph& graph, const Timeline& timeline) {
    std::vector<PathPart> path;
    if (timeline.spans.empty()) {
        return path;
    }
    OperatorId at = 0;
    for (OperatorId i = 0; i < static_cast<OperatorId>(graph.operators.size()); ++i) {
        at = timeline.spans[i].end_s >= timeline.spans[at].end_s ? i : at;
    }
    if (timeline.end_s > 0.0) {
        path.push_back({PathPart::Kind::copy, kNone, timeline.end_s});
    }
    while (at != kNone) {
        const Span& span = timeline.spans[at];
        path.push_back({PathPart::Kind::kernel, at, span.end_s - span.start_s});
        if (span.before == kNone) {
            const bool copy = span.waited == Waited::copy;
            path.push_back({copy ? PathPart::Kind::copy : PathPart::Kind::host, at, span.start_s});
        }
        at = span.before;
    }
    return path;
}

std::vector<LayerTime> by_layer(const Graph& graph, const Timeline& timeline) {
    std::vector<LayerTime> rows(graph.layers.size());
    double busy_until = 0.0;
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        const Span& span = timeline.spans[i];
        LayerTime& row = rows[graph.operators[i].layer];
        row.layer = graph.operators[i].layer;
        ++row.runs;
        row.kernels_s += span.kernel_s;
        const double idle = std::max(span.start_s - busy_until, 0.0);
        if (idle > 0.0 && span.waited == Waited::host) {
            row.waits_s += idle;
            ++row.host_bound;
        }
        busy_until = std::max(busy_until, span.end_s);
    }
    std::erase_if(rows, [](const LayerTime& row) { return row.runs == 0; });
    std::stable_sort(rows.begin(), rows.end(), [](const LayerTime& a, const LayerTime& b) {
        return a.kernels_s + a.waits_s > b.kernels_s + b.waits_s;
    });
    return rows;
}

} // namespace eyeroof::analysis::step
