// Plans as options of training and serving frameworks.
#include "analysis/scale/plan.hpp"
#include "analysis/scale/serving.hpp"
#include "analysis/scale/transformer_step.hpp"

#include <fmt/format.h>

namespace eyeroof::analysis {

namespace {

// "  --name value" lines of a folded YAML scalar.
class Arguments {
  public:
    void add(const std::string& name) { text_ += "  " + name + "\n"; }
    template <class Value> void add(const std::string& name, const Value& value) {
        text_ += fmt::format("  {} {}\n", name, value);
    }
    template <class Value> void add_if(bool given, const std::string& name, const Value& value) {
        if (given) {
            add(name, value);
        }
    }
    std::string take(const char* key) const { return std::string(key) + ": >-\n" + text_; }

  private:
    std::string text_;
};

const char* recompute_name(Recompute recompute) {
    return recompute == Recompute::full        ? "full"
           : recompute == Recompute::selective ? "selective"
                                               : "none";
}

// Where the names of options were looked up, and which were not found there.
constexpr const char* kMegatronNames =
    "# Option names: as in public launch scripts of Megatron-LM, no one release. Not found there:\n"
    "# --tp-comm-overlap, --optimizer-cpu-offload.\n";
constexpr const char* kDeepSpeedNames =
    "# Option names: as in public configurations of DeepSpeed, no one release. Not found there:\n"
    "# activation_checkpointing, sequence_parallel_size.\n";
constexpr const char* kServerNames =
    "# Option names: as in public pages of vLLM, SGLang, and TensorRT-LLM, no one release.\n"
    "# Not found there: --enable-expert-parallel, --speculative-config, --ep-size.\n";

std::string megatron(const Plan& plan, const Transformer& t, const TransformerOptions& o) {
    Arguments a;
    a.add("--num-layers", t.layers);
    a.add("--hidden-size", t.hidden);
    a.add("--num-attention-heads", t.heads);
    a.add("--seq-length", o.length);
    a.add("--micro-batch-size", plan.microbatch);
    a.add("--global-batch-size", o.batch);
    a.add("--tensor-model-parallel-size", plan.tensor);
    a.add("--pipeline-model-parallel-size", plan.pipeline);
    a.add_if(plan.context > 1, "--context-parallel-size", plan.context);
    a.add_if(plan.expert > 1, "--expert-model-parallel-size", plan.expert);
    a.add_if(plan.expert_part() != plan.tensor, "--expert-tensor-parallel-size",
             plan.expert_part());
    a.add_if(plan.expert > 1, "--moe-token-dispatcher-type", dispatcher_name(o.dispatcher));
    if (hides_experts(plan, o)) {
        a.add("--overlap-moe-expert-parallel-comm");
    }
    if (plan.order == PlanOrder::data_last) {
        a.add("--use-tp-pp-dp-mapping");
    }
    a.add_if(plan.interleave > 1, "--num-virtual-stages-per-pipeline-rank", plan.interleave);
    const StageBlocks stages = stage_blocks(t, plan.pipeline, plan.balanced);
    a.add_if(plan.pipeline > 1 && stages.last != stages.most, "--decoder-last-pipeline-num-layers",
             stages.last);
    if (plan.sequence) {
        a.add("--sequence-parallel");
    }
    if (plan.zero == 1) {
        a.add("--use-distributed-optimizer");
    } else if (plan.zero > 1) {
        a.add("--use-megatron-fsdp");
        a.add("--data-parallel-sharding-strategy",
              plan.zero == 2 ? "optim_grads" : "optim_grads_params");
    }
    if (plan.recompute == Recompute::full) {
        a.add("--recompute-granularity", "full");
        a.add("--recompute-method", "uniform");
        a.add("--recompute-num-layers", 1);
    } else if (plan.recompute == Recompute::selective) {
        a.add("--recompute-granularity", "selective");
    }
    a.add(o.type == model::DataType::fp16 ? "--fp16" : "--bf16");
    a.add_if(model::storage_bits(o.type) == 8, "--fp8-format", "hybrid");
    if (o.fused) {
        a.add("--use-flash-attn");
    }
    if (o.overlap) {
        a.add("--overlap-grad-reduce");
    }
    if (hides_tensor(plan, o)) {
        a.add("--tp-comm-overlap");
    }
    if (plan.offload == OptimizerPlace::host) {
        a.add("--optimizer-cpu-offload");
    }
    return kMegatronNames + a.take("megatron");
}

std::string deepspeed(const Plan& plan, const TransformerOptions& o) {
    const Count unit = std::max<Count>(plan.microbatch * plan.data, 1);
    std::string text = kDeepSpeedNames;
    text += fmt::format("deepspeed:\n"
                        "  train_batch_size: {}\n"
                        "  train_micro_batch_size_per_gpu: {}\n"
                        "  gradient_accumulation_steps: {}\n",
                        o.batch, plan.microbatch, std::max<Count>(o.batch / unit, 1));
    text +=
        fmt::format("  {}: {{enabled: true}}\n", o.type == model::DataType::fp16 ? "fp16" : "bf16");
    const char* device = plan.offload == OptimizerPlace::host ? ", offload_optimizer: {device: cpu}"
                         : plan.offload == OptimizerPlace::nvme
                             ? ", offload_optimizer: {device: nvme}"
                             : "";
    text += fmt::format("  zero_optimization: {{stage: {}, overlap_comm: {}{}}}\n", plan.zero,
                        o.overlap ? "true" : "false", device);
    text += plan.tensor > 1 ? fmt::format("  tensor_parallel: {{autotp_size: {}}}\n", plan.tensor)
                            : std::string();
    text += plan.pipeline > 1
                ? fmt::format("  # stages are an argument of PipelineModule: num_stages={}\n",
                              plan.pipeline)
                : std::string();
    text += plan.context > 1 ? fmt::format("  sequence_parallel_size: {}\n", plan.context)
                             : std::string();
    text += plan.recompute == Recompute::full
                ? "  activation_checkpointing: {partition_activations: false}\n"
                : "";
    return text;
}

} // namespace

std::string plan_yaml(const Plan& plan, const Transformer& t, const TransformerOptions& o) {
    std::string text = fmt::format("plan:\n"
                                   "  devices: {}\n  tensor: {}\n  pipeline: {}\n  context: {}\n"
                                   "  expert: {}\n  data: {}\n  order: {}\n"
                                   "  interleave: {}\n",
                                   plan.devices(), plan.tensor, plan.pipeline, plan.context,
                                   plan.expert, plan.data, order_name(plan.order), plan.interleave);
    text +=
        fmt::format("  microbatch: {}\n  batch: {}\n  length: {}\n  sequence: {}\n"
                    "  recompute: {}\n  zero: {}\n  stages: {}\n",
                    plan.microbatch, o.batch, o.length, plan.sequence ? "true" : "false",
                    recompute_name(plan.recompute), plan.zero, plan.balanced ? "balanced" : "even");
    return text + megatron(plan, t, o) + deepspeed(plan, o);
}

namespace {

std::string vllm(const ServingPoint& p, const ServingOptions& o) {
    Arguments a;
    a.add("--tensor-parallel-size", p.tensor);
    a.add_if(p.data > 1, "--data-parallel-size", p.data);
    a.add("--max-num-seqs", (p.batch + p.data - 1) / p.data);
    a.add("--max-num-batched-tokens", o.engine.chunk);
    a.add("--max-model-len", o.prompt + o.answer);
    a.add("--gpu-memory-utilization", o.memory_share);
    a.add_if(model::storage_bits(o.weights()) == 8, "--quantization",
             o.weights() == model::DataType::int8 ? "compressed-tensors" : "fp8");
    a.add_if(model::storage_bits(o.cache()) == 8, "--kv-cache-dtype", "fp8");
    if (o.expert > 1) {
        a.add("--enable-expert-parallel");
    }
    if (o.speculation.tokens > 0) {
        a.add("--speculative-config",
              o.speculation.draft
                  ? fmt::format("'{{\"model\": \"{}\", \"num_speculative_tokens\": {}}}'",
                                o.speculation.draft->name, o.speculation.tokens)
                  : fmt::format("'{{\"method\": \"ngram\", \"num_speculative_tokens\": {}}}'",
                                o.speculation.tokens));
    }
    return a.take("vllm");
}

std::string sglang(const ServingPoint& p, const ServingOptions& o) {
    Arguments a;
    a.add("--tp-size", p.tensor * p.data);
    a.add_if(p.data > 1, "--dp-size", p.data);
    if (p.data > 1) {
        a.add("--enable-dp-attention");
    }
    a.add("--max-running-requests", p.batch);
    a.add("--chunked-prefill-size", o.engine.chunk);
    a.add("--context-length", o.prompt + o.answer);
    a.add("--mem-fraction-static", o.memory_share);
    a.add_if(model::storage_bits(o.weights()) == 8, "--quantization",
             o.weights() == model::DataType::int8 ? "w8a8_int8" : "fp8");
    a.add_if(model::storage_bits(o.cache()) == 8, "--kv-cache-dtype", "fp8_e4m3");
    a.add_if(o.expert > 1, "--ep-size", o.expert);
    return a.take("sglang");
}

// Attention data parallelism is enable_attention_dp of its extra options' file.
std::string trtllm(const ServingPoint& p, const ServingOptions& o) {
    Arguments a;
    a.add("--tp_size", p.tensor * p.data);
    a.add("--max_batch_size", p.batch);
    a.add("--max_num_tokens", o.engine.chunk);
    a.add("--max_seq_len", o.prompt + o.answer);
    a.add("--kv_cache_free_gpu_memory_fraction", o.memory_share);
    a.add_if(o.expert > 1, "--ep_size", o.expert);
    return a.take("trtllm");
}

} // namespace

std::string server_yaml(const ServingPoint& p, const ServingOptions& o) {
    return kServerNames +
           fmt::format("server:\n"
                       "  tensor: {}\n  data: {}\n  expert: {}\n  devices: {}\n  requests: {}\n"
                       "  prompt: {}\n  answer: {}\n  chunk: {}\n  engine: {}\n",
                       p.tensor, p.data, o.expert, p.devices, p.batch, o.prompt, o.answer,
                       o.engine.chunk, o.engine.id) +
           vllm(p, o) + sglang(p, o) + trtllm(p, o);
}

} // namespace eyeroof::analysis
