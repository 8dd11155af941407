#include "analysis/program/lower.hpp"

#include "analysis/program/fusion.hpp"
#include "analysis/program/layout_passes.hpp"
#include "base/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

using model::Layer;
using model::Network;
using step::Graph;

namespace {

const model::Gpu* gpu_of(const Question& question) {
    return std::get_if<model::Gpu>(&question.machine.kind);
}

// Bits of the convolutions' inputs, as they run; 0 without convolutions.
int convolution_bits(const Question& question) {
    int bits = 0;
    for (const Layer& layer : question.network.layers) {
        if (layer.op == model::Op::conv2d) {
            bits = std::max(
                bits, model::storage_bits(question.scenario.data_type.value_or(layer.types.input)));
        }
    }
    return bits;
}

// Layers that read or extend a cache of keys and values: a state of the graph, or one that a layer
// of a chain has.
std::vector<bool> use_cache(const model::NetworkGraph& wired) {
    std::vector<bool> layers;
    for (const Layer& layer : wired.network.layers) {
        layers.push_back(layer.cached > 0);
    }
    using Kind = model::GraphStepKind;
    const auto steps = wired.edges ? wired.edges->steps : std::vector<model::GraphStep>{};
    std::vector<bool> cache(steps.size(), false);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool reads = std::ranges::any_of(
            steps[i].reads, [&](std::size_t read) { return read < i && cache[read]; });
        cache[i] = steps[i].kind == Kind::state || (steps[i].kind == Kind::view && reads);
        if (steps[i].kind == Kind::run && reads) {
            layers[steps[i].layer] = true;
        }
        for (const std::size_t read : steps[i].reads) {
            if (cache[i] && read < i && steps[read].kind == Kind::run) {
                layers[steps[read].layer] = true;
            }
        }
    }
    return layers;
}

// Frameworks on GPUs keep caches of keys and values in 8 bits or more, whatever type weights have.
void set_types(model::DataType type, bool on_gpu, model::NetworkGraph& wired) {
    constexpr int kCacheBits = 8;
    const bool apart = on_gpu && model::storage_bits(type) < kCacheBits;
    const std::vector<bool> keeps =
        apart ? use_cache(wired) : std::vector<bool>(wired.network.layers.size(), false);
    for (std::size_t i = 0; i < keeps.size(); ++i) {
        Layer& layer = wired.network.layers[i];
        layer.types = keeps[i] ? layer.types : model::TensorTypes{type, type, type};
    }
}

// TF32 as a network has it is a permission: GPUs without it multiply in fp32, as frameworks do.
void multiply_in_fp32(Network& network) {
    const auto own = [](model::DataType& type) {
        type = type == model::DataType::tf32 ? model::DataType::fp32 : type;
    };
    for (Layer& layer : network.layers) {
        own(layer.types.input);
        own(layer.types.weight);
        own(layer.types.output);
    }
}

// How often each layer runs, as its count.
void count_runs(Graph& graph) {
    std::vector<Count> runs(graph.layers.size(), 0);
    for (const step::Operator& op : graph.operators) {
        ++runs[op.layer];
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
        graph.layers[i].count = runs[i];
    }
}

// The operators of the marked layers, and no layers that run no more.
Graph only(Graph graph, const std::vector<bool>& kept) {
    if (std::find(kept.begin(), kept.end(), false) == kept.end()) {
        return graph;
    }
    Graph part = graph;
    part.operators.clear();
    part.operands.clear();
    part.layers.clear();
    part.fused.clear();
    std::vector<std::uint32_t> now(graph.layers.size(), step::kNone);
    for (std::uint32_t i = 0; i < graph.layers.size(); ++i) {
        if (kept[i]) {
            now[i] = static_cast<std::uint32_t>(part.layers.size());
            part.layers.push_back(graph.layers[i]);
            if (const auto at = graph.fused.find(i); at != graph.fused.end()) {
                part.fused.emplace(now[i], at->second);
            }
        }
    }
    for (step::Tensor& tensor : part.tensors) {
        tensor.producer = step::kNone;
        tensor.layer = tensor.layer == step::kNone ? step::kNone : now[tensor.layer];
    }
    std::vector<step::OperatorId> moved(graph.operators.size(), step::kNone);
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        step::Operator op = graph.operators[i];
        if (!kept[op.layer]) {
            continue;
        }
        op.layer = now[op.layer];
        op.forward = op.forward == step::kNone ? step::kNone : moved[op.forward];
        moved[i] = part.append(op, graph.reads_of(op), graph.writes_of(op));
    }
    for (std::size_t t = 0; t < part.tensors.size(); ++t) {
        const step::OperatorId producer = graph.tensors[t].producer;
        part.tensors[t].producer = producer == step::kNone ? step::kNone : moved[producer];
    }
    return part;
}

Result<Graph> matching_layers(Graph graph, const std::string& expression) {
    const auto pattern = Pattern::compile(expression);
    if (!pattern) {
        return pattern.diagnostics();
    }
    std::vector<bool> kept;
    for (const Layer& layer : graph.layers) {
        kept.push_back(layer.count > 0 && pattern->found_in(layer.name));
    }
    if (std::find(kept.begin(), kept.end(), true) == kept.end()) {
        constexpr std::size_t kShownName = 60;
        return Result<Graph>::failure(
            "no-layers", fmt::format("no layer of {} matches '{}'", graph.name, expression),
            graph.layers.empty()
                ? "the network has no layers"
                : "the first one is named " + graph.layers.front().name.substr(0, kShownName));
    }
    return only(std::move(graph), kept);
}

} // namespace

Operators operators_of(const Question& question) {
    const bool inference = !question.scenario.training.has_value();
    const Operators usual =
        gpu_of(question) == nullptr && inference ? Operators::fused : Operators::all;
    return question.scenario.operators.value_or(usual);
}

// Fused on GPUs, as by PyTorch's scaled_dot_product_attention (the default of transformers,
// diffusers, and torchvision), serving engines, Megatron-Core, TensorRT, and ONNX Runtime; JAX and
// TensorFlow do so only where asked. Written in traces, which state what ran, on accelerators, and,
// unless compiled, on CPUs.
AttentionForm attention_of(const Question& question) {
    const model::Gpu* gpu = gpu_of(question);
    const bool described =
        gpu != nullptr && gpu->arch != model::GpuArch::host && !question.network.as_it_ran;
    const bool fused = described || (gpu != nullptr && question.scenario.compiled);
    return question.scenario.attention.value_or(fused ? AttentionForm::fused
                                                      : AttentionForm::written);
}

model::Layout layout_of(const Question& question) {
    constexpr int kFullBits = 32;
    const bool mixed = convolution_bits(question) < kFullBits;
    const bool last = question.network.ran_channels_last.value_or(mixed);
    return question.scenario.layout.value_or(last ? model::Layout::channels_last
                                                  : model::Layout::channels_first);
}

namespace {

// Two-dimensional: Inductor turns neither sequences nor volumes.
bool is_planar(const Layer& layer) {
    const auto* c = std::get_if<model::ConvShape>(&layer.shape);
    return c != nullptr && c->depth == 1 && (c->h > 1 || c->r > 1);
}

// Multiplications of the convolutions, each by what channels last made of its time in Inductor's
// benchmarks.
struct Turned {
    double now = 0.0, then = 0.0;
    bool grouped = false, narrows = false, all_small = true;

    void add(const Layer& layer, const model::ConvShape& c) {
        constexpr Count kSmall = 64;
        const Count channels = c.c / c.groups;
        const bool in_groups = c.groups > 1 && channels > 1;
        const bool narrow = c.k * 2 <= channels && c.r > 1;
        const bool small = c.k <= kSmall && channels <= kSmall;
        const auto work = model::work_of(layer);
        const double macs = work ? static_cast<double>(work->macs * layer.count) : 0.0;
        now += macs;
        then += macs * (in_groups ? 1.358 : small ? 0.783 : narrow ? 0.725 : 0.823);
        grouped = grouped || in_groups;
        narrows = narrows || narrow;
        all_small = all_small && small;
    }
};

} // namespace

bool turns_layout(const Question& question) {
    const model::Gpu* gpu = gpu_of(question);
    const Scenario& s = question.scenario;
    if (gpu == nullptr || gpu->arch == model::GpuArch::amd || gpu->arch == model::GpuArch::host ||
        !s.compiled || s.layout || layout_of(question) == model::Layout::channels_last) {
        return false;
    }
    Turned all;
    for (const Layer& layer : question.network.layers) {
        if (const auto* conv = std::get_if<model::ConvShape>(&layer.shape)) {
            all.add(layer, *conv);
        }
    }
    return all.now > 0.0 &&
           (s.training ? !all.grouped && !all.narrows && !all.all_small : all.then <= all.now);
}

model::Software software_of(const Scenario& scenario, model::Layout layout, const Layer& layer) {
    model::Software software = model::software_from_name(scenario.library, layer.types.input);
    software.layout = layout;
    software.layout_passes_apart = true;
    if (scenario.compiled && software.norm == model::NormKernel::usual) {
        software.norm = model::NormKernel::compiled;
    }
    return software;
}

step::SoftwareOf software_of(const Question& question) {
    return
        [scenario = question.scenario, layout = layout_of(question), turns = turns_layout(question),
         as_it_ran = question.network.as_it_ran](const Layer& layer) {
            const bool turned = turns && is_planar(layer);
            // A trace says which of its batch norms have channels first.
            const bool first = as_it_ran && layer.op == model::Op::batchnorm;
            return software_of(scenario,
                               turned  ? model::Layout::channels_last
                               : first ? model::Layout::channels_first
                                       : layout,
                               layer);
        };
}

Count own_batch(const Network& network) {
    if (network.batch > 0) {
        return network.batch;
    }
    Count batch = 0;
    for (const Layer& layer : network.layers) {
        const auto* conv = std::get_if<model::ConvShape>(&layer.shape);
        const auto* pool = std::get_if<model::PoolShape>(&layer.shape);
        const Count n = conv != nullptr ? conv->n : pool != nullptr ? pool->n : 0;
        if (n > 0 && batch > 0 && n != batch) {
            return 1;
        }
        batch = n > 0 ? n : batch;
    }
    return std::max<Count>(batch, 1);
}

Result<Count> batch_factor(const Question& question) {
    const Count own = own_batch(question.network);
    const Count wanted = question.scenario.batch.value_or(own);
    if (wanted % own != 0) {
        return Result<Count>::failure(
            "bad-batch",
            fmt::format("{} has sizes for a batch of {}, and {} is no multiple of it",
                        question.network.name, own, wanted),
            fmt::format("use a multiple, such as --batch {}",
                        own * std::max<Count>(wanted / own, 1)));
    }
    return wanted / own;
}

Diagnostics check_costed(const Question& question) {
    Diagnostics found;
    if (!question.scenario.allow_uncosted && model::uncosted_products(question.network) > 0) {
        found.error(
            "uncosted",
            fmt::format("{}: {}", question.network.name, model::uncosted_text(question.network)),
            "a result would leave them out; --allow-uncosted gives it nevertheless");
    }
    return found;
}

Result<model::NetworkGraph> forward_layers(const Question& question) {
    const auto factor = batch_factor(question);
    Diagnostics refused = check_costed(question);
    refused.append(factor.diagnostics());
    if (refused.has_errors()) {
        return refused;
    }
    if (question.network.layers.empty()) {
        return Result<model::NetworkGraph>::failure(
            "no-layers", fmt::format("{} has no layers", question.network.name),
            "give it at least one layer");
    }
    model::NetworkGraph asked{question.network, question.edges};
    if (question.scenario.training) {
        auto trained = model::in_training(std::move(asked));
        if (!trained) {
            return trained.diagnostics();
        }
        asked = *std::move(trained);
    }
    model::NetworkGraph layers = with_operators(asked, operators_of(question));
    if (layers.network.layers.empty()) {
        return Result<model::NetworkGraph>::failure(
            "no-layers",
            fmt::format("{} has no convolution, GEMM or attention", question.network.name),
            "leave out --operators products");
    }
    auto grown = model::with_batch(layers.network, *factor);
    if (!grown) {
        return grown.diagnostics();
    }
    layers.network = *std::move(grown);
    if (question.scenario.data_type) {
        set_types(*question.scenario.data_type, gpu_of(question) != nullptr, layers);
    } else if (const model::Gpu* gpu = gpu_of(question);
               gpu != nullptr && gpu->rate(model::DataType::tf32).flops_per_s <= 0.0) {
        multiply_in_fp32(layers.network);
    }
    if (attention_of(question) == AttentionForm::fused) {
        step::Rewired rewired = step::with_attention(layers.network, layers.edges);
        layers = {std::move(rewired.network), std::move(rewired.edges)};
    }
    return layers;
}

namespace {

// In training every batch norm takes the statistics of its batch; else it scales and shifts planes.
void name_images(Graph& graph, Count batch, bool training) {
    for (Layer& layer : graph.layers) {
        auto* rows = std::get_if<model::RowsShape>(&layer.shape);
        if (layer.op == model::Op::batchnorm && rows->images == 0 && rows->planes == 0 &&
            rows->cols % batch == 0) {
            (training ? rows->images : rows->planes) = batch;
        }
    }
}

} // namespace

Result<Graph> lower(const Question& question) {
    const auto& training = question.scenario.training;
    if (training && !model::tensors_read(training->optimizer)) {
        return Result<Graph>::failure("unknown-function",
                                      fmt::format("'{}' is not an optimizer", training->optimizer),
                                      "such as sgd, sgd_momentum or adam");
    }
    if (!question.scenario.density.empty()) {
        return Result<Graph>::failure("density",
                                      "zeros are counted by exam alone, on machines that skip them",
                                      "leave --density out");
    }
    const auto layers = forward_layers(question);
    if (!layers) {
        return layers.diagnostics();
    }
    step::GraphOptions options;
    options.training = training;
    options.states = question.scenario.states;
    options.in_place = question.scenario.in_place;
    options.batch = *batch_factor(question);
    auto made = step::make_graph(layers->network, layers->edges, options);
    if (!made) {
        return made;
    }
    Graph graph = *std::move(made);
    if (const model::Gpu* gpu = gpu_of(question)) {
        if (training || !question.network.as_it_ran) { // a trace states what it knows
            name_images(graph, question.scenario.batch.value_or(own_batch(question.network)),
                        training.has_value());
        }
        if (!question.network.as_it_ran) {
            graph = step::with_layout_passes(graph, *gpu, software_of(question));
        }
        if (turns_layout(question)) {
            graph = step::with_turned_tensors(graph, is_planar);
        }
        graph = question.scenario.compiled ? step::fuse(graph, gpu->sms) : std::move(graph);
    }
    count_runs(graph);
    if (question.scenario.layers) {
        return matching_layers(std::move(graph), *question.scenario.layers);
    }
    std::vector<bool> runs;
    for (const Layer& layer : graph.layers) {
        runs.push_back(layer.count > 0);
    }
    return only(std::move(graph), runs);
}

step::Memory memory_of(const Question& question, const Graph& program,
                       const std::vector<Count>& workspaces) {
    step::Memory memory = step::memory_of(program, workspaces);
    if (operators_of(question) == Operators::fused) {
        Question unfolded = question;
        unfolded.scenario.operators = Operators::all;
        const auto all = lower(unfolded);
        memory.parameters = all ? step::memory_of(*all).parameters : memory.parameters;
    }
    return memory;
}

Result<Network> lowered_network(const Question& question) {
    auto program = lower(question);
    if (!program) {
        return program.diagnostics();
    }
    Network network;
    network.id = program->id;
    network.name = program->name;
    network.source = question.network.source;
    network.layers = std::move(program->layers);
    return network;
}

Scenario for_lowered(Scenario scenario) {
    scenario.batch.reset();
    scenario.layers.reset();
    scenario.data_type.reset();
    scenario.training.reset();
    scenario.operators = Operators::all;
    scenario.attention = AttentionForm::written;
    scenario.compiled = false;
    scenario.layout = model::Layout::channels_last;
    return scenario;
}

Question question_of_lowered(const Question& question, Network layers) {
    Question made = question;
    made.scenario = for_lowered(question.scenario);
    made.network = std::move(layers);
    made.edges.reset();
    return made;
}

} // namespace eyeroof::analysis
