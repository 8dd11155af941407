// Plans as options of training and serving frameworks.
#include "analysis/scale/plan.hpp"
#include "analysis/scale/serving.hpp"
#include "analysis/scale/transformer_step.hpp"
#include "base/json.hpp"
#include "base/shell.hpp"

#include <fmt/format.h>

namespace eyeroof::analysis {

namespace {

// "  --name value" lines of a folded YAML scalar, behind comments on what they do not say.
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
    void note_if(bool given, const std::string& text) { notes_ += given ? "# " + text + "\n" : ""; }
    const std::string& comments() const { return notes_; }
    std::string take(const char* key) const { return notes_ + key + ": >-\n" + text_; }

  private:
    std::string text_, notes_;
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

// Comments on what a framework's options do not say.
std::string unsaid_type(const char* what, model::DataType type) {
    return fmt::format("Not in the arguments: {} in {}.", what, model::data_type_name(type));
}
std::string unsaid_adapters(const TransformerOptions& o) {
    return fmt::format("Not in the arguments: LoRA of rank {}{}.", o.adapters.rank,
                       o.adapters.feed_forward ? "" : ", of attention alone");
}

void add_model(Arguments& a, const Transformer& t) {
    const bool mixed = t.experts > 1;
    a.add("--num-layers", t.layers);
    a.add("--hidden-size", t.hidden);
    a.add("--ffn-hidden-size", t.dense_layers > 0 ? t.dense_inner : t.inner);
    a.add("--num-attention-heads", t.heads);
    a.add("--vocab-size", t.vocabulary);
    if (t.latent.rank > 0) {
        a.add("--multi-latent-attention");
        a.add_if(t.latent.query_rank > 0, "--q-lora-rank", t.latent.query_rank);
        a.add("--kv-lora-rank", t.latent.rank);
        a.add("--qk-head-dim", t.head_size - t.latent.rotary);
        a.add("--qk-pos-emb-head-dim", t.latent.rotary);
        a.add("--v-head-dim", t.latent.value);
    } else {
        a.add("--kv-channels", t.head_size);
        if (t.kv_heads != t.heads) {
            a.add("--group-query-attention");
            a.add("--num-query-groups", t.kv_heads);
        }
    }
    a.add_if(mixed, "--num-experts", t.experts);
    a.add_if(mixed, "--moe-router-topk", t.active);
    a.add_if(mixed, "--moe-ffn-hidden-size", t.inner);
    a.add_if(mixed && t.shared > 0, "--moe-shared-expert-intermediate-size", t.shared * t.inner);
    a.add_if(mixed && t.dense_layers > 0, "--moe-layer-freq",
             fmt::format("'([0]*{}+[1]*{})'", t.dense_layers, t.layers - t.dense_layers));
    if (t.gated) {
        a.add("--swiglu");
    }
    if (!t.tied) {
        a.add("--untie-embeddings-and-output-weights");
    }
    if (!t.biases) {
        a.add("--disable-bias-linear");
    }
    a.note_if(t.window.layers > 0 || t.states.layers > 0 || t.gated_attention,
              "Not in the arguments: layers with a window or a state, and gated attention.");
}

// Layers of the first and the last stage, where they differ from the stages between. Megatron-LM
// gives all stages between as many, and every stage's virtual stages as many.
void add_stages(Arguments& a, const Plan& plan, const Transformer& t) {
    const StageBlocks stages = stage_blocks(t, plan.pipeline, plan.balanced);
    const auto first = [&](Count between) {
        return t.layers - stages.last - (plan.pipeline - 2) * between;
    };
    Count between = stages.most;
    while (between > 1 && first(between) < 1) {
        --between;
    }
    const bool divides = stages.last > 0 && first(between) > 0 && first(between) <= stages.most &&
                         (first(between) % plan.interleave + between % plan.interleave +
                          stages.last % plan.interleave) == 0;
    a.add_if(first(between) != between && first(between) > 0, "--decoder-first-pipeline-num-layers",
             first(between));
    a.add_if(stages.last != between, "--decoder-last-pipeline-num-layers", stages.last);
    a.note_if(!divides, fmt::format("Megatron-LM refuses this division of {} layers into {} stages"
                                    " of {} virtual ones.",
                                    t.layers, plan.pipeline, plan.interleave));
}

void add_types(Arguments& a, const TransformerOptions& o) {
    using model::DataType;
    const bool fp8 = o.type == DataType::fp8 || o.type == DataType::mxfp8;
    const bool fp4 = o.type == DataType::nvfp4;
    a.add(o.type == DataType::fp16 ? "--fp16" : "--bf16");
    a.add_if(fp8, "--fp8-format", "hybrid");
    a.add_if(o.type == DataType::mxfp8, "--fp8-recipe", "mxfp8");
    a.add_if(fp4, "--fp4-format", "e2m1");
    a.add_if(fp4, "--fp4-recipe", "nvfp4");
    a.note_if(model::storage_bits(o.type) < 16 && !fp8 && !fp4, unsaid_type("GEMMs", o.type));
}

std::string megatron(const Plan& plan, const Transformer& t, const TransformerOptions& o) {
    Arguments a;
    add_model(a, t);
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
    if (plan.pipeline > 1) {
        add_stages(a, plan, t);
    }
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
    add_types(a, o);
    a.note_if(o.adapters.rank > 0, unsaid_adapters(o));
    a.note_if(plan.offload == OptimizerPlace::nvme, "Not in the arguments: the optimizer on NVMe.");
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
    Arguments notes;
    notes.note_if(model::storage_bits(o.type) < 16, unsaid_type("GEMMs", o.type));
    notes.note_if(o.adapters.rank > 0, unsaid_adapters(o));
    notes.note_if(plan.expert > 1 || plan.interleave > 1 || plan.recompute == Recompute::selective,
                  "Not in the arguments: degree of expert parallelism, virtual stages, selective "
                  "recomputation.");
    std::string text = kDeepSpeedNames;
    text += notes.comments();
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

// Types that an engine has options for: those of the weights (`int8` what it calls theirs) and of
// the cache.
void add_types(Arguments& a, const ServingOptions& o, const char* int8, const char* fp8_cache) {
    using model::DataType;
    const DataType weights = o.weights();
    const bool named = *int8 != 0 && (weights == DataType::fp8 || weights == DataType::int8);
    const bool cached = *fp8_cache != 0 && o.cache() == DataType::fp8;
    a.add_if(named, "--quantization", weights == DataType::int8 ? int8 : "fp8");
    a.note_if(!named && model::storage_bits(weights) < 16, unsaid_type("weights", weights));
    a.add_if(cached, "--kv-cache-dtype", fp8_cache);
    a.note_if(!cached && model::storage_bits(o.cache()) < 16, unsaid_type("KV cache", o.cache()));
}

void note_unsaid(Arguments& a, const ServingPoint& p, const ServingOptions& o, bool drafts) {
    const ServerLayout prompts = o.prefill_layout(p.tensor);
    a.note_if(
        o.decode_groups > 0,
        fmt::format("Of one of {} servers that decode. Not in the arguments: {} servers of {} "
                    "devices that compute prompts.",
                    o.decode_groups, o.prefill_groups, prompts.devices()));
    a.note_if(!drafts && o.speculation.tokens > 0,
              fmt::format("Not in the arguments: {} drafted tokens.", o.speculation.tokens));
}

std::string vllm(const ServingPoint& p, const ServingOptions& o) {
    Arguments a;
    a.add("--tensor-parallel-size", p.tensor);
    a.add_if(p.data > 1, "--data-parallel-size", p.data);
    a.add("--max-num-seqs", (p.batch + p.data - 1) / p.data);
    a.add("--max-num-batched-tokens", o.engine.chunk);
    a.add("--max-model-len", o.prompt + o.answer);
    a.add("--gpu-memory-utilization", o.memory_share);
    add_types(a, o, "compressed-tensors", "fp8");
    if (o.expert > 1) {
        a.add("--enable-expert-parallel");
        a.note_if(o.expert != p.tensor * p.data,
                  fmt::format("vLLM spreads experts over all {} devices, not {}.",
                              p.tensor * p.data, o.expert));
    }
    const Speculation& drafts = o.speculation;
    const std::string by = !drafts.draft        ? "\"method\": \"ngram\""
                           : drafts.shares_ends ? "\"method\": \"mtp\""
                                                : "\"model\": " + json_quoted(drafts.draft->name);
    a.add_if(
        drafts.tokens > 0, "--speculative-config",
        shell_quoted(fmt::format("{{{}, \"num_speculative_tokens\": {}}}", by, drafts.tokens)));
    note_unsaid(a, p, o, true);
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
    add_types(a, o, "w8a8_int8", "fp8_e4m3");
    a.add_if(o.expert > 1, "--ep-size", o.expert);
    note_unsaid(a, p, o, false);
    return a.take("sglang");
}

std::string trtllm(const ServingPoint& p, const ServingOptions& o) {
    Arguments a;
    a.add("--tp_size", p.tensor * p.data);
    a.add("--max_batch_size", p.batch);
    a.add("--max_num_tokens", o.engine.chunk);
    a.add("--max_seq_len", o.prompt + o.answer);
    a.add("--kv_cache_free_gpu_memory_fraction", o.memory_share);
    add_types(a, o, "", "");
    a.add_if(o.expert > 1, "--ep_size", o.expert);
    a.note_if(p.data > 1, "Not in the arguments: enable_attention_dp of the extra options' file.");
    note_unsaid(a, p, o, false);
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
