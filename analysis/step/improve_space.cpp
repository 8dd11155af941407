#include "analysis/step/improve_space.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis::step {

using model::DataType;
using model::Layer;

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
    add(c.pruning == Pruning::two_of_four, "weights 2:4");
    add(c.pruning == Pruning::blocks, "weights in blocks");
    add(c.padded, "padding");
    add(c.attention, "attention in one kernel");
    add(c.fuse, "fusion");
    add(c.capture, "CUDA graph");
    add(c.in_place, "relu in place");
    add(c.freeing == Freeing::segments, "recomputation in sqrt(n) segments");
    add(c.freeing == Freeing::recompute, "recomputation, best");
    add(c.freeing == Freeing::cheapest, "recomputation, cheapest per byte");
    add(c.freeing == Freeing::offload, "activations to the host");
    add(c.freeing == Freeing::stream, "weights from the host");
    return names;
}

namespace {

// The longest that products are computed in.
DataType main_type(const Question& question) {
    if (question.scenario.data_type) {
        return *question.scenario.data_type;
    }
    const model::Network& network = question.network;
    int bits = 0;
    DataType main = DataType::fp32;
    for (const Layer& layer : network.layers) {
        if (model::multiplies(layer.op) && model::storage_bits(layer.types.input) > bits) {
            main = layer.types.input;
            bits = model::storage_bits(main);
        }
    }
    return main;
}

// Types that need fewer bits than the network's and that the machine's units serve.
std::vector<DataType> shorter_types(const Question& question, const model::Gpu& gpu,
                                    bool training) {
    const DataType main = main_type(question);
    const int bits = model::storage_bits(main);
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

bool link(const Facts& f) {
    return f.gpu.pcie_bytes_per_s > 0.0 && f.gpu.arch != model::GpuArch::host;
}

void add_pruning(const Facts& f, Space& s, std::vector<Excluded>& excluded) {
    const DataType type = main_type(f.question);
    const auto of_products = [&](DataType t) { return serves_two_of_four(f.gpu, t); };
    const std::vector<DataType> shorter = shorter_types(f.question, f.gpu, f.training);
    if (of_products(type) || std::any_of(shorter.begin(), shorter.end(), of_products)) {
        s.pruning.push_back(Pruning::two_of_four);
        excluded.push_back({"weights 2:4 in int8, int4", "kernels that turn short weights back "
                                                         "skip no zeros"});
    } else {
        excluded.push_back({"weights 2:4", "only tensor cores since Ampere skip them"});
    }
    f.options.density ? s.pruning.push_back(Pruning::blocks)
                      : excluded.push_back({"weights in blocks", "--density says how many"});
    const double even = unstructured_break_even(f.gpu, type);
    excluded.push_back(
        {"single zeros", even < 1.0
                             ? fmt::format("below a density of {:.1f} % vector lanes that skip "
                                           "them beat dense tensor cores",
                                           100.0 * even)
                             : "no kernel that skips them is known"});
}

void add_training(const Facts& f, Space& s, std::vector<Excluded>& excluded) {
    s.in_place.push_back(true);
    s.freeing = {Freeing::none, Freeing::segments, Freeing::recompute, Freeing::cheapest};
    link(f) ? s.freeing.push_back(Freeing::offload)
            : excluded.push_back({"activations to the host", "the machine names no link"});
    excluded.push_back({"weights in int8, int4", "training updates the weights"});
    excluded.push_back({"pruned weights", "training prunes them; only inference uses them"});
    excluded.push_back(
        {"recomputation with activations to the host", "both free the same tensors"});
}

void add_inference(const Facts& f, Space& s, std::vector<Excluded>& excluded) {
    s.weights.push_back(DataType::int8);
    s.weights.push_back(DataType::int4);
    excluded.push_back({"recomputation", "inference keeps nothing for gradients"});
    if (!link(f)) {
        excluded.push_back({"weights from the host", "the machine names no link"});
    } else if (f.now_peak <= f.options.limit) {
        excluded.push_back({"weights from the host", "all that the step needs fits"});
    } else {
        s.freeing.push_back(Freeing::stream);
    }
    add_pruning(f, s, excluded);
}

// Every combination of one more choice with what is there.
template <typename T, typename Set>
void times(std::vector<Combination>& all, const std::vector<T>& choices, Set set) {
    std::vector<Combination> more;
    more.reserve(all.size() * choices.size());
    for (const Combination& c : all) {
        for (const T& choice : choices) {
            more.push_back(c);
            set(more.back(), choice);
        }
    }
    all = std::move(more);
}

} // namespace

Space space_of(const Facts& f, std::vector<Excluded>& excluded) {
    Space s;
    const bool host = f.gpu.arch == model::GpuArch::host;
    const Scenario& now = f.question.scenario;
    if (host) {
        excluded.push_back({"CUDA graph", "a host processor runs what it calls"});
    } else if (now.launch == model::Launch::eager || now.launch == model::Launch::stream) {
        s.capture.push_back(true);
    }
    if (!now.compiled) {
        s.fuse.push_back(true);
    }
    if (f.attention) {
        s.attention.push_back(true);
    } else {
        excluded.push_back({"attention in one kernel",
                            f.question.edges
                                ? "the network has no attention to fuse"
                                : "without a graph, the inputs of its GEMMs are unknown"});
    }
    f.training ? add_training(f, s, excluded) : add_inference(f, s, excluded);
    s.batch = f.options.batches;
    for (const DataType type : shorter_types(f.question, f.gpu, f.training)) {
        s.type.push_back(type);
    }
    f.padding ? s.padded.push_back(true)
              : excluded.push_back({"padding", "no GEMM gains 1 % from padding"});
    return s;
}

std::vector<Combination> combinations_of(const Space& s) {
    std::vector<Combination> all(1);
    times(all, s.batch, [](Combination& c, Count v) { c.batch = v; });
    times(all, s.type, [](Combination& c, const std::optional<DataType>& v) { c.type = v; });
    times(all, s.weights, [](Combination& c, const std::optional<DataType>& v) { c.weights = v; });
    times(all, s.pruning, [](Combination& c, Pruning v) { c.pruning = v; });
    times(all, s.padded, [](Combination& c, bool v) { c.padded = v; });
    times(all, s.attention, [](Combination& c, bool v) { c.attention = v; });
    times(all, s.in_place, [](Combination& c, bool v) { c.in_place = v; });
    times(all, s.fuse, [](Combination& c, bool v) { c.fuse = v; });
    times(all, s.capture, [](Combination& c, bool v) { c.capture = v; });
    times(all, s.freeing, [](Combination& c, Freeing v) { c.freeing = v; });
    std::erase_if(all, [](const Combination& c) {
        return c.weights.has_value() && c.pruning == Pruning::two_of_four;
    });
    return all;
}

std::vector<Excluded> schedules_of(const Space& s, const ImproveOptions& options) {
    std::vector<Excluded> found;
    for (const Pruning pruning : s.pruning) {
        if (pruning == Pruning::none) {
            continue;
        }
        const Count steps = pruning_steps(pruning, options.density.value_or(1.0));
        std::string text =
            fmt::format("{} times a tenth of the weights, an epoch after each", steps);
        if (options.steps_per_epoch) {
            text += fmt::format(": {:.0f} steps of training",
                                static_cast<double>(steps) * *options.steps_per_epoch);
        }
        Combination c;
        c.pruning = pruning;
        found.push_back({remedies_of(c).front(), text + "; accuracy is not predicted"});
    }
    return found;
}

} // namespace eyeroof::analysis::step
