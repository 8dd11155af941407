// How a decoder's training is divided over devices, and the options of training and serving
// frameworks that say the same.
#pragma once

#include "analysis/scale/transformer.hpp"

#include <string>

namespace eyeroof::analysis {

// Where the optimizer's states are and its update runs: on the device; in the host's memory, by its
// processors; or on NVMe drives behind them. Sources: Ren et al., ZeRO-Offload, arXiv:2101.06840;
// Rajbhandari et al., ZeRO-Infinity, arXiv:2104.07857.
enum class OptimizerPlace { device, host, nvme };

// Devices next to each other differ in tensor, then context, pipeline, data (the most bandwidth
// nearest; Llama 3's order). Experts are spread over devices that differ in data.
struct Plan {
    Count tensor = 1, pipeline = 1, context = 1, expert = 1, data = 1;
    Count interleave = 1; // chunks of blocks on each stage
    Count microbatch = 1;
    bool sequence = false;
    Recompute recompute = Recompute::none;
    int zero = 0;
    bool balanced = false; // stages: the head counts as blocks
    OptimizerPlace offload = OptimizerPlace::device;

    Count devices() const { return tensor * pipeline * context * data; }
    // Devices that hold the same part of the weights: gradients are summed, and ZeRO divides its
    // states, over all of them (Llama 3 herd of models, arXiv:2407.21783, section 3.3.2).
    Count replicas() const { return data * context; }
    std::string text() const;
    bool operator==(const Plan&) const = default;
};

struct TransformerOptions;
struct ServingOptions;
struct ServingPoint;

// A plan as YAML: its degrees, and the same as arguments of Megatron-LM and as a configuration of
// DeepSpeed. Names of options: Megatron-LM's megatron/training/arguments.py (core 0.8 and later),
// DeepSpeed's configuration page. Comments say what a framework has no option for, of which version
// the names are, and which were not checked.
std::string plan_yaml(const Plan& plan, const Transformer& t, const TransformerOptions& options);

// A server's point as YAML: its degrees and limits, and the same as arguments of vLLM, SGLang, and
// TensorRT-LLM (vllm serve, sglang.launch_server, trtllm-serve).
std::string server_yaml(const ServingPoint& point, const ServingOptions& options);

} // namespace eyeroof::analysis
