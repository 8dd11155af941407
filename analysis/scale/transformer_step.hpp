// One training step of a decoder cut over devices: tensor and sequence, pipeline, context, expert
// and data parallel.
#pragma once

#include "analysis/scale/engine.hpp"
#include "analysis/scale/plan.hpp"
#include "analysis/scale/scale.hpp"
#include "analysis/scale/transformer.hpp"
#include "model/gpu/library_cells.hpp"

#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace eyeroof::analysis {

struct TrainingKernels;

// The library's attention: newest, as the exam's constants are fitted on each GPU; flash2:
// FlashAttention 2, which on GPUs since Hopper does not use their asynchronous instructions;
// triton: FlashAttention 1 in Triton, of 2022 and the first half of 2023.
enum class AttentionKernel { newest, flash2, triton };
std::string_view attention_kernel_name(AttentionKernel kernel);
std::optional<AttentionKernel> attention_kernel_from_name(std::string_view name);
std::vector<std::string> attention_kernel_names();

// Times of a kernel over those of the newest, forward and backward.
struct AttentionSlowdown {
    double forward = 1.0, backward = 1.0;
    bool operator==(const AttentionSlowdown&) const = default;
};
// `hopper`: a GPU of compute capability 9.0 or later.
AttentionSlowdown slowdown_of(AttentionKernel kernel, bool hopper);

// How tokens reach their experts. alltoall: a copy for each expert (Megatron-Core's
// --moe-token-dispatcher-type alltoall). flex: one for each device, and over a wider level one for
// each unit, that has any of them (the same option's `flex`: DeepEP and HybridEP).
enum class Dispatcher { alltoall, flex };
std::string_view dispatcher_name(Dispatcher dispatcher);
std::optional<Dispatcher> dispatcher_from_name(std::string_view name);
std::vector<std::string> dispatcher_names();

struct TransformerOptions {
    Count batch = 1; // sequences of a step
    Count length = 2048;
    model::DataType type = model::DataType::bf16;
    bool fused = true; // attention as one kernel
    AttentionKernel attention = AttentionKernel::newest;
    std::optional<model::DataType> attention_type; // nullopt: 16 bits beside narrower products
    bool overlap = true; // gradients are summed during the last microbatch's backward pass
    // Tensor parallel messages leave while products go on. nullopt: as hides_tensor() says.
    std::optional<bool> overlap_tensor;
    Dispatcher dispatcher = Dispatcher::flex; // as Megatron-Bridge's recipes of 2026
    // Tokens travel to experts beside kernels of another microbatch (1F1B). nullopt: wherever
    // Megatron-Core can, see hides_experts().
    std::optional<bool> overlap_expert;
    PlanOrder order = PlanOrder::pipeline_last; // of the plans that a search tries
    Adapters adapters;                          // trained in place of the weights
    bool fused_accumulation = true;       // products add to the gradients of microbatches before
    bool fused_bias_gradient = true;      // products of weight gradients sum their biases' too
    std::optional<double> gradient_bytes; // nullopt: as gradient_bytes_of() says
    OptimizerPlace offload = OptimizerPlace::device; // that a search may also choose
    // Of a node, which its devices share; PCIe of a device, one way.
    double host_bytes_per_s = 200e9, nvme_bytes_per_s = 25e9, pcie_bytes_per_s = 0.0;
    Scenario exam;                 // launch and software of the kernels
    model::MachineKernels kernels; // measured ones of the device; none: the exam's alone
    CollectiveOptions collective;
};

// Kernels of one microbatch on one device, seconds; each cut examined once.
struct BlockTimes {
    double forward_s = 0.0, backward_s = 0.0; // of a block
    double core_s = 0.0;                      // attention's core forward
    double ends_s = 0.0;                      // embedding, head and loss, both ways
    double byte_s = 0.0;                      // a byte of memory-bound work
};

class BlockExams {
  public:
    BlockExams(const Transformer& t, const model::Machine& machine, const TransformerOptions& o);

    Result<BlockTimes> times(const Plan& plan, std::stop_token stop);
    // Of Adam over so many values in mixed precision: 28 bytes a value, and 14 more for the norm
    // that clips gradients, the 16-bit copy, and clearing.
    Result<double> update_s(double values, std::stop_token stop);
    double capacity() const { return capacity_; }
    double peak_flops_per_s() const { return peak_; }
    const Transformer& transformer() const { return t_; }
    const TransformerOptions& options() const { return options_; }

  private:
    using Key = std::tuple<Count, Count, Count, Count, Count, bool>;
    Result<BlockTimes> examine(const Plan& plan, std::stop_token stop);
    TrainingKernels kernels() const;

    Transformer t_;
    model::Machine machine_;
    TransformerOptions options_;
    double capacity_ = 0.0, peak_ = 1.0;
    AttentionSlowdown attention_;
    std::map<Key, BlockTimes> known_;
    double byte_s_ = 0.0; // of such memory-bound work
};

// Published over predicted steps of decoders: with products of 16 bits, of 8 and fewer, and with
// experts. Fitted with rows left out by source, GPU, model, and table: `eyeroof validate --scale`.
const ErrorBand& step_band(const Transformer& t, model::DataType type);

// One device's part of a block.
BlockCut cut_of(const Plan& plan, const TransformerOptions& options);

struct TransformerStep {    // parts of time_s
    double compute_s = 0.0; // forward, backward, update of the busiest device
    double recompute_s = 0.0;
    double idle_s = 0.0; // bubble, and stages that are not even
    double tensor_s = 0.0, context_s = 0.0, expert_s = 0.0, pipeline_s = 0.0; // communication
    double data_s = 0.0;                                                      // exposed
    double time_s = 0.0;
    DeviceMemory memory;
    std::vector<double> level_bytes, level_messages;
    double communication_s() const { return tensor_s + context_s + expert_s + pipeline_s + data_s; }
};

// m microbatches on p stages of v chunks:
//   t = m slowest + (all - slowest)/v + data exposed + update
// slowest: of the stages, which take `all` together: blocks by stage_blocks(), the head on the
// last, and adding a microbatch's gradients to those before (10
// bytes a value by a kernel of its own, 6 more where products do it in 32 bits); a block's
// communication is exposed: 4 all-reduces of 2 b s h bytes over the tensor group (with sequence
// parallel as many pairs of all-gather and reduce-scatter, and 2 all-gathers beside products), 2
// more where it is computed again; keys and values gathered over the context group, 3 times (with
// overlap_tensor only what the products do not hide, at least 1/t); 4 all-to-alls over the experts
// (where hides_experts(), each beside half of another microbatch's forward or backward pass, but
// for the first or last of m), with sequence parallel of 1/t of the tokens, which the devices that
// divide an expert gather and scatter;
// 2 v messages of 2 b s h / t bytes a boundary, beside other chunks' kernels where v > 1. What
// kernels hide holds the nearest level's `occupies` of the device. Gradients leave during the last
// backward pass of a stage, weights of ZeRO 1 and 2 come during the first forward pass, each p (v -
// 1)/v times as long where stages interleave. Sources: Narayanan et al., arXiv 2104.04473;
// Korthikanti et al., arXiv 2205.05198.
TransformerStep transformer_step(const Transformer& t, const Plan& plan,
                                 const TransformerOptions& options, const model::Fabric& fabric,
                                 const BlockTimes& times, double update_s, double capacity);

// Bytes on the first stage: 2 a weight, gradients, 12 of Adam in mixed precision, activations of
// the microbatches in flight: the fullest stage's blocks of min(p, m), times 1 + (p - 1)/(p v) when
// interleaved.
DeviceMemory transformer_memory(const Transformer& t, const Plan& plan,
                                const TransformerOptions& options, double capacity);

// What an offloaded update of `kept` values takes of a step, beside a last backward pass of
// `backward_s`: 16-bit gradients leave while it runs, the host moves Adam's 28 bytes a value (NVMe
// drives read and write 12 each way meanwhile), and 16-bit weights come back.
//   t = max(2 kept / pcie - backward, 0) + max(28 kept / host, 24 kept / nvme) + 2 kept / pcie
// host and nvme: a device's share of its node's. 0 where nothing is offloaded.
double offload_s(const Plan& plan, const TransformerOptions& options, double kept,
                 double backward_s, double devices_per_node);

// Learned values of the device that has most; experts and all else.
struct DeviceValues {
    double shared = 0.0, experts = 0.0;
    double all() const { return shared + experts; }
};
DeviceValues device_values(const Transformer& t, const Plan& plan);
double device_parameters(const Transformer& t, const Plan& plan);
// Of them, those that it keeps where ZeRO divides them over all devices that hold the same.
double divided_parameters(const Transformer& t, const Plan& plan);
// Those that have gradients: all, or adapters, and of them those that it updates.
DeviceValues trained_values(const Transformer& t, const Plan& plan, const TransformerOptions& o);
double updated_parameters(const Transformer& t, const Plan& plan, const TransformerOptions& o);

// Whether all-to-alls of experts travel beside kernels of another microbatch. Megatron-Core has it
// with chunks on every stage where there are several, and without full recomputation. Source:
// NVIDIA-NeMo/Megatron-Bridge@067f987, training/comm_overlap.py.
bool hides_experts(const Plan& plan, const TransformerOptions& options);

// Whether tensor parallel messages travel beside products: in recipes of 8 bits with sequence
// parallel, not in those of 4 bits. Source: NVIDIA-NeMo/Megatron-Bridge@0013c9a,
// scripts/performance/configs/llama/llama31_llm_pretrain.py (tp_comm_overlap).
bool hides_tensor(const Plan& plan, const TransformerOptions& options);

// Of a value's gradient, kept and summed: 32 bits, and 16 in recipes of 8 and 4 bits. Source: the
// same file (grad_reduce_in_fp32).
double gradient_bytes_of(const TransformerOptions& options);

// Everything that keeps the plan from running: degrees that do not divide, with the nearest that
// do.
Diagnostics check_plan(const Transformer& t, const Plan& plan, const TransformerOptions& options,
                       const model::Fabric& fabric);

// A step as a point of a scaling study, its chain against one device without limits of memory.
Result<ScalePoint> transformer_point(BlockExams& exams, const Plan& plan,
                                     const model::Fabric& fabric, double baseline_s,
                                     std::stop_token stop);
// Seconds a sequence on one device that held everything, at the plan's microbatch.
Result<double> transformer_baseline(BlockExams& exams, Count microbatch, std::stop_token stop);

// For every number of devices: the plan's degrees, data parallel taking the rest.
Result<ScaleResult> scale_transformer(const Transformer& t, const model::Machine& machine,
                                      const model::Fabric& fabric,
                                      const std::vector<Count>& devices, const Plan& plan,
                                      const TransformerOptions& options, std::stop_token stop = {},
                                      const ProgressCallback& progress = {});

} // namespace eyeroof::analysis
