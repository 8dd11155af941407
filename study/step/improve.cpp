#include "study/step/improve.hpp"

#include "study/step/chain.hpp"
#include "study/step/fusion.hpp"
#include "study/step/recompute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::study::step {

using model::Count;
using model::DataType;
using model::Layer;
using model::Result;

std::vector<std::string> remedies_of(const Combination& c) {
    std::vector<std::string> names;
    const auto add = [&](bool wanted, std::string name) {
        if (wanted) {
            names.push_back(std::move(name));
        }
    };
    add(c.batch > 1, fmt::format("batch x{}", c.batch));
    add(c.type.has_value(), c.type ? std::string(model::data_type_name(*c.type)) : "");
    add(c.weights.has_value(),
        c.weights ? fmt::format("weights in {}", model::data_type_name(*c.weights)) : "");
    add(c.attention, "attention in one kernel");
    add(c.fuse, "fusion");
    add(c.capture, "CUDA graph");
    add(c.in_place, "relu in place");
    add(c.freeing == Freeing::segments, "recomputation in sqrt(n) segments");
    add(c.freeing == Freeing::recompute, "recomputation, best");
    add(c.freeing == Freeing::offload, "activations to the host");
    return names;
}

namespace {

// Types that need fewer bits than the network's and that the machine's units serve.
std::vector<DataType> shorter_types(const model::Network& network, const model::Gpu& gpu,
                                    bool training) {
    int bits = 0;
    DataType main = DataType::fp32;
    for (const Layer& layer : network.layers) {
        if (model::multiplies(layer.op)) {
            main = layer.types.input;
            bits = std::max(bits, model::storage_bits(main));
        }
    }
    std::vector<DataType> types;
    for (const DataType type : {DataType::tf32, DataType::fp16, DataType::bf16, DataType::fp8}) {
        const bool shorter =
            model::storage_bits(type) < bits || (type == DataType::tf32 && main == DataType::fp32);
        const bool usable = type != DataType::fp8 || !training; // training in fp8 needs scaling
        const bool quicker = gpu.rate(type).flops_per_s > gpu.rate(main).flops_per_s;
        if (shorter && usable && quicker) {
            types.push_back(type);
        }
    }
    return types;
}

model::Network with_types(const model::Network& network, const Combination& c) {
    model::Network changed = network;
    for (Layer& layer : changed.layers) {
        if (c.type) {
            layer.types = {*c.type, *c.type, *c.type};
        }
        const bool learned = layer.op == model::Op::gemm && model::parameters_of(layer) > 0;
        if (c.weights && learned) {
            layer.types.weight = *c.weights;
        }
    }
    return changed;
}

// A step in one combination of everything but what frees activations and how it is launched.
struct Played {
    Graph graph; // before fusion
    Costs costs;
    Memory memory; // after it
    Timeline line;
};

class Improver {
  public:
    Improver(const model::Network& network, const std::optional<read::Wiring>& wiring,
             const model::Gpu& gpu, const ImproveOptions& options)
        : network_(network), wiring_(wiring), gpu_(gpu), options_(options),
          rewired_(with_attention(network, wiring)), training_(options.graph.training.has_value()) {
    }

    Result<Outcome> outcome(const Combination& c) {
        auto played = play_out(c);
        if (!played) {
            return played.diagnostics();
        }
        Outcome result{c, 0, 0, 0, 0, 1.0, played->memory.peak, false};
        double added_s = 0.0;
        if (c.freeing != Freeing::none && !free(c, *played, added_s, result.peak)) {
            return Result<Outcome>::failure("does-not-fit", "no schedule fits",
                                            "a smaller batch, or a machine with more memory");
        }
        const double scale = 1.0 + added_s / std::max(played->line.time_s, 1e-15);
        result.time_s = played->line.time_s * scale;
        result.low_s = played->line.low_s * scale;
        result.high_s = played->line.high_s * scale;
        result.item_s = result.time_s / static_cast<double>(c.batch);
        result.fits = result.peak <= options_.limit;
        return result;
    }

    // Every remedy that the network and the machine allow.
    struct Space {
        std::vector<bool> capture{false}, fuse{false}, attention{false}, in_place{false};
        std::vector<Freeing> freeing{Freeing::none};
        std::vector<Count> batch{1};
        std::vector<std::optional<DataType>> type{std::nullopt}, weights{std::nullopt};
    };
    Space space(std::vector<Excluded>& excluded) const {
        Space s;
        const bool host = gpu_.arch == model::GpuArch::host;
        host ? excluded.push_back({"CUDA graph", "a host processor runs what it calls"})
             : s.capture.push_back(true);
        s.fuse.push_back(true);
        if (rewired_.replaced > 0) {
            s.attention.push_back(true);
        } else {
            excluded.push_back({"attention in one kernel",
                                wiring_ ? "the graph writes out no attention"
                                        : "without a graph nobody knows what its products read"});
        }
        if (training_) {
            s.in_place.push_back(true);
            s.freeing = {Freeing::none, Freeing::segments, Freeing::recompute};
            gpu_.pcie_bytes_per_s > 0.0 && !host
                ? s.freeing.push_back(Freeing::offload)
                : excluded.push_back({"activations to the host", "the machine names no link"});
            excluded.push_back({"weights in int8, int4", "they are trained"});
            excluded.push_back(
                {"recomputation with activations to the host", "both free the same tensors"});
        } else {
            s.weights.push_back(DataType::int8);
            s.weights.push_back(DataType::int4);
            excluded.push_back({"recomputation", "inference keeps nothing for gradients"});
        }
        s.batch = options_.batches;
        for (const DataType type : shorter_types(network_, gpu_, training_)) {
            s.type.push_back(type);
        }
        excluded.push_back({"2:4 sparsity", "no fitted rate of sparse kernels is known"});
        return s;
    }

  private:
    Result<Played> play_out(const Combination& c) {
        Combination key = c;
        key.freeing = Freeing::none;
        if (last_ && last_key_ == key) {
            return *last_;
        }
        const Rewired plain{network_, wiring_, 0};
        const Rewired& base = c.attention ? rewired_ : plain;
        const auto grown = model::with_batch(with_types(base.network, c), c.batch);
        if (!grown) {
            return grown.diagnostics();
        }
        GraphOptions options = options_.graph;
        options.batch *= c.batch;
        options.in_place = options.in_place || c.in_place;
        auto graph = make_graph(*grown, base.wiring, options);
        if (!graph) {
            return graph.diagnostics();
        }
        const Mode mode = c.capture        ? (c.fuse ? Mode::fused_graph : Mode::graph)
                          : c.fuse         ? Mode::fused
                          : options_.eager ? Mode::eager
                                           : Mode::stream;
        auto costs = costs_of(*graph, gpu_, launch_of(mode));
        if (!costs) {
            return costs.diagnostics();
        }
        if (c.weights) {
            cheapen_weights(*graph, gpu_, *c.weights, *costs);
        }
        TimelineOptions timeline;
        timeline.mode = mode;
        timeline.host = options_.host;
        Played played{*graph, *costs, {}, {}};
        if (c.fuse) {
            const Fused fused = step::fuse(*graph, *costs, gpu_);
            played.line = simulate(fused.graph, fused.costs, gpu_, timeline);
            played.memory = memory_of(fused.graph, workspaces_of(fused.graph, gpu_));
        } else {
            played.memory = memory_of(*graph, workspaces_of(*graph, gpu_));
            played.line = simulate(*graph, *costs, gpu_, timeline);
        }
        last_ = played;
        last_key_ = key;
        return played;
    }

    // Adds what freeing costs, and sets the peak that it leaves. Times of the chain are scaled to
    // those of the step, which fusion may have shortened.
    bool free(const Combination& c, const Played& played, double& added_s, Count& peak) const {
        const double host_s = c.capture                   ? options_.host.node_s
                              : options_.eager && !c.fuse ? options_.host.call_s
                                                          : options_.host.launch_s;
        const auto chain = chain_of(played.graph, played.costs, memory_of(played.graph), host_s);
        if (!chain) {
            return false;
        }
        const Recomputation whole = plain_schedule(chain->chain);
        const double scale = std::min(played.line.time_s / std::max(whole.time_s, 1e-15), 1.0);
        const Count kept = peak;
        // Within the limit, or half of what is kept where all of it would fit.
        const Count target = std::min(options_.limit - chain->fixed, whole.peak / 2);
        if (c.freeing == Freeing::offload) {
            const Offloaded moved = offload_tapes(
                chain->chain, 1.0 / std::max(copy_seconds(gpu_, 1'000'000'000, false) / 1e9, 1e-15),
                std::max<Count>(whole.peak - target, 0));
            added_s = moved.added_s;
            peak = chain->fixed + std::max<Count>(whole.peak - moved.freed, 0);
            return moved.freed > 0 && peak < kept;
        }
        const auto n = static_cast<double>(chain->chain.stages.size());
        const std::optional<Recomputation> schedule =
            c.freeing == Freeing::segments
                ? std::optional(segment_schedule(chain->chain,
                                                 static_cast<std::size_t>(std::ceil(std::sqrt(n)))))
                : best_schedule(chain->chain, target, 128);
        if (!schedule) {
            return false;
        }
        added_s = schedule->again_s * scale;
        peak = chain->fixed + schedule->peak;
        return peak < kept;
    }

    const model::Network& network_;
    const std::optional<read::Wiring>& wiring_;
    const model::Gpu& gpu_;
    const ImproveOptions& options_;
    Rewired rewired_;
    bool training_;
    std::optional<Played> last_;
    Combination last_key_;
};

std::vector<Combination> combinations_of(const Improver::Space& s) {
    std::vector<Combination> all;
    for (const Count batch : s.batch) {
        for (const auto& type : s.type) {
            for (const auto& weights : s.weights) {
                for (const bool attention : s.attention) {
                    for (const bool in_place : s.in_place) {
                        for (const bool fuse : s.fuse) {
                            for (const bool capture : s.capture) {
                                for (const Freeing freeing : s.freeing) {
                                    all.push_back({capture, fuse, attention, in_place, freeing,
                                                   batch, type, weights});
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    return all;
}

} // namespace

std::vector<Outcome> front_of(std::vector<Outcome> outcomes) {
    std::stable_sort(outcomes.begin(), outcomes.end(), [](const Outcome& a, const Outcome& b) {
        return a.item_s != b.item_s ? a.item_s < b.item_s : a.peak < b.peak;
    });
    std::vector<Outcome> front;
    for (Outcome& outcome : outcomes) {
        if (front.empty() || outcome.peak < front.back().peak) {
            front.push_back(std::move(outcome));
        }
    }
    return front;
}

Result<Improvement> improve(const model::Network& network,
                            const std::optional<read::Wiring>& wiring, const model::Gpu& gpu,
                            const ImproveOptions& options, std::stop_token stop,
                            const model::ProgressCallback& progress) {
    Improver improver(network, wiring, gpu, options);
    const auto now = improver.outcome({});
    if (!now) {
        return now.diagnostics();
    }
    Improvement found;
    found.now = *now;
    const std::vector<Combination> all = combinations_of(improver.space(found.excluded));
    std::vector<Outcome> fitting;
    for (const Combination& c : all) {
        if (stop.stop_requested()) {
            return Result<Improvement>::failure("cancelled", "the search was cancelled");
        }
        if (progress) {
            progress({static_cast<double>(found.tried) / static_cast<double>(all.size()),
                      fmt::format("combination {} of {}", found.tried + 1, all.size()), 0.0, -1.0});
        }
        ++found.tried;
        auto outcome = improver.outcome(c);
        if (!outcome) {
            continue; // what the machine does not run, or what no schedule fits, is not offered
        }
        outcome->gain = now->item_s / outcome->item_s;
        if (remedies_of(c).size() == 1) {
            found.alone.push_back(*outcome);
        }
        found.all.push_back(*outcome);
        if (outcome->fits) {
            fitting.push_back(*outcome);
        }
    }
    std::stable_sort(found.alone.begin(), found.alone.end(),
                     [](const Outcome& a, const Outcome& b) { return a.gain > b.gain; });
    found.front = front_of(std::move(fitting));
    return found;
}

} // namespace eyeroof::study::step
