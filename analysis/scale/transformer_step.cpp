#include "analysis/scale/transformer_step.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

using model::Fabric;

namespace {

double number(Count c) {
    return static_cast<double>(c);
}

double microbatches(const Plan& plan, const TransformerOptions& o) {
    return std::ceil(number(o.batch) / number(plan.data * plan.microbatch));
}

DeviceValues block_values(const Transformer& t, const Plan& plan) {
    const double block = block_parameters(t);
    Transformer without = t;
    without.inner = 0;
    const double experts = t.experts > 1 ? (block - block_parameters(without)) * number(t.experts) /
                                               number(t.experts + t.shared)
                                         : 0.0;
    return {(block - experts) / number(plan.tensor),
            experts / number(plan.expert * plan.expert_part())};
}

// Of so many values, those that a device keeps where devices that hold the same divide them.
double divided(const DeviceValues& values, const Plan& plan) {
    return values.shared / number(plan.replicas()) +
           values.experts / number(plan.expert_replicas());
}

double blocks_of(const Transformer& t, const Plan& plan) {
    return number(stage_blocks(t, plan.pipeline, plan.balanced).most);
}

// Sums up what collectives take, and what they send.
class Traffic {
  public:
    Traffic(const Fabric& fabric, const Plan& plan, const TransformerOptions& o,
            TransformerStep& step)
        : fabric_(fabric), plan_(plan), options_(o), step_(step) {
        step.level_bytes.assign(fabric.levels.size(), 0.0);
        step.level_messages.assign(fabric.levels.size(), 0.0);
    }
    Group group(Count size, Count stride) const {
        return place_group(fabric_, size, stride, plan_.devices());
    }
    // `times` of them on this device; all groups of the step do the same at once.
    double collective(const Group& g, Collective kind, double bytes, double times) {
        if (g.size <= 1 || bytes <= 0.0) {
            return 0.0;
        }
        const CollectiveTime one = collective_time(fabric_, g, kind, bytes, options_.collective);
        add(one, times * number(plan_.devices()) / number(g.size));
        return times * one.time_s();
    }
    // Tokens of so many bytes to experts of which each goes to `copies`, or back.
    double dispatch(double bytes, double copies, double times) {
        const Group g = group(plan_.expert, plan_.expert_stride());
        if (options_.dispatcher == Dispatcher::alltoall) {
            return collective(g, Collective::all_to_all, bytes * copies, times);
        }
        if (g.size <= 1) {
            return 0.0;
        }
        const CollectiveTime one = dispatch_time(fabric_, g, bytes, copies);
        add(one, times * number(plan_.devices()) / number(g.size));
        return times * one.time_s();
    }
    // Over all devices that hold the same experts, and over those that hold the same of all else.
    double over_replicas(Collective kind, double shared, double experts, double times) {
        const Group same = group(plan_.expert_replicas(), plan_.expert_stride() * plan_.expert);
        return over_replicas(kind, shared, times) + collective(same, kind, experts, times);
    }
    // Over all devices that hold the same weights, which differ in context and data: the nearer
    // context group scatters the whole array, the data group works on what is left of it.
    double over_replicas(Collective kind, double bytes, double times) {
        const Group contexts = group(plan_.context, plan_.context_stride());
        const Group data = group(plan_.data, plan_.data_stride());
        double seconds = collective(data, kind, bytes / number(plan_.context), times);
        if (kind != Collective::all_gather) {
            seconds += collective(contexts, Collective::reduce_scatter, bytes, times);
        }
        if (kind != Collective::reduce_scatter) {
            seconds += collective(contexts, Collective::all_gather, bytes, times);
        }
        return seconds;
    }
    double send(const Group& g, double bytes, double times) {
        if (g.size <= 1) {
            return 0.0;
        }
        const CollectiveTime one = send_time(fabric_, g, bytes);
        add(one, times * number(plan_.devices()));
        return times * one.time_s();
    }

  private:
    void add(const CollectiveTime& one, double times) {
        for (std::size_t l = 0; l < one.level_bytes.size(); ++l) {
            step_.level_bytes[l] += one.level_bytes[l] * times;
            step_.level_messages[l] += one.level_messages[l] * times;
        }
    }
    const Fabric& fabric_;
    const Plan& plan_;
    const TransformerOptions& options_;
    TransformerStep& step_;
};

struct Parallel { // all that concerns one block of one microbatch
    double tensor_s = 0.0, context_s = 0.0, expert_s = 0.0;
    double again_s = 0.0; // inputs gathered again for the gradients of weights, beside products
    double all() const { return tensor_s + context_s + expert_s; }
};

// Of one block: to the experts and back, both passes. Devices that divide an expert gather the
// tokens that each of them got with sequence parallel, and scatter the sums.
double expert_traffic(const Transformer& t, const Plan& plan, double activation, Traffic& traffic,
                      double blocks_run) {
    const auto copies = static_cast<double>(t.active);
    const double sparse = 1.0 - number(t.dense_layers) / number(t.layers);
    const double times = 4.0 * sparse * blocks_run;
    const double own = activation / (plan.sequence ? number(plan.tensor) : 1.0);
    double seconds = traffic.dispatch(own, copies, times);
    if (plan.sequence && plan.expert_part() > 1) {
        const Group group = traffic.group(plan.expert_part(), 1);
        const double bytes = own * copies * number(plan.expert_part());
        seconds += traffic.collective(group, Collective::all_gather, bytes, times / 2.0) +
                   traffic.collective(group, Collective::reduce_scatter, bytes, times / 2.0);
    }
    return seconds / blocks_run;
}

Parallel block_traffic(const Transformer& t, const Plan& plan, const TransformerOptions& o,
                       Traffic& traffic, double blocks_run) {
    Parallel block;
    const double words = number(plan.microbatch) * number(o.length) / number(plan.context);
    const double activation = 2.0 * words * number(t.hidden);
    const double passes = plan.recompute == Recompute::full ? 6.0 : 4.0;
    const Group tensor = traffic.group(plan.tensor, 1);
    if (plan.sequence) {
        block.tensor_s =
            (traffic.collective(tensor, Collective::all_gather, activation, passes * blocks_run) +
             traffic.collective(tensor, Collective::reduce_scatter, activation,
                                passes * blocks_run)) /
            blocks_run;
        block.again_s =
            traffic.collective(tensor, Collective::all_gather, activation, 2.0 * blocks_run) /
            blocks_run;
    } else {
        block.tensor_s =
            traffic.collective(tensor, Collective::all_reduce, activation, passes * blocks_run) /
            blocks_run;
    }
    const Group context = traffic.group(plan.context, plan.context_stride());
    const double keys = 2.0 * 2.0 * number(plan.microbatch) * number(o.length) *
                        number(t.kv_heads * t.head_size) / number(plan.tensor);
    block.context_s =
        traffic.collective(context, Collective::all_gather, keys, 3.0 * blocks_run) / blocks_run;
    if (t.experts > 1) {
        block.expert_s = expert_traffic(t, plan, activation, traffic, blocks_run);
    }
    return block;
}

// What a collective takes of a step where kernels hide at most `window_s` of it: what sticks out,
// and the share of the device that it holds meanwhile.
double beside_kernels(const Fabric& fabric, double time_s, double window_s) {
    const double taken = fabric.levels.front().occupies;
    const double hidden = std::min(time_s, window_s);
    return time_s - hidden + hidden * taken / (1.0 - taken);
}

// What all-to-alls of a block take of a step beside another microbatch's kernels: two beside its
// forward pass, two beside its backward pass, each beside half of it. The first microbatch's
// forward and the last one's backward pass have no partner.
double hidden_experts(const Fabric& fabric, double time_s, const BlockTimes& times, double m) {
    const double one = time_s / 4.0;
    const double hidden = 2.0 * beside_kernels(fabric, one, times.forward_s / 2.0) +
                          2.0 * beside_kernels(fabric, one, times.backward_s / 2.0);
    return time_s / m + hidden * (m - 1.0) / m;
}

// What a microbatch's messages between stages take beside the kernels of another chunk, each pass
// of a chunk beside one message: the default of Megatron-LM where stages interleave
// (--no-overlap-p2p-communication, megatron/training/arguments.py).
double hidden_sends(const Fabric& fabric, const Plan& plan, double time_s, double blocks,
                    const BlockTimes& times) {
    const double v = number(plan.interleave);
    const double one = time_s / (2.0 * v);
    return v * (beside_kernels(fabric, one, blocks / v * times.forward_s) +
                beside_kernels(fabric, one, blocks / v * times.backward_s));
}

// While gradients are summed, and weights gathered, kernels of this stage run: the backward pass
// of the last microbatch, the forward pass of the first. Interleaved stages take the microbatches
// in groups of p, chunk by chunk: a chunk's gradients leave while the others of the group go on,
//   window = pass max(1, p (v - 1) / v)
double window_of(const Plan& plan, double pass_s) {
    const double v = number(plan.interleave);
    return pass_s * std::max(1.0, number(plan.pipeline) * (v - 1.0) / v);
}

// Moved a value, beside what the gradient's product writes, to add a microbatch's gradients to
// those before: by products that read and write 4 bytes instead of writing 2, or by a kernel of its
// own. Nothing hides it: tiles read their sums when their products are done, all SMs at about one
// time.
double accumulated_bytes(const TransformerOptions& o) {
    return !o.fused_accumulation ? 10.0 : gradient_bytes_of(o) > 2.0 ? 6.0 : 0.0;
}

// Moved a value of all that a device has gradients of, whatever part of them it updates: before
// they are summed they are divided by the number of devices, and where they are kept whole the part
// that others update is cleared too. Kernels of the step's own stream, which nothing hides.
// Sources: NVIDIA/Megatron-LM, model/distributed.py of 2021 and core/distributed of 2024;
// pytorch/pytorch, distributed/fsdp/_runtime_utils.py.
// `m` microbatches: with ZeRO 3 each one's gradients are summed.
double averaged_bytes(const Transformer& t, const Plan& plan, const TransformerOptions& o,
                      double m) {
    const DeviceValues trained = trained_values(t, plan, o);
    const double kept = divided(trained, plan) / trained.all();
    const double cleared = plan.zero == 1 ? gradient_bytes_of(o) * (1.0 - kept) : 0.0;
    const double sums = plan.zero >= 3 ? m : 1.0;
    return plan.replicas() > 1 ? 2.0 * gradient_bytes_of(o) * sums + cleared : 0.0;
}

// Of gradients and weights, over devices that hold the same part.
double data_traffic(const Transformer& t, const Plan& plan, const TransformerOptions& o,
                    const Fabric& fabric, Traffic& traffic, const BlockTimes& times) {
    const DeviceValues values = trained_values(t, plan, o);
    const auto over = [&](Collective kind, double bytes) {
        return traffic.over_replicas(kind, bytes * values.shared, bytes * values.experts, 1.0);
    };
    double summed = 0.0;
    double gathered = 0.0;
    if (plan.zero == 0) {
        summed = over(Collective::all_reduce, gradient_bytes_of(o));
    } else {
        summed = over(Collective::reduce_scatter, gradient_bytes_of(o));
        gathered = plan.zero < 3 ? over(Collective::all_gather, 2.0)
                                 : 0.0; // gathered for every pass: gathered_weights()
    }
    double ends = 0.0;
    if (t.tied && plan.pipeline > 1 && o.adapters.rank == 0) { // the embedding's two copies
        const Group both = traffic.group(2, plan.pipeline_stride() * (plan.pipeline - 1));
        ends = traffic.collective(
            both, Collective::all_reduce,
            number(t.vocabulary * t.hidden) / number(plan.tensor) * gradient_bytes_of(o), 1.0);
    }
    if (!o.overlap) {
        return summed + gathered + ends;
    }
    const double even = number(t.layers) / number(plan.pipeline);
    return beside_kernels(fabric, summed, window_of(plan, even * times.backward_s)) +
           beside_kernels(fabric, gathered, window_of(plan, even * times.forward_s)) + ends;
}

// Weights gathered for every pass of every microbatch, hidden behind the blocks before.
double gathered_weights(const Transformer& t, const Plan& plan, const TransformerOptions& o,
                        const Fabric& fabric, Traffic& traffic, const BlockTimes& times,
                        double blocks, double m) {
    if (plan.zero < 3) {
        return 0.0;
    }
    const DeviceValues values = block_values(t, plan);
    const DeviceValues trained = trained_values(t, plan, o);
    const auto gradients = [&](double adapters, double all) { // of a block
        return gradient_bytes_of(o) * (o.adapters.rank > 0 ? adapters / blocks_of(t, plan) : all);
    };
    const double gather = traffic.over_replicas(Collective::all_gather, 2.0 * values.shared,
                                                2.0 * values.experts, 2.0 * m * blocks) /
                          (2.0 * m * blocks);
    const double scatter = traffic.over_replicas(
        Collective::reduce_scatter, gradients(trained.shared, values.shared),
        gradients(trained.experts, values.experts), std::max(m - 1.0, 0.0) * blocks);
    const double forward = beside_kernels(fabric, gather, times.forward_s);
    const double backward = beside_kernels(fabric, gather, times.backward_s);
    const double left = (m - 1.0) * blocks * std::max(times.backward_s - gather, 0.0);
    return m * blocks * (forward + backward) + beside_kernels(fabric, scatter, left);
}

} // namespace

BlockCut cut_of(const Plan& plan, const TransformerOptions& o) {
    return {plan.tensor,      plan.context,    plan.expert,        plan.sequence,
            o.fused,          plan.microbatch, o.length,           o.type,
            o.attention_type, Mixer::full,     plan.expert_part(), o.adapters};
}

DeviceValues device_values(const Transformer& t, const Plan& plan) {
    const double tensor = number(plan.tensor);
    const DeviceValues block = block_values(t, plan);
    const double ends =
        number(t.vocabulary * t.hidden) * (plan.pipeline == 1 && !t.tied ? 2.0 : 1.0) +
        number(t.positions * t.hidden) * tensor;
    return {blocks_of(t, plan) * block.shared + ends / tensor, blocks_of(t, plan) * block.experts};
}

double device_parameters(const Transformer& t, const Plan& plan) {
    return device_values(t, plan).all();
}

double divided_parameters(const Transformer& t, const Plan& plan) {
    return divided(device_values(t, plan), plan);
}

DeviceValues trained_values(const Transformer& t, const Plan& plan, const TransformerOptions& o) {
    if (o.adapters.rank <= 0) {
        return device_values(t, plan);
    }
    BlockCut cut = cut_of(plan, o);
    double values = 0.0;
    for (const MixerShare& share : mixers_of(t)) {
        cut.mixer = share.mixer;
        for (const model::Layer& layer : block_network(t, cut).layers) {
            if (layer.name == kAdapterIn || layer.name == kAdapterOut) {
                const auto& g = std::get<model::GemmShape>(layer.shape);
                values += number(g.n * g.k) * number(share.layers) / number(t.layers);
            }
        }
    }
    return {blocks_of(t, plan) * values, 0.0};
}

double updated_parameters(const Transformer& t, const Plan& plan, const TransformerOptions& o) {
    const DeviceValues trained = trained_values(t, plan, o);
    return plan.zero >= 1 ? divided(trained, plan) : trained.all();
}

DeviceMemory transformer_memory(const Transformer& t, const Plan& plan, const TransformerOptions& o,
                                double capacity) {
    DeviceMemory memory;
    memory.capacity = capacity;
    const double whole = device_parameters(t, plan);
    memory.weights = 2.0 * (plan.zero >= 3 ? divided_parameters(t, plan) : whole);
    const DeviceValues trained = trained_values(t, plan, o);
    memory.gradients =
        gradient_bytes_of(o) * (plan.zero >= 2 ? divided(trained, plan) : trained.all());
    memory.optimizer =
        plan.offload == OptimizerPlace::device ? 12.0 * updated_parameters(t, plan, o) : 0.0;
    const BlockCut cut = cut_of(plan, o);
    const double p = number(plan.pipeline);
    const double flight =
        std::min(p, microbatches(plan, o)) * blocks_of(t, plan) *
        (plan.interleave > 1 ? 1.0 + (p - 1.0) / (p * number(plan.interleave)) : 1.0);
    memory.activations = flight * activation_bytes(t, cut, plan.recompute);
    if (plan.recompute == Recompute::full) { // one block at a time stands whole
        memory.buffers += activation_bytes(t, cut, Recompute::none);
    }
    // Logits in 16 bits and their gradient in 32, on the stage of the head.
    memory.buffers += plan.pipeline == 1
                          ? 6.0 * number(plan.microbatch) * number(o.length) /
                                number(plan.context) * number(t.vocabulary) / number(plan.tensor)
                          : 0.0;
    if (plan.zero >= 3) { // two blocks' weights stand gathered
        memory.buffers += 4.0 * block_values(t, plan).all();
    }
    return memory;
}

double offload_s(const Plan& plan, const TransformerOptions& o, double kept, double backward_s,
                 double devices_per_node) {
    if (plan.offload == OptimizerPlace::device || o.pcie_bytes_per_s <= 0.0) {
        return 0.0;
    }
    const double moved = 2.0 * kept / o.pcie_bytes_per_s;
    const double host = 28.0 * kept * devices_per_node / o.host_bytes_per_s;
    const double drives = plan.offload == OptimizerPlace::nvme
                              ? 24.0 * kept * devices_per_node / o.nvme_bytes_per_s
                              : 0.0;
    return std::max(moved - backward_s, 0.0) + std::max(host, drives) + moved;
}

TransformerStep transformer_step(const Transformer& t, const Plan& plan,
                                 const TransformerOptions& o, const Fabric& fabric,
                                 const BlockTimes& times, double update_s, double capacity) {
    TransformerStep step;
    Traffic traffic(fabric, plan, o, step);
    const double m = microbatches(plan, o);
    const double p = number(plan.pipeline);
    const double blocks = blocks_of(t, plan);
    const double even = number(t.layers) / p;
    Parallel comm = block_traffic(t, plan, o, traffic, m * even);
    if (hides_tensor(plan, o)) { // the first part of t has nothing to hide behind
        const double products = (times.forward_s + times.backward_s) * 2.0 / 3.0;
        const double first = comm.tensor_s / number(plan.tensor);
        comm.tensor_s = first + beside_kernels(fabric, comm.tensor_s - first, products - first);
    }
    comm.tensor_s += beside_kernels(fabric, comm.again_s, times.backward_s / 2.0);
    if (hides_experts(plan, o)) {
        comm.expert_s = hidden_experts(fabric, comm.expert_s, times, m);
    }
    const double again = plan.recompute == Recompute::full                    ? times.forward_s
                         : plan.recompute == Recompute::selective && !o.fused ? times.core_s
                                                                              : 0.0;
    const double kernels = times.forward_s + times.backward_s;
    const Group stages = traffic.group(plan.pipeline, plan.pipeline_stride());
    const double message = 2.0 * number(plan.microbatch) * number(o.length) / number(plan.context) *
                           number(t.hidden) / number(plan.tensor);
    const double sent = traffic.send(stages, message, 2.0 * number(plan.interleave) * m) / m;
    const double sends = plan.interleave > 1 ? hidden_sends(fabric, plan, sent, even, times) : sent;
    const double block = kernels + again + comm.all();
    const double trained = trained_values(t, plan, o).all();
    const double accumulated = accumulated_bytes(o) * trained * times.byte_s;
    const double mean = even * block + times.ends_s / p + sends + accumulated;
    const double last = number(stage_blocks(t, plan.pipeline, plan.balanced).last);
    const double longest =
        std::max(blocks * block, last * block + times.ends_s) + sends + accumulated;
    const double averaged = averaged_bytes(t, plan, o, m) * trained * times.byte_s;
    const double node =
        number(std::min(std::max<Count>(fabric.levels.front().size, 1), plan.devices()));
    const double update =
        plan.offload == OptimizerPlace::device
            ? update_s
            : offload_s(plan, o, updated_parameters(t, plan, o), even * times.backward_s, node);
    step.compute_s = m * (even * kernels + times.ends_s / p + accumulated) + averaged + update;
    step.recompute_s = m * even * again;
    step.tensor_s = m * even * comm.tensor_s;
    step.context_s = m * even * comm.context_s;
    step.expert_s = m * even * comm.expert_s;
    step.pipeline_s = m * sends;
    step.idle_s = m * (longest - mean) + (p * mean - longest) / number(plan.interleave);
    step.data_s = data_traffic(t, plan, o, fabric, traffic, times) +
                  gathered_weights(t, plan, o, fabric, traffic, times, even, m);
    step.time_s = step.compute_s + step.recompute_s + step.idle_s + step.communication_s();
    step.memory = transformer_memory(t, plan, o, capacity);
    return step;
}

} // namespace eyeroof::analysis
