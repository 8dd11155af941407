#include "analysis/program/memory.hpp"

#include "analysis/program/graph_parts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace eyeroof::analysis::step {

std::string_view holder_text(std::size_t holder) {
    return holder == kWorkspace ? "workspace" : role_text(static_cast<Role>(holder));
}

Count total_of(const Bytes& bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), Count{0});
}

namespace {

bool stays(const Tensor& tensor) {
    return tensor.role == Role::weight || tensor.role == Role::optimizer ||
           tensor.role == Role::state;
}

} // namespace

std::vector<Lifetime> lifetimes_of(const Graph& graph) {
    std::vector<Lifetime> lives(graph.tensors.size());
    const auto last = static_cast<OperatorId>(graph.operators.size());
    for (OperatorId i = 0; i < last; ++i) {
        const Operator& op = graph.operators[i];
        const auto touch = [&](TensorId t) {
            Lifetime& life = lives[t];
            life.first = life.used ? life.first : i;
            life.last = i;
            life.used = true;
        };
        for (std::uint32_t r = 0; r < op.reads; ++r) {
            touch(graph.operands[op.first_read + r]);
        }
        for (std::uint32_t w = 0; w < op.writes; ++w) {
            touch(graph.operands[op.first_write + w]);
        }
    }
    for (std::size_t t = 0; t < lives.size() && last > 0; ++t) {
        const Tensor& tensor = graph.tensors[t];
        const bool before = stays(tensor) || tensor.role == Role::input;
        lives[t].used = lives[t].used || stays(tensor);
        lives[t].first = before ? 0 : lives[t].first;
        lives[t].last = stays(tensor) || tensor.output ? last - 1 : lives[t].last;
    }
    return lives;
}

namespace {

void find_holders(const Graph& graph, const std::vector<Lifetime>& lives, Memory& memory) {
    constexpr std::size_t kMost = 20;
    for (TensorId t = 0; t < static_cast<TensorId>(lives.size()); ++t) {
        const Lifetime& life = lives[t];
        if (life.used && life.first <= memory.peak_at && memory.peak_at <= life.last) {
            memory.holders.push_back({t, graph.tensors[t].bytes});
        }
    }
    const auto most = std::min(memory.holders.size(), kMost);
    std::partial_sort(memory.holders.begin(),
                      memory.holders.begin() + static_cast<std::ptrdiff_t>(most),
                      memory.holders.end(), [](const Holder& a, const Holder& b) {
                          return a.bytes != b.bytes ? a.bytes > b.bytes : a.tensor < b.tensor;
                      });
    memory.holders.resize(most);
}

} // namespace

namespace {

// The layer that says how wide each weight's elements are: its own, or, of a layer that is part of
// a fused group, the group's that reads it.
std::vector<std::uint32_t> layers_of_weights(const Graph& graph) {
    std::vector<std::uint32_t> layers(graph.tensors.size(), kNone);
    for (const Operator& op : graph.operators) {
        for (const TensorId t : graph.reads_of(op)) {
            layers[t] = layers[t] == kNone ? op.layer : layers[t];
        }
    }
    for (TensorId t = 0; t < graph.tensors.size(); ++t) {
        layers[t] = graph.tensors[t].layer == kNone ? layers[t] : graph.tensors[t].layer;
    }
    return layers;
}

} // namespace

Memory memory_of(const Graph& graph, const std::vector<Count>& workspaces) {
    const std::vector<Lifetime> lives = lifetimes_of(graph);
    Memory memory;
    const std::vector<std::uint32_t> layers = layers_of_weights(graph);
    const std::size_t n = graph.operators.size();
    memory.at.assign(n, Bytes{});
    std::vector<Bytes> freed(n + 1, Bytes{}); // differences: what appears and goes at an operator
    std::vector<Bytes> made(n + 1, Bytes{});
    for (std::size_t t = 0; t < lives.size() && n > 0; ++t) {
        const Tensor& tensor = graph.tensors[t];
        if (!lives[t].used) {
            continue;
        }
        const auto role = static_cast<std::size_t>(tensor.role);
        made[lives[t].first][role] += tensor.bytes;
        freed[lives[t].last + 1][role] += tensor.bytes;
        memory.resident += stays(tensor) ? tensor.bytes : 0;
        memory.gradients += tensor.role == Role::weight_gradient ? tensor.bytes : 0;
        if (tensor.role == Role::weight && layers[t] != kNone) {
            memory.parameters += elements_in(tensor.bytes, graph.layers[layers[t]].types.weight);
        }
    }
    Bytes now{};
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t h = 0; h < kHolders; ++h) {
            now[h] += made[i][h] - freed[i][h];
        }
        now[kWorkspace] = workspaces.empty() ? 0 : workspaces[graph.operators[i].layer];
        memory.at[i] = now;
        if (const Count total = total_of(now); total > memory.peak) {
            memory.peak = total;
            memory.peak_at = static_cast<OperatorId>(i);
            memory.at_peak = now;
        }
    }
    find_holders(graph, lives, memory);
    return memory;
}

std::vector<Count> workspaces_of(const Graph& graph, const model::Gpu& gpu,
                                 const SoftwareOf& software) {
    std::vector<Count> bytes(graph.layers.size(), 0);
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
        const model::Layer& layer = graph.layers[i];
        const auto work = layer.op == model::Op::conv2d ? model::work_of(layer)
                                                        : Result<model::Work>(model::Work{});
        if (layer.op != model::Op::conv2d || !work) {
            continue;
        }
        const auto kernel = model::kernel_of(gpu, layer, *work, software(layer));
        if (kernel && kernel->conv) { // written once and read once
            const double beside = kernel->conv->dram_bytes - static_cast<double>(work->bytes());
            bytes[i] = static_cast<Count>(std::max(beside, 0.0) / 2.0);
        }
    }
    return bytes;
}

double device_bytes(const model::Gpu& gpu) {
    constexpr double kGib = 1073741824.0;
    const double gigabytes = gpu.dram_bytes / 1e9;
    const bool of_a_sheet =
        gpu.arch != model::GpuArch::host && std::abs(gigabytes - std::round(gigabytes)) < 1e-6;
    return of_a_sheet ? std::round(gigabytes) * kGib : gpu.dram_bytes;
}

Count capacity_of(const model::Gpu& gpu) {
    const double context = gpu.arch == model::GpuArch::host ? 0.0 : kContextBytes;
    return static_cast<Count>(std::max(device_bytes(gpu) - context, 0.0));
}

Count largest_batch(Count limit, Count most,
                    const std::function<std::optional<Count>(Count)>& peak_of) {
    const auto fits = [&](Count batch) {
        const auto peak = peak_of(batch);
        return peak && *peak <= limit;
    };
    if (most < 1 || !fits(1)) {
        return 0;
    }
    Count low = 1, high = 2;
    while (high <= most && fits(high)) {
        low = high;
        high *= 2;
    }
    high = std::min(high, most + 1); // the least that is known not to fit, or not asked for
    while (high - low > 1) {
        const Count middle = low + (high - low) / 2;
        (fits(middle) ? low : high) = middle;
    }
    return low;
}

} // namespace eyeroof::analysis::step
