#include "analysis/scale/serving.hpp"

#include "analysis/scale/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace eyeroof::analysis {

using model::DataType;
using model::Layer;
using model::Op;

namespace {

class ServedBlock {
  public:
    ServedBlock(DataType type, Count blocks) : type_(type), blocks_(blocks) {
        network_.id = network_.name = "serving";
    }
    void add(const char* name, Op op, model::Shape shape, bool once = false) {
        Layer layer;
        layer.name = name;
        layer.op = op;
        layer.shape = std::move(shape);
        layer.types = {type_, type_, type_};
        layer.count = once ? 1 : blocks_;
        network_.layers.push_back(std::move(layer));
    }
    void product(const char* name, Count m, Count n, Count k, bool once = false) {
        add(name, Op::gemm, model::GemmShape{1, m, n, k}, once);
    }
    void pointwise(const char* name, Count rows, Count cols, const char* fn) {
        add(name, Op::elementwise, model::ElementwiseShape{rows, cols, fn});
    }
    model::Network take() { return std::move(network_); }

  private:
    DataType type_;
    Count blocks_;
    model::Network network_;
};

void add_feed_forward(ServedBlock& ops, const Transformer& t, Count tensor, Count expert,
                      Count words) {
    const Count inner = part(t.inner, tensor);
    const Count up = t.gated ? 2 * inner : inner;
    const char* fn = t.gated ? "swiglu" : "gelu";
    if (t.experts <= 1) {
        ops.product("up", words, up, t.hidden);
        ops.pointwise("activation", words, inner, fn);
        ops.product("down", words, t.hidden, inner);
        return;
    }
    const Count routed = words * t.active;
    const Count reached = std::min(part(t.experts, expert), routed); // as many as words can reach
    const Count each = part(routed, reached);
    ops.product("router", words, t.experts, t.hidden);
    ops.add("up", Op::bmm, model::GemmShape{reached, each, up, t.hidden});
    ops.pointwise("activation", routed, inner, fn);
    ops.add("down", Op::bmm, model::GemmShape{reached, each, t.hidden, inner});
    ops.pointwise("combine", routed, t.hidden, "mulu");
}

} // namespace

model::Network serving_network(const Transformer& t, Count tensor, Count expert, Count batch,
                               Count fresh, Count context, DataType type) {
    const Count words = batch * fresh;
    const Count heads = part(t.heads, tensor);
    const Count kv = part(t.kv_heads, tensor);
    ServedBlock ops(type, t.layers);
    ops.add("embedding", Op::embedding, model::RowsShape{words, t.hidden, t.vocabulary}, true);
    ops.add("attention_norm", Op::layernorm, model::RowsShape{words, t.hidden});
    ops.product("qkv", words, (heads + 2 * kv) * t.head_size, t.hidden);
    if (t.positions == 0) {
        ops.add("rotary", Op::rope, model::RowsShape{words * (heads + kv), t.head_size});
    }
    ops.pointwise("cache", words, 2 * kv * t.head_size, "copy");
    ops.add("attention", Op::attention,
            model::AttentionShape{batch, heads, fresh, context + fresh, t.head_size, kv, true, 0});
    ops.product("output", words, t.hidden, heads * t.head_size);
    ops.pointwise("residual", words, t.hidden, "add");
    ops.add("ffn_norm", Op::layernorm, model::RowsShape{words, t.hidden});
    add_feed_forward(ops, t, tensor, expert, words);
    ops.pointwise("ffn_residual", words, t.hidden, "add");
    ops.add("norm", Op::layernorm, model::RowsShape{batch, t.hidden}, true);
    ops.product("head", batch, part(t.vocabulary, tensor), t.hidden, true);
    return ops.take();
}

double cache_bytes_per_token(const Transformer& t, Count tensor, DataType type) {
    return 2.0 * static_cast<double>(t.layers * part(t.kv_heads, tensor) * t.head_size) *
           model::storage_bits(type) / 8.0;
}

namespace {

double weight_bytes(const Transformer& t, Count tensor, Count expert, DataType type) {
    Plan plan;
    plan.tensor = tensor;
    plan.expert = expert;
    return device_parameters(t, plan) * model::storage_bits(type) / 8.0;
}

class Server {
  public:
    Server(const Transformer& t, const model::Machine& machine, const model::Fabric& fabric,
           const ServingOptions& o, std::stop_token stop)
        : t_(t), machine_(machine), fabric_(fabric), o_(o), stop_(std::move(stop)) {
        if (const auto* gpu = std::get_if<model::Gpu>(&machine.kind)) {
            capacity_ = gpu->dram_bytes;
        }
    }
    double capacity() const { return capacity_; }

    Count most_requests(Count tensor) const {
        const double left =
            capacity_ * o_.memory_share - weight_bytes(t_, tensor, o_.expert, o_.type);
        const double each =
            cache_bytes_per_token(t_, tensor, o_.type) * static_cast<double>(o_.prompt + o_.answer);
        return left <= 0.0 ? 0 : static_cast<Count>(std::min(left / each, 65536.0));
    }

    // Kernels and messages of one pass, seconds.
    Result<std::pair<double, double>> pass(Count tensor, Count batch, Count fresh, Count context) {
        Question question;
        question.scenario = o_.exam;
        question.scenario.settled_clocks = true;
        question.network = serving_network(t_, tensor, o_.expert, batch, fresh, context, o_.type);
        question.machine = machine_;
        question.host = o_.host;
        const auto report = run(question, stop_);
        if (!report) {
            return report.diagnostics();
        }
        const Count devices = tensor * o_.expert;
        const double words = static_cast<double>(batch * fresh);
        const double bytes =
            words * static_cast<double>(t_.hidden) * model::storage_bits(o_.type) / 8.0;
        const auto layers = static_cast<double>(t_.layers);
        const Group group = place_group(fabric_, tensor, 1, devices);
        double messages =
            2.0 * layers *
            collective_time(fabric_, group, Collective::all_reduce, bytes, o_.collective).time_s();
        if (t_.experts > 1 && o_.expert > 1) {
            const Group experts = place_group(fabric_, o_.expert, tensor, devices);
            messages += 2.0 * layers *
                        collective_time(fabric_, experts, Collective::all_to_all,
                                        bytes * static_cast<double>(t_.active), o_.collective)
                            .time_s();
        }
        return std::pair(report->total.time_s, messages);
    }

    Result<ServingPoint> point(Count tensor, Count batch, Count most) {
        const auto prefill = pass(tensor, 1, o_.prompt, 0);
        const auto step = pass(tensor, batch, 1, o_.prompt + o_.answer / 2);
        if (!prefill || !step) {
            return (prefill ? step : prefill).diagnostics();
        }
        ServingPoint p;
        p.tensor = tensor;
        p.devices = tensor * o_.expert;
        p.batch = batch;
        p.most_batch = most;
        p.prefill_s = prefill->first + prefill->second;
        p.step_s = step->first + step->second;
        p.message_s = step->second;
        p.ttft_s = p.prefill_s + p.step_s;
        // Each group of experts serves requests of its own on every of its devices.
        const double requests = static_cast<double>(batch * o_.expert);
        p.tpot_s =
            p.step_s + static_cast<double>(batch) * p.prefill_s / static_cast<double>(o_.answer);
        p.tokens_per_s = requests / p.tpot_s;
        p.weight_bytes = weight_bytes(t_, tensor, o_.expert, o_.type);
        p.cache_bytes = cache_bytes_per_token(t_, tensor, o_.type) *
                        static_cast<double>((o_.prompt + o_.answer) * batch);
        p.within = (o_.ttft_limit_s <= 0.0 || p.ttft_s <= o_.ttft_limit_s) &&
                   (o_.tpot_limit_s <= 0.0 || p.tpot_s <= o_.tpot_limit_s);
        return p;
    }

  private:
    const Transformer& t_;
    model::Machine machine_;
    const model::Fabric& fabric_;
    ServingOptions o_;
    std::stop_token stop_;
    double capacity_ = 0.0;
};

Diagnostics check(const Transformer& t, const ServingOptions& o) {
    Diagnostics found;
    for (const Count tensor : o.tensor) {
        if (const Count nearest = nearest_tensor_degree(t, tensor); nearest != tensor) {
            found.error("bad-degree",
                        fmt::format("{} heads with the keys of {} do not divide by tensor {}",
                                    t.heads, t.kv_heads, tensor),
                        fmt::format("the nearest that does: --tensor {}", nearest));
        }
    }
    if (o.expert < 1 || t.experts % o.expert != 0) {
        found.error("bad-degree",
                    fmt::format("{} experts do not divide by expert {}", t.experts, o.expert),
                    t.experts > 1 ? fmt::format("a divisor of {}, such as --expert {}", t.experts,
                                                std::gcd(t.experts, std::max<Count>(o.expert, 1)))
                                  : std::string("leave --expert out: this decoder has no experts"));
    }
    return found;
}

void mark_front(std::vector<ServingPoint>& points) {
    for (ServingPoint& p : points) {
        p.front = std::none_of(points.begin(), points.end(), [&](const ServingPoint& q) {
            const bool better = q.per_user() > p.per_user() || q.per_device() > p.per_device();
            return better && q.per_user() >= p.per_user() && q.per_device() >= p.per_device();
        });
    }
}

Result<Serving> too_small(const Transformer& t, const Server& server, const ServingOptions& o) {
    const Count wanted = o.batch.value_or(1);
    Count least = t.heads + 1;
    for (const Count degree : tensor_degrees(t)) {
        least = server.most_requests(degree) >= wanted ? std::min(least, degree) : least;
    }
    Count most = 0;
    for (const Count tensor : o.tensor) {
        most = std::max(most, server.most_requests(tensor));
    }
    if (most > 0) {
        return Result<Serving>::failure(
            "no-memory", fmt::format("{} requests do not fit, {} at most", wanted, most),
            fmt::format("--requests {}{}", most,
                        least <= t.heads ? fmt::format(", or --tensor {}", least)
                                         : std::string(", or fewer tokens a request")));
    }
    return Result<Serving>::failure(
        "no-memory",
        fmt::format("weights of {:.1f} GB a device and the cache of a request do not fit {:.1f} GB",
                    weight_bytes(t, o.tensor.back(), o.expert, o.type) / 1e9,
                    server.capacity() / 1e9),
        least <= t.heads ? fmt::format("the nearest that works: --tensor {}", least)
                         : std::string("fewer tokens a request, or a device with more memory"));
}

} // namespace

Result<Serving> serve(const Transformer& t, const model::Machine& machine,
                      const model::Fabric& fabric, const ServingOptions& options,
                      std::stop_token stop, const ProgressCallback& progress) {
    if (auto found = check(t, options); found.has_errors()) {
        return found;
    }
    Server server(t, machine, fabric, options, stop);
    if (server.capacity() <= 0.0) {
        return Result<Serving>::failure(
            "no-memory",
            fmt::format("{} has no memory of its own that weights and a cache stay in",
                        machine.name),
            "name a GPU or a host processor, such as --on h100-sxm-80gb");
    }
    Serving serving;
    serving.network = t.name;
    serving.machine = machine.name;
    serving.fabric = fabric.name;
    serving.prompt = options.prompt;
    serving.answer = options.answer;
    serving.capacity_bytes = server.capacity();
    for (const Count tensor : options.tensor) {
        const Count most = server.most_requests(tensor);
        std::vector<Count> batches;
        for (Count b = 1; b < most; b *= 2) {
            batches.push_back(b);
        }
        if (most > 0) {
            batches.push_back(most);
        }
        if (options.batch) {
            batches =
                *options.batch <= most ? std::vector<Count>{*options.batch} : std::vector<Count>{};
        }
        if (batches.empty()) {
            serving.notes.push_back(
                fmt::format("tensor {}: at most {} requests fit", tensor, most));
        }
        for (const Count batch : batches) {
            if (progress) {
                progress({0.0, fmt::format("tensor {}, {} requests", tensor, batch), 0.0, -1.0});
            }
            auto point = server.point(tensor, batch, most);
            if (!point) {
                return point.diagnostics();
            }
            serving.points.push_back(*std::move(point));
        }
    }
    if (serving.points.empty()) {
        return too_small(t, server, options);
    }
    mark_front(serving.points);
    for (std::size_t i = 0; i < serving.points.size(); ++i) {
        const ServingPoint& p = serving.points[i];
        if (p.within &&
            (!serving.best || p.per_device() > serving.points[*serving.best].per_device())) {
            serving.best = i;
        }
    }
    return serving;
}

} // namespace eyeroof::analysis
