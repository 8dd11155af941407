// Decoders on many devices: kernels examined once a cut, points, and what cannot be.
#include "analysis/program/own_memory.hpp"
#include "analysis/scale/message.hpp"
#include "analysis/scale/split.hpp"
#include "analysis/scale/training_kernels.hpp"
#include "analysis/scale/transformer_step.hpp"
#include "base/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace eyeroof::analysis {

using model::Fabric;

namespace {

constexpr std::array<std::string_view, 3> kKernelNames = {"newest", "flash2", "triton"};

// FlashAttention 2 against 3 on H100: 1.5 to 2.0 times as long forward, 1.5 to 1.75 backward.
// Source: Shah et al., FlashAttention-3, arXiv:2407.08608, abstract and section 4.
constexpr AttentionSlowdown kFlash2 = {1.75, 1.62};
// FlashAttention 1 in Triton against FlashAttention 2 on A100: 1.3 to 1.5 times as long forward,
// about 2 backward. Source: Dao, FlashAttention-2, arXiv:2307.08691, section 4.1 (from memory).
constexpr AttentionSlowdown kTriton = {1.4, 2.0};
// Each the middle of its range; no row of a training run has chosen one.

// Of products in 8 bits and fewer where none is named: norms and activations write them, as
// Transformer Engine's do, with scales of the steps before or of each block (MXFP8, NVFP4).
// Scales of the step itself ("current") take one pass more, which is not in it.
constexpr const char* kNarrowLibrary = "static";

bool since_hopper(const model::Gpu& gpu) {
    return std::strtod(gpu.compute_capability.c_str(), nullptr) >= 9.0;
}

} // namespace

std::string_view attention_kernel_name(AttentionKernel kernel) {
    return kKernelNames[static_cast<std::size_t>(kernel)];
}

std::optional<AttentionKernel> attention_kernel_from_name(std::string_view name) {
    const auto found = std::ranges::find(kKernelNames, name);
    return found == kKernelNames.end()
               ? std::nullopt
               : std::optional(static_cast<AttentionKernel>(found - kKernelNames.begin()));
}

std::vector<std::string> attention_kernel_names() {
    return {kKernelNames.begin(), kKernelNames.end()};
}

AttentionSlowdown slowdown_of(AttentionKernel kernel, bool hopper) {
    AttentionSlowdown all;
    if (hopper && kernel != AttentionKernel::newest) {
        all = kFlash2;
    }
    if (kernel == AttentionKernel::triton) {
        all.forward *= kTriton.forward;
        all.backward *= kTriton.backward;
    }
    return all;
}

const ErrorBand& step_band(const Transformer& t, model::DataType type) {
    static constexpr ErrorBand kStepBand = {0.92, 1.15};
    static constexpr ErrorBand kNarrowStepBand = {0.93, 1.11};
    // Of nine rows, all of one framework: wide enough for the releases that are left out.
    static constexpr ErrorBand kExpertsStepBand = {0.87, 1.29};
    return t.experts > 1                    ? kExpertsStepBand
           : model::storage_bits(type) <= 8 ? kNarrowStepBand
                                            : kStepBand;
}

BlockExams::BlockExams(const Transformer& t, const model::Machine& machine,
                       const TransformerOptions& o)
    : t_(t), machine_(machine), options_(o) {
    options_.exam.training = TrainingOptions{"adam"};
    options_.exam.data_type.reset();
    options_.exam.batch.reset();
    options_.exam.attention = o.fused ? AttentionForm::fused : AttentionForm::written;
    if (options_.exam.library.empty() && model::storage_bits(o.type) <= 8) {
        options_.exam.library = kNarrowLibrary;
    }
    capacity_ = static_cast<double>(step::own_capacity(machine_));
    if (const auto* gpu = std::get_if<model::Gpu>(&machine_.kind)) {
        peak_ = gpu->rate(o.type).flops_per_s;
        options_.pcie_bytes_per_s = gpu->pcie_bytes_per_s;
        if (o.fused) {
            attention_ = slowdown_of(o.attention, since_hopper(*gpu));
        }
    }
}

namespace {

struct Passes {
    double forward_s = 0.0, backward_s = 0.0;
    double peak_flops_per_s = 0.0;
};

// The gradient of a weight that adapters stand in for.
bool of_frozen_weight(const model::Layer& layer) {
    const bool weights = layer.op == model::Op::gemm || layer.op == model::Op::embedding ||
                         layer.name.starts_with("experts_");
    return weights && layer.direction == model::Direction::bwd_weight &&
           !layer.name.starts_with("adapter");
}

Result<Passes> passes_of(const model::Network& network, const model::Machine& machine,
                         const Scenario& exam, const TrainingKernels& kernels,
                         AttentionSlowdown attention, bool frozen, std::stop_token stop) {
    const auto report = run(network, machine, exam, stop);
    Scenario unsettled = exam;
    unsettled.settled_clocks = false;
    const auto alone =
        kernels.measured != nullptr ? run(network, machine, unsettled, stop) : report;
    if (!report || !alone) {
        return report ? alone.diagnostics() : report.diagnostics();
    }
    Passes passes;
    passes.peak_flops_per_s = 2.0 * report->machine.peak_macs_per_s;
    for (std::size_t i = 0; i < report->layers.size(); ++i) {
        const LayerReport& layer = report->layers[i];
        if (frozen && of_frozen_weight(layer.layer)) {
            continue;
        }
        const bool core = layer.layer.op == model::Op::attention;
        const bool forward = layer.kind == model::Issued::forward;
        const double longer = !core ? 1.0 : forward ? attention.forward : attention.backward;
        const double all = longer * kernels.time_s(layer, alone->layers[i]) *
                           static_cast<double>(layer.layer.count);
        switch (layer.kind) {
        case model::Issued::forward:
            passes.forward_s += all;
            break;
        case model::Issued::gradient:
            passes.backward_s += all;
            break;
        case model::Issued::update:
            break; // of all weights together: update_s()
        }
    }
    return passes;
}

// Read to sum a block's gradients over words, for its biases: every product's output once, by a
// kernel of its own.
double bias_gradient_bytes(const Transformer& t, const BlockCut& cut) {
    if (!t.biases) {
        return 0.0;
    }
    const Count words = cut.microbatch * part(cut.length, cut.context);
    const Count divided = part(t.heads + 2 * t.kv_heads, cut.tensor) * t.head_size +
                          (t.gated ? 2 : 1) * part(t.inner, cut.tensor);
    const Count whole = 2 * t.hidden / (cut.sequence ? cut.tensor : 1);
    return 2.0 * static_cast<double>(words * (divided + whole));
}

// Of a decoder's kinds of blocks, each by how many there are.
template <class Of>
Result<Passes> mean_passes(const Transformer& t, const BlockCut& cut, const Of& passes_of_cut) {
    Passes mean;
    for (const MixerShare& share : mixers_of(t)) {
        BlockCut one = cut;
        one.mixer = share.mixer;
        const auto passes = passes_of_cut(one);
        if (!passes) {
            return passes.diagnostics();
        }
        const double part = static_cast<double>(share.layers) / static_cast<double>(t.layers);
        mean.forward_s += part * passes->forward_s;
        mean.backward_s += part * passes->backward_s;
        mean.peak_flops_per_s = std::max(mean.peak_flops_per_s, passes->peak_flops_per_s);
    }
    return mean;
}

// A first block has something below it: the gradient of its input is wanted too.
model::Network after_another(model::Network network) {
    for (model::Layer& layer : network.layers) {
        layer.count = 2;
    }
    return network;
}

} // namespace

TrainingKernels BlockExams::kernels() const {
    const bool own = options_.exam.library == kNarrowLibrary && !options_.kernels.families.empty();
    return {std::get_if<model::Gpu>(&machine_.kind), own ? &options_.kernels : nullptr,
            options_.exam.compiled, byte_s_};
}

Result<BlockTimes> BlockExams::examine(const Plan& plan, std::stop_token stop) {
    const BlockCut cut = cut_of(plan, options_);
    const auto update = update_s(1.0, stop);
    if (!update) {
        return update.diagnostics();
    }
    const TrainingKernels own = kernels();
    const auto passes = [&](const model::Network& network) {
        return passes_of(network, machine_, options_.exam, own, attention_,
                         options_.adapters.rank > 0, stop);
    };
    auto block = mean_passes(t_, cut, [&](const BlockCut& one) {
        return passes(after_another(block_network(t_, one)));
    });
    const auto core =
        mean_passes(t_, cut, [&](const BlockCut& one) { return passes(core_network(t_, one)); });
    const auto ends = passes(after_another(ends_network(t_, cut)));
    if (block && t_.dense_layers > 0) { // the mean block of both kinds
        Transformer dense = t_;
        dense.experts = dense.active = 1;
        dense.shared = dense.dense_layers = 0;
        dense.inner = t_.dense_inner;
        const auto both = [&](const Transformer& one) {
            return passes(after_another(block_network(one, cut)));
        };
        const auto other = both(dense);
        const auto sparse = both(t_);
        if (!other || !sparse) {
            Diagnostics failed = other.diagnostics();
            failed.append(sparse.diagnostics());
            return failed;
        }
        const double share = static_cast<double>(t_.dense_layers) / static_cast<double>(t_.layers);
        block->forward_s += share * (other->forward_s - sparse->forward_s);
        block->backward_s += share * (other->backward_s - sparse->backward_s);
    }
    Diagnostics all = block.diagnostics();
    all.append(core.diagnostics());
    all.append(ends.diagnostics());
    if (all.has_errors()) {
        return all;
    }
    // Of two blocks the first lacks a product: what both lack together is half of it a block.
    if (std::holds_alternative<model::Accelerator>(machine_.kind)) {
        peak_ = block->peak_flops_per_s;
    }
    const double biases =
        options_.fused_bias_gradient ? 0.0 : bias_gradient_bytes(t_, cut) * byte_s_;
    return BlockTimes{block->forward_s / 2.0, block->backward_s / 2.0 + biases, core->forward_s,
                      (ends->forward_s + ends->backward_s) / 2.0, byte_s_};
}

Result<BlockTimes> BlockExams::times(const Plan& plan, std::stop_token stop) {
    const Key key{plan.tensor,        plan.context,    plan.expert,
                  plan.expert_part(), plan.microbatch, plan.sequence};
    if (const auto found = known_.find(key); found != known_.end()) {
        return found->second;
    }
    auto times = examine(plan, std::move(stop));
    if (times) {
        known_[key] = *times;
    }
    return times;
}

Result<double> BlockExams::update_s(double values, std::stop_token stop) {
    constexpr double sample = 1e8; // memory-bound: time goes with the values
    if (byte_s_ <= 0.0) {
        model::Network network;
        model::Layer layer;
        layer.name = "update";
        layer.op = model::Op::elementwise;
        layer.shape = model::ElementwiseShape{1, static_cast<Count>(sample), "adam"};
        layer.types = {model::DataType::fp32, model::DataType::fp32, model::DataType::fp32};
        network.layers = {layer};
        Scenario exam = options_.exam;
        exam.training.reset();
        exam.settled_clocks = true;
        const auto report = run(network, machine_, exam, std::move(stop));
        if (!report) {
            return report.diagnostics();
        }
        byte_s_ = report->layers.front().time_s / sample / 28.0;
    }
    return values * 42.0 * byte_s_;
}

namespace {

double baseline_step_s(const Plan& plan, const TransformerOptions& o, double baseline_s) {
    return baseline_s * static_cast<double>(o.batch) / static_cast<double>(plan.devices());
}

} // namespace

Result<double> transformer_baseline(BlockExams& exams, Count microbatch, std::stop_token stop) {
    Plan alone;
    alone.microbatch = microbatch;
    const auto times = exams.times(alone, stop);
    const auto update = exams.update_s(parameters(exams.transformer()), stop);
    if (!times || !update) {
        Diagnostics all = times.diagnostics();
        all.append(update.diagnostics());
        return all;
    }
    const double sequence =
        (static_cast<double>(exams.transformer().layers) * (times->forward_s + times->backward_s) +
         times->ends_s) /
        static_cast<double>(microbatch);
    return sequence;
}

namespace {

std::vector<ScaleStep> transformer_chain(const Plan& plan, const TransformerOptions& o,
                                         const TransformerStep& real, const TransformerStep& near,
                                         const TransformerStep& calm, double baseline_s) {
    const double samples = static_cast<double>(o.batch);
    const double one = baseline_step_s(plan, o, baseline_s);
    const double idle = real.idle_s / real.time_s;
    // The bubble stretches what is in it, computing or sending: its bound is of the computing
    // alone.
    const double stretched = one * (1.0 + near.idle_s / (near.time_s - near.idle_s));
    std::vector<ScaleStep> steps;
    const auto add = [&](int number, const char* name, double seconds, std::string reason) {
        steps.push_back({number, name, samples / seconds, 0.0, std::move(reason)});
    };
    add(7, "one device", one,
        fmt::format("{}, each as fast as one with microbatch {} that held all",
                    counted(plan.devices(), "device"), plan.microbatch));
    add(8, "devices", std::min(stretched, near.time_s - near.communication_s() - near.recompute_s),
        plan.pipeline > 1
            ? fmt::format("bubble of {} stages, and uneven ones: {:.1f} % of the step",
                          plan.pipeline, 100 * idle)
            : std::string("one stage"));
    const double compute = near.time_s - near.communication_s();
    add(9, "batch per device", compute,
        fmt::format("kernels of {}a block, the update{}",
                    plan.tensor > 1 ? fmt::format("1/{} of ", plan.tensor) : std::string(),
                    near.recompute_s > 0 ? ", and recomputation" : ""));
    add(10, "link", near.time_s,
        "blocks' activations, stages' messages and gradients at the nearest link");
    add(11, "topology", calm.time_s, "actual topology");
    add(12, "messages", real.time_s, "latency and overhead of each message");
    return falling(std::move(steps));
}

} // namespace

Result<ScalePoint> transformer_point(BlockExams& exams, const Plan& plan, const Fabric& fabric,
                                     double baseline_s, std::stop_token stop) {
    const Transformer& t = exams.transformer();
    const TransformerOptions& o = exams.options();
    const auto times = exams.times(plan, stop);
    const auto update = exams.update_s(updated_parameters(t, plan, exams.options()), stop);
    if (!times || !update) {
        Diagnostics all = times.diagnostics();
        all.append(update.diagnostics());
        return all;
    }
    const auto at = [&](const Fabric& f) {
        return transformer_step(t, plan, o, f, *times, *update, exams.capacity());
    };
    const TransformerStep step = at(fabric);
    ScalePoint point;
    point.devices = plan.devices();
    point.strategy = plan.text();
    point.plan = plan;
    point.batch = o.batch;
    point.batch_per_device = static_cast<double>(o.batch) / static_cast<double>(plan.devices());
    point.step_s = step.time_s;
    point.low_s = step.time_s * step_band(t, o.type).low;
    point.high_s = step.time_s * step_band(t, o.type).high;
    point.samples_per_s = static_cast<double>(o.batch) / step.time_s;
    point.mfu = training_flops(t, static_cast<double>(o.batch), static_cast<double>(o.length),
                               o.adapters.rank > 0) /
                (step.time_s * static_cast<double>(plan.devices()) * exams.peak_flops_per_s());
    // A larger microbatch than the baseline's may be quicker.
    const double one = std::min(baseline_step_s(plan, o, baseline_s), step.compute_s);
    point.parts = {one, step.compute_s - one, step.idle_s, step.recompute_s, step.communication_s(),
                   0.0};
    point.memory = step.memory;
    for (std::size_t l = 0; l < fabric.levels.size(); ++l) {
        point.volumes.push_back(
            {fabric.levels[l].name, step.level_bytes[l], step.level_messages[l]});
    }
    point.steps = transformer_chain(plan, o, step, at(nearest_everywhere(fabric)),
                                    at(without_latency(fabric)), baseline_s);
    point.notes.push_back(fmt::format(
        "communication {:.3g} s: tensor {:.3g}, pipeline {:.3g}, data {:.3g}, context {:.3g}, "
        "expert {:.3g}",
        step.communication_s(), step.tensor_s, step.pipeline_s, step.data_s, step.context_s,
        step.expert_s));
    if (t.experts > 1 && plan.expert > 1) {
        point.notes.push_back(
            fmt::format("tokens reach experts by the {} dispatcher, {}; devices in the order {}",
                        dispatcher_name(o.dispatcher),
                        hides_experts(plan, o) ? "beside kernels of another microbatch" : "exposed",
                        order_name(plan.order)));
    }
    if (o.exam.library == kNarrowLibrary) {
        point.notes.emplace_back(
            "8-bit and 4-bit inputs of GEMMs are written by the kernels before "
            "them, as with Transformer Engine; --library names others");
    }
    if (!step.memory.fits()) {
        point.notes.push_back(fmt::format(
            "does not fit: {:.1f} of {:.1f} GB per device; --search finds the nearest that does",
            step.memory.total() / 1e9, step.memory.capacity / 1e9));
    }
    return point;
}

Result<ScaleResult> scale_transformer(const Transformer& t, const model::Machine& machine,
                                      const Fabric& fabric, const std::vector<Count>& devices,
                                      const Plan& wanted, const TransformerOptions& options,
                                      std::stop_token stop, const ProgressCallback& progress) {
    BlockExams exams(t, machine, options);
    const auto baseline = transformer_baseline(exams, wanted.microbatch, stop);
    if (!baseline) {
        return baseline.diagnostics();
    }
    ScaleResult result;
    result.network = t.name;
    result.gpu = machine.name;
    result.fabric = fabric.name;
    result.unit = "sequences";
    result.baseline_samples_per_s = 1.0 / *baseline;
    result.baseline_batch = static_cast<double>(wanted.microbatch);
    result.baseline =
        fmt::format("one device with unlimited memory, microbatch {}", wanted.microbatch);
    for (const Count count : devices) {
        Plan plan = wanted;
        const Count inner = plan.tensor * plan.pipeline * plan.context;
        plan.data = count / inner;
        Diagnostics found = check_plan(t, plan, exams.options(), fabric);
        if (count % inner != 0) {
            found.error("bad-degree",
                        fmt::format("{} devices do not divide by tensor x pipeline x context = {}",
                                    count, inner),
                        fmt::format("the nearest that does: --devices {}",
                                    std::max<Count>((count + inner / 2) / inner, 1) * inner));
        }
        if (found.has_errors()) {
            return found;
        }
        if (progress) {
            progress({0.0, fmt::format("{} devices", count), 0.0, -1.0});
        }
        auto point = transformer_point(exams, plan, fabric, *baseline, stop);
        if (!point) {
            return point.diagnostics();
        }
        add_board(machine, *point);
        result.points.push_back(*std::move(point));
    }
    conclude(result);
    return result;
}

} // namespace eyeroof::analysis
