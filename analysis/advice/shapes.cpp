#include "analysis/advice/shapes.hpp"

#include "analysis/program/lower.hpp"
#include "base/units.hpp"
#include "model/gpu/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace eyeroof::analysis {

using model::Layer;
using model::Op;

namespace {

constexpr Count kLoadBytes = 16;       // that a thread loads at once
constexpr Count kLineBytes = 128;      // a memory line
constexpr Count kMostBatch = 1 << 20;  // of what is searched for the ridge
constexpr std::size_t kMostTries = 48; // sizes that are tried for whole waves
constexpr int kMostReads = 3;          // tensors that a fused kernel reads

struct Dimension {
    const char* name;
    std::function<Count&(Layer&)> of;
};

// The sizes of a layer that a designer may pad.
std::vector<Dimension> dimensions_of(const Layer& layer) {
    if (std::holds_alternative<model::GemmShape>(layer.shape)) {
        const auto shape = [](Layer& l) -> model::GemmShape& {
            return std::get<model::GemmShape>(l.shape);
        };
        return {{"k", [=](Layer& l) -> Count& { return shape(l).k; }},
                {"n", [=](Layer& l) -> Count& { return shape(l).n; }},
                {"m", [=](Layer& l) -> Count& { return shape(l).m; }}};
    }
    if (const auto* conv = std::get_if<model::ConvShape>(&layer.shape);
        conv != nullptr && conv->groups == 1) {
        const auto shape = [](Layer& l) -> model::ConvShape& {
            return std::get<model::ConvShape>(l.shape);
        };
        return {{"c", [=](Layer& l) -> Count& { return shape(l).c; }},
                {"k", [=](Layer& l) -> Count& { return shape(l).k; }}};
    }
    return {};
}

class Adviser {
  public:
    Adviser(const model::Gpu& gpu, step::SoftwareOf software, const AdviceOptions& options)
        : gpu_(gpu), software_(std::move(software)), options_(options) {}

    void on_layer(const Layer& layer) {
        const auto p = model::predict(gpu_, layer, software_(layer));
        if (!p) {
            return;
        }
        align(layer, *p);
        reach_ridge(layer, *p);
        fill_waves(layer, *p);
    }

    void on_network(const model::Network& network) {
        for (std::size_t i = 0; i < network.layers.size();) {
            i += std::max<std::size_t>(1, fuse(network.layers, i));
        }
        for (std::size_t i = 0; i + 1 < network.layers.size(); ++i) {
            epilogue(network.layers[i], network.layers[i + 1]);
        }
    }

    std::vector<Advice> found;

  private:
    std::optional<double> time_of(const Layer& layer) const {
        const auto p = model::predict(gpu_, layer, software_(layer));
        return p ? std::optional(p->time_s) : std::nullopt;
    }

    // Both gradients of a layer with weights.
    std::optional<double> gradients_time(Layer layer) const {
        double sum = 0.0;
        for (const auto direction : {model::Direction::bwd_data, model::Direction::bwd_weight}) {
            layer.direction = direction;
            const auto t = time_of(layer);
            if (!t) {
                return std::nullopt;
            }
            sum += *t;
        }
        return sum;
    }

    void keep(Advice advice, Count executions, bool same_work) {
        advice.saved_s =
            same_work ? (advice.now_s - advice.then_s) * static_cast<double>(executions) : 0.0;
        if (advice.gain >= options_.least_gain) {
            found.push_back(std::move(advice));
        }
    }

    bool on_tensor_cores(const Layer& layer) const {
        return gpu_.rate(layer.types.input).pipe == model::Pipe::tensor;
    }

    // What a library before cuBLAS 11 would take: the vector units, at twice the fp32 rate for half
    // precision where they are that wide.
    std::optional<double> vector_time(const Layer& layer) const {
        model::Gpu old = gpu_;
        const double wide = model::storage_bits(layer.types.input) < 32 ? 2.0 : 1.0;
        old.rate(layer.types.input) = {wide * old.rate(model::DataType::fp32).flops_per_s,
                                       model::Pipe::vector};
        const auto p = model::predict(old, layer, software_(layer));
        return p ? std::optional(p->time_s) : std::nullopt;
    }

    void align(const Layer& layer, const model::GpuPrediction& p) {
        if (!on_tensor_cores(layer)) {
            return;
        }
        const Count bits = model::storage_bits(layer.types.input);
        const Count whole = kLoadBytes * 8 / bits;
        const Count line = kLineBytes * 8 / bits;
        for (const Dimension& dimension : dimensions_of(layer)) {
            Layer padded = layer;
            Count& size = dimension.of(padded);
            const Count from = size;
            if (from % whole == 0) {
                continue;
            }
            std::optional<Advice> best;
            for (const Count step : {whole, line}) {
                size = (from + step - 1) / step * step;
                const auto candidate = aligned(layer, padded, dimension.name, from, size, p);
                if (candidate && (!best || candidate->gain > best->gain * 1.01)) {
                    best = candidate;
                }
            }
            if (best) {
                say_old_library(layer, whole, *best);
                keep(*best, layer.count, true);
            }
        }
    }

    std::optional<Advice> aligned(const Layer& layer, const Layer& padded, const char* dimension,
                                  Count from, Count to, const model::GpuPrediction& p) const {
        const auto then = time_of(padded);
        if (!then) {
            return std::nullopt;
        }
        Advice a{AdviceKind::align, layer.name, dimension, from, to, p.time_s, *then,
                 p.time_s / *then,  0.0,        false,     {}};
        const auto now_back = gradients_time(layer);
        const auto then_back = gradients_time(padded);
        const bool padded_little = from >= to - from;
        if (padded_little && a.gain < options_.least_gain && now_back && then_back &&
            layer.direction == model::Direction::fwd) {
            a.now_s = *now_back;
            a.then_s = *then_back;
            a.gain = a.now_s / a.then_s;
            a.gradients_only = true;
        }
        return a;
    }

    void say_old_library(const Layer& layer, Count whole, Advice& a) const {
        a.text = fmt::format("pad {} from {} to {}: {} -> {}, {:.2f}x faster{}; tensor cores load "
                             "{} {} elements at once",
                             a.dimension, a.from, a.to, format_si(a.now_s, "s"),
                             format_si(a.then_s, "s"), a.gain,
                             a.gradients_only ? " in the gradients (forward gains nothing)" : "",
                             whole, model::data_type_name(layer.types.input));
        const auto vector = vector_time(layer);
        const bool gemm = layer.op == Op::gemm || layer.op == Op::bmm;
        if (gemm && vector && *vector > a.then_s && !a.gradients_only) {
            a.old_gain = *vector / a.then_s;
            a.text +=
                fmt::format(" (cuBLAS before 11 does not use them: {:.1f}x faster)", a.old_gain);
        }
    }

    // The batch dimension of a layer with weights, times `factor`.
    static std::optional<Layer> times_batch(const Layer& layer, Count factor) {
        Layer larger = layer;
        if (auto* g = std::get_if<model::GemmShape>(&larger.shape); g && layer.op == Op::gemm) {
            g->m *= factor;
            return larger;
        }
        if (auto* c = std::get_if<model::ConvShape>(&larger.shape)) {
            c->n *= factor;
            return larger;
        }
        return std::nullopt;
    }

    double intensity(const Layer& layer) const {
        const auto work = model::work_of(layer);
        return work ? static_cast<double>(work->flops) / static_cast<double>(work->bytes()) : 0.0;
    }

    void reach_ridge(const Layer& layer, const model::GpuPrediction& p) {
        const double ridge = model::ridge_flop_per_byte(gpu_, layer.types.input);
        const auto largest = times_batch(layer, kMostBatch);
        if (p.limit != model::Limit::outer_memory || layer.direction != model::Direction::fwd ||
            !largest || intensity(layer) >= ridge) {
            return;
        }
        const bool gemm = layer.op == Op::gemm;
        const Count from = gemm ? std::get<model::GemmShape>(layer.shape).m
                                : std::get<model::ConvShape>(layer.shape).n;
        Advice a{AdviceKind::batch,
                 layer.name,
                 gemm ? "m" : "batch",
                 from,
                 from,
                 p.time_s,
                 p.time_s,
                 1.0,
                 0.0,
                 false,
                 {}};
        if (intensity(*largest) < ridge) {
            return; // no batch reaches it: the weights are not what is moved most
        }
        Count low = 0; // does not reach it
        Count high = kMostBatch * from;
        Layer at = layer;
        Count& size =
            gemm ? std::get<model::GemmShape>(at.shape).m : std::get<model::ConvShape>(at.shape).n;
        while (high - low > 1) {
            size = low + (high - low) / 2;
            (intensity(at) >= ridge ? high : low) = size;
        }
        size = a.to = high;
        const auto then = time_of(at);
        if (!then) {
            return;
        }
        a.then_s = *then;
        a.gain = p.time_s / static_cast<double>(a.from) / (*then / static_cast<double>(a.to));
        a.text = fmt::format(
            "{} = {} is the smallest that reaches the ridge ({:.1f} FLOP/B; now {:.4g} at {}): "
            "{:.1f} times the rate, {} instead of {}",
            a.dimension, a.to, ridge, intensity(layer), a.from, a.gain, format_si(a.then_s, "s"),
            format_si(a.now_s, "s"));
        keep(std::move(a), layer.count, false);
    }

    // sizes on tile borders, within a quarter, whose CTAs come closest to whole waves.
    void fill_waves(const Layer& layer, const model::GpuPrediction& p) {
        const bool product = layer.op == Op::gemm || layer.op == Op::bmm;
        if (!product || p.limit == model::Limit::launch ||
            p.steps[3].macs_per_cycle > 0.9 * std::min(p.units, p.steps[2].macs_per_cycle)) {
            return;
        }
        constexpr Count kTile = 32; // every tile side is a multiple of it
        for (const Dimension& dimension : dimensions_of(layer)) {
            if (std::string_view(dimension.name) == "k") {
                continue;
            }
            Layer at = layer;
            Count& size = dimension.of(at);
            const Count from = size;
            const Count first = std::max<Count>(kTile, from * 3 / 4 / kTile * kTile);
            const Count last = from * 5 / 4;
            const Count step = std::max<Count>(
                kTile, (last - first) / static_cast<Count>(kMostTries) / kTile * kTile);
            Advice best{AdviceKind::fill_waves,
                        layer.name,
                        dimension.name,
                        from,
                        from,
                        p.time_s,
                        p.time_s,
                        1.0,
                        0.0,
                        false,
                        {}};
            const auto consider = [&](Count candidate) {
                size = candidate;
                const auto then = time_of(at);
                const double gain = then ? p.time_s / static_cast<double>(from) /
                                               (*then / static_cast<double>(candidate))
                                         : 0.0;
                // A size nearer to the present one may gain a twentieth less.
                const bool nearer =
                    best.to != from && std::abs(candidate - from) < std::abs(best.to - from);
                if (gain > best.gain * (nearer ? 0.95 : 1.0)) {
                    best.gain = gain;
                    best.to = candidate;
                    best.then_s = *then;
                }
            };
            const Count nearest = from / kTile * kTile;
            if (nearest > 0 && nearest != from) {
                consider(nearest);
            }
            for (Count candidate = first; candidate <= last; candidate += step) {
                consider(candidate);
            }
            if (best.to == from) {
                continue;
            }
            best.text =
                fmt::format("{} = {} instead of {} fills the waves of {} SMs: {:.2f} times the "
                            "rate ({} instead "
                            "of {})",
                            best.dimension, best.to, from, gpu_.sms, best.gain,
                            format_si(best.then_s, "s"), format_si(best.now_s, "s"));
            keep(std::move(best), layer.count, false);
        }
    }

    static const model::ElementwiseShape* elementwise(const Layer& layer) {
        const bool forward = layer.direction == model::Direction::fwd;
        return forward ? std::get_if<model::ElementwiseShape>(&layer.shape) : nullptr;
    }

    // Length of the chain of elementwise layers that starts at `first`; advises on it.
    std::size_t fuse(const std::vector<Layer>& layers, std::size_t first) {
        const auto* head = elementwise(layers[first]);
        if (head == nullptr) {
            return 1;
        }
        int reads = model::tensors_read(head->fn).value_or(1);
        double now = time_of(layers[first]).value_or(0.0);
        std::string names = layers[first].name;
        std::size_t end = first + 1;
        for (; end < layers.size(); ++end) {
            const auto* next = elementwise(layers[end]);
            const int more = next ? model::tensors_read(next->fn).value_or(1) - 1 : 0;
            if (next == nullptr || next->rows * next->cols != head->rows * head->cols ||
                layers[end].count != layers[first].count || reads + more > kMostReads || more < 0) {
                break;
            }
            reads += more;
            now += time_of(layers[end]).value_or(0.0);
            names += ", " + layers[end].name;
        }
        if (end - first >= 2) {
            Layer fused = layers[first];
            const char* like[] = {"relu", "add", "add3"}; // one, two, three tensors read
            std::get<model::ElementwiseShape>(fused.shape).fn = like[std::max(reads, 1) - 1];
            fused.types.output = layers[end - 1].types.output;
            const double then = time_of(fused).value_or(now);
            const auto kernels = static_cast<Count>(end - first);
            Advice a{AdviceKind::fuse,
                     layers[first].name,
                     names,
                     kernels,
                     1,
                     now,
                     then,
                     now / then,
                     0.0,
                     false,
                     {}};
            a.text = fmt::format("fuse {} into one kernel that reads {} tensor{} and writes one: "
                                 "{} -> {}, {:.2f}x faster",
                                 names, reads, reads == 1 ? "" : "s", format_si(now, "s"),
                                 format_si(then, "s"), a.gain);
            keep(std::move(a), layers[first].count, true);
        }
        return end - first;
    }

    // An elementwise layer right after the product whose result it takes.
    void epilogue(const Layer& product, const Layer& after) {
        const auto* e = elementwise(after);
        const auto work = model::work_of(product);
        const bool weights = product.op == Op::gemm || product.op == Op::conv2d;
        if (e == nullptr || !work || !weights || product.direction != model::Direction::fwd ||
            product.count != after.count || model::tensors_read(e->fn).value_or(0) != 1) {
            return;
        }
        const auto out = std::find_if(work->tensors.begin(), work->tensors.end(),
                                      [](const auto& t) { return t.written; });
        if (out == work->tensors.end() || out->elements != e->rows * e->cols) {
            return;
        }
        const double alone = time_of(product).value_or(0.0);
        const double now = alone + time_of(after).value_or(0.0);
        Advice a{AdviceKind::fuse,
                 product.name,
                 product.name + ", " + after.name,
                 2,
                 1,
                 now,
                 alone,
                 now / alone,
                 0.0,
                 false,
                 {}};
        a.text =
            fmt::format("compute {} in the epilogue of {}: {} -> {}, {:.2f}x faster", after.name,
                        product.name, format_si(now, "s"), format_si(alone, "s"), a.gain);
        keep(std::move(a), product.count, true);
    }

    const model::Gpu& gpu_;
    step::SoftwareOf software_;
    const AdviceOptions& options_;
};

// The layers that differ in more than their name, with all executions counted.
std::vector<Layer> distinct(const std::vector<Layer>& layers) {
    std::vector<Layer> kept;
    for (const Layer& layer : layers) {
        const auto same = std::find_if(kept.begin(), kept.end(), [&](const Layer& other) {
            return other.op == layer.op && other.shape == layer.shape &&
                   other.types == layer.types && other.direction == layer.direction;
        });
        if (same == kept.end()) {
            kept.push_back(layer);
        } else {
            same->count += layer.count;
        }
    }
    return kept;
}

} // namespace

std::string_view advice_name(AdviceKind kind) {
    constexpr std::string_view kNames[] = {"align", "batch", "fill-waves", "fuse"};
    return kNames[static_cast<std::size_t>(kind)];
}

Result<std::vector<Advice>> advise(const Question& question, const AdviceOptions& options,
                                   const std::stop_token& stop) {
    const auto* gpu = std::get_if<model::Gpu>(&question.machine.kind);
    if (gpu == nullptr) {
        return Result<std::vector<Advice>>::failure("not-a-gpu", "advice is given on GPUs",
                                                    "`eyeroof hw list` names them");
    }
    Question uncompiled = question; // what a compiler fuses has its own advice
    uncompiled.scenario.compiled = false;
    const auto wanted = lowered_network(uncompiled);
    if (!wanted) {
        return wanted.diagnostics();
    }
    Adviser adviser(*gpu, software_of(uncompiled), options);
    for (const Layer& layer : distinct(wanted->layers)) {
        if (stop.stop_requested()) {
            return Result<std::vector<Advice>>::failure("cancelled", "the advice was cancelled");
        }
        adviser.on_layer(layer);
    }
    adviser.on_network(*wanted);
    std::vector<Advice> found = std::move(adviser.found);
    std::stable_sort(found.begin(), found.end(), [](const Advice& a, const Advice& b) {
        return a.saved_s != b.saved_s ? a.saved_s > b.saved_s : a.gain > b.gain;
    });
    found.resize(std::min(found.size(), options.most));
    return found;
}

} // namespace eyeroof::analysis
