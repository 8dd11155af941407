// Networks of any kind: data or model parallel, layer by layer.
#include "analysis/program/footprint.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/scale/search.hpp"

#include <fmt/format.h>

namespace eyeroof::analysis {

using model::Layer;

namespace {

// A layer whose every device computes a part of the output features; none where they do not divide.
std::optional<Layer> features_divided(Layer layer, Count devices) {
    if (auto* g = std::get_if<model::GemmShape>(&layer.shape)) {
        if (g->n % devices != 0) {
            return std::nullopt;
        }
        g->n /= devices;
    } else if (auto* c = std::get_if<model::ConvShape>(&layer.shape)) {
        if (c->k % devices != 0 || c->groups != 1) {
            return std::nullopt;
        }
        c->k /= devices;
    } else {
        return std::nullopt;
    }
    layer.parameters.reset();
    return layer;
}

bool weighs(const Layer& layer) {
    return layer.op == model::Op::gemm || layer.op == model::Op::conv2d;
}

double bytes_named(const Layer& layer, const char* name) {
    const auto work = model::work_of(layer);
    double bytes = 0.0;
    for (const model::TensorUse& tensor : work ? work->tensors : std::vector<model::TensorUse>{}) {
        bytes += tensor.name == name ? static_cast<double>(tensor.bytes) : 0.0;
    }
    return bytes;
}

class LayerWalk {
  public:
    LayerWalk(const Question& question, const model::Fabric& fabric, Count devices,
              const ScaleOptions& options, std::stop_token stop)
        : question_(question), fabric_(fabric), devices_(devices), options_(options),
          stop_(std::move(stop)), group_(place_group(fabric, devices, 1, devices)) {}

    // Forward, both gradients and the update, seconds. Twice, as the first layer of a network has
    // no gradient of its input.
    Result<double> kernels(Layer layer) {
        model::Network network;
        const Count count = layer.count;
        layer.count = 2;
        network.layers = {std::move(layer)};
        Question alone = question_of_lowered(question_, std::move(network));
        alone.scenario.training = question_.scenario.training;
        const auto report = run(alone, stop_);
        if (!report) {
            return report.diagnostics();
        }
        double seconds = 0.0;
        for (const LayerReport& part : report->layers) {
            seconds += part.time_s * static_cast<double>(part.layer.count);
        }
        return seconds / 2.0 * static_cast<double>(count);
    }

    double collective(Collective kind, double bytes) const {
        return collective_time(fabric_, group_, kind, bytes, options_.data.collective).time_s();
    }

    // whole: with all samples; share: with a device's.
    Result<LayerWay> ways(const Layer& whole, const Layer& share) {
        const auto data = kernels(share);
        if (!data) {
            return data.diagnostics();
        }
        LayerWay way;
        way.name = whole.name;
        const double values =
            static_cast<double>(model::parameters_of(whole)) * static_cast<double>(whole.count);
        const double gradient_bytes =
            step::precision_of(question_.scenario.states, whole.types.weight, {}).gradient;
        way.data_s = *data + collective(Collective::all_reduce, values * gradient_bytes);
        way.model_s = 1e300;
        if (const auto part = features_divided(whole, devices_)) {
            const auto own = kernels(*part);
            if (!own) {
                return own.diagnostics();
            }
            way.model_s = *own;
        }
        return way;
    }

    // Activations from the layer before, [a][b] by ways (0 data, 1 model): what is divided by
    // samples or features is gathered whole for model parallel layers, and its gradient scattered;
    // features are exchanged for samples, both ways.
    std::vector<std::vector<double>> change(const Layer& whole) const {
        const double bytes = bytes_named(whole, "input") * static_cast<double>(whole.count);
        const double gathered = collective(Collective::all_gather, bytes) +
                                collective(Collective::reduce_scatter, bytes);
        // The exchange's whole array is what each device holds of it.
        const double exchanged =
            2.0 * collective(Collective::all_to_all, bytes / static_cast<double>(devices_));
        return {{0.0, gathered}, {exchanged, gathered}};
    }

  private:
    const Question& question_;
    const model::Fabric& fabric_;
    Count devices_;
    const ScaleOptions& options_;
    std::stop_token stop_;
    Group group_;
};

Result<model::Network> with_samples(const Question& question, Count batch) {
    Question forward = question;
    forward.scenario.batch = batch;
    auto layers = forward_layers(forward);
    return layers ? Result<model::Network>(std::move(layers->network))
                  : Result<model::Network>(layers.diagnostics());
}

} // namespace

Result<LayerSearch> search_layers(const Question& asked, const model::Fabric& fabric, Count devices,
                                  Count batch, const ScaleOptions& options, std::stop_token stop) {
    Question question = asked;
    question.scenario.training = question.scenario.training.value_or(TrainingOptions{});
    if (batch < devices || batch % devices != 0) {
        return Result<LayerSearch>::failure(
            "too-small-batch",
            fmt::format("{} samples do not divide by {} devices", batch, devices),
            fmt::format("the nearest that does: --batch {}",
                        std::max<Count>(batch / devices, 1) * devices));
    }
    const auto whole = with_samples(question, batch);
    const auto share = with_samples(question, batch / devices);
    if (!whole || !share) {
        return (whole ? share : whole).diagnostics();
    }
    LayerWalk walk(question, fabric, devices, options, std::move(stop));
    LayerSearch search;
    std::vector<std::vector<double>> cost;
    std::vector<std::vector<std::vector<double>>> change;
    double others = 0.0;
    for (std::size_t i = 0; i < whole->layers.size(); ++i) {
        const Layer& layer = whole->layers[i];
        if (!weighs(layer)) { // its elements are divided evenly in either way
            const auto alone = walk.kernels(share->layers[i]);
            if (!alone) {
                return alone.diagnostics();
            }
            others += *alone;
            continue;
        }
        auto way = walk.ways(layer, share->layers[i]);
        if (!way) {
            return way.diagnostics();
        }
        cost.push_back({way->data_s, way->model_s});
        change.push_back(walk.change(layer));
        if (change.size() == 1) { // the samples come from outside, to the device that asks for them
            cost[0][1] += change[0][0][1] / 2.0;
        }
        search.layers.push_back(*std::move(way));
    }
    const ChainChoice best = choose_chain(cost, change);
    search.time_s = best.cost + others;
    search.all_data_s = search.all_model_s = others;
    for (std::size_t l = 0; l < search.layers.size(); ++l) {
        search.layers[l].model_parallel = best.way[l] == 1;
        search.layers[l].change_s = l > 0 ? change[l][best.way[l - 1]][best.way[l]] : 0.0;
        search.all_data_s += cost[l][0];
        search.all_model_s += cost[l][1] + (l > 0 ? change[l][1][1] : 0.0);
    }
    return search;
}

} // namespace eyeroof::analysis
