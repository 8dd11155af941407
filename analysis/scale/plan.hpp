// How a decoder's training is divided over devices, and the options of training and serving
// frameworks that say the same.
#pragma once

#include "analysis/scale/transformer.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis {

// Where the optimizer's states are and its update runs: on the device; in the host's memory, by its
// processors; or on NVMe drives behind them. Sources: Ren et al., ZeRO-Offload, arXiv:2101.06840;
// Rajbhandari et al., ZeRO-Infinity, arXiv:2104.07857.
enum class OptimizerPlace { device, host, nvme };

// In which order devices next to each other differ, after tensor and context. Names and default:
// NVIDIA/Megatron-LM, megatron/core/parallel_state.py, initialize_model_parallel(order), and
// --use-tp-pp-dp-mapping.
//   pipeline_last  tp-cp-ep-dp-pp: stages are farthest apart. The experts' group begins with the
//                  nearest devices, whatever they hold of attention.
//   data_last      tp-cp-ep-pp-dp: replicas are farthest apart (Llama 3 herd of models,
//                  arXiv:2407.21783, section 3.3.2). Experts are spread over replicas.
enum class PlanOrder { pipeline_last, data_last };
std::string_view order_name(PlanOrder order);
std::optional<PlanOrder> order_from_name(std::string_view name);
std::vector<std::string> order_names();

struct Plan {
    Count tensor = 1, pipeline = 1, context = 1, expert = 1, data = 1;
    Count interleave = 1; // chunks of blocks on each stage
    Count microbatch = 1;
    bool sequence = false;
    Recompute recompute = Recompute::none;
    int zero = 0;
    bool balanced = false; // stages: the head counts as blocks
    OptimizerPlace offload = OptimizerPlace::device;
    Count expert_tensor = 0; // devices that divide each expert; 0: as many as `tensor`
    PlanOrder order = PlanOrder::pipeline_last;

    Count devices() const { return tensor * pipeline * context * data; }
    // Devices that hold the same part of the weights: gradients are summed, and ZeRO divides its
    // states, over all of them (Llama 3 herd of models, arXiv:2407.21783, section 3.3.2).
    Count replicas() const { return data * context; }
    Count expert_part() const { return expert_tensor > 0 ? expert_tensor : tensor; }
    // Of replicas(), those that hold the same experts.
    Count expert_replicas() const;
    // Devices between neighbors of a group.
    Count context_stride() const { return tensor; }
    Count pipeline_stride() const;
    Count data_stride() const;
    Count expert_stride() const;
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
