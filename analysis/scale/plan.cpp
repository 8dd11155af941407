// Plans: their words, where their groups are, and what keeps one from running.
#include "analysis/scale/plan.hpp"

#include "analysis/scale/split.hpp"
#include "analysis/scale/transformer_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace eyeroof::analysis {

using model::Fabric;

namespace {

constexpr std::array<std::string_view, 2> kDispatcherNames = {"alltoall", "flex"};
constexpr std::array<std::string_view, 2> kOrderNames = {"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"};

template <class Value, class Names>
std::optional<Value> named(const Names& names, std::string_view name) {
    const auto found = std::ranges::find(names, name);
    return found == names.end() ? std::nullopt
                                : std::optional(static_cast<Value>(found - names.begin()));
}

} // namespace

std::string_view dispatcher_name(Dispatcher dispatcher) {
    return kDispatcherNames[static_cast<std::size_t>(dispatcher)];
}

std::optional<Dispatcher> dispatcher_from_name(std::string_view name) {
    return named<Dispatcher>(kDispatcherNames, name);
}

std::vector<std::string> dispatcher_names() {
    return {kDispatcherNames.begin(), kDispatcherNames.end()};
}

std::string_view order_name(PlanOrder order) {
    return kOrderNames[static_cast<std::size_t>(order)];
}

std::optional<PlanOrder> order_from_name(std::string_view name) {
    return named<PlanOrder>(kOrderNames, name);
}

std::vector<std::string> order_names() {
    return {kOrderNames.begin(), kOrderNames.end()};
}

std::string Plan::text() const {
    std::string text = fmt::format("tensor {} pipeline {} data {}", tensor, pipeline, data);
    text += context > 1 ? fmt::format(" context {}", context) : "";
    text += expert > 1 ? fmt::format(" expert {}", expert) : "";
    text += expert_part() != tensor ? fmt::format(" (each on {})", expert_part()) : "";
    text += interleave > 1 ? fmt::format(" interleaved {}", interleave) : "";
    text += fmt::format(", microbatch {}", microbatch);
    text += sequence ? ", sequence" : "";
    text += balanced ? ", balanced stages" : "";
    text += order == PlanOrder::data_last ? ", replicas outermost" : "";
    text += recompute == Recompute::full        ? ", full recompute"
            : recompute == Recompute::selective ? ", selective recompute"
                                                : "";
    text += offload == OptimizerPlace::host   ? ", optimizer on the host"
            : offload == OptimizerPlace::nvme ? ", optimizer on NVMe"
                                              : "";
    return text + (zero > 0 ? fmt::format(", ZeRO {}", zero) : "");
}

Count Plan::expert_replicas() const {
    return order == PlanOrder::data_last
               ? std::max<Count>(replicas() / std::max<Count>(expert, 1), 1)
               : std::max<Count>(
                     tensor * context * data / std::max<Count>(expert * expert_part(), 1), 1);
}

Count Plan::pipeline_stride() const {
    return tensor * context * (order == PlanOrder::pipeline_last ? data : 1);
}

Count Plan::data_stride() const {
    return tensor * context * (order == PlanOrder::data_last ? pipeline : 1);
}

Count Plan::expert_stride() const {
    return order == PlanOrder::data_last ? data_stride() : expert_part();
}

bool hides_experts(const Plan& plan, const TransformerOptions& o) {
    const bool possible = plan.expert > 1 && plan.recompute != Recompute::full &&
                          (plan.pipeline == 1 || plan.interleave > 1);
    return o.overlap_expert.value_or(possible) && plan.expert > 1;
}

bool hides_tensor(const Plan& plan, const TransformerOptions& o) {
    const bool recipe = plan.sequence && plan.expert == 1 && model::storage_bits(o.type) == 8;
    return o.overlap_tensor.value_or(recipe);
}

double gradient_bytes_of(const TransformerOptions& o) {
    return o.gradient_bytes.value_or(model::storage_bits(o.type) <= 8 ? 2.0 : 4.0);
}

namespace {

// The divisor of `whole` next to `wanted`.
Count nearest_divisor(Count whole, Count wanted) {
    wanted = std::min(wanted, whole);
    for (Count off = 0; off < whole; ++off) {
        if (wanted > off && whole % (wanted - off) == 0) {
            return wanted - off;
        }
        if (whole % (wanted + off) == 0) {
            return wanted + off;
        }
    }
    return 1;
}

void divides(Diagnostics& found, Count whole, const char* what, Count part, const char* degree) {
    if (part < 1 || whole % part != 0) {
        found.error("bad-degree",
                    fmt::format("{} {} do not divide by {} {}", whole, what, degree, part),
                    fmt::format("the nearest that does: --{} {}", degree,
                                nearest_divisor(whole, std::max<Count>(part, 1))));
    }
}

void check_experts(Diagnostics& found, const Transformer& t, const Plan& plan) {
    const Count own = plan.expert_part();
    const bool stage = plan.order == PlanOrder::pipeline_last;
    if (own != plan.tensor && !(stage && plan.sequence)) {
        found.error("bad-degree",
                    fmt::format("experts divided by {} beside tensor {} need each device's own "
                                "tokens, in the order {}",
                                own, plan.tensor, order_name(PlanOrder::pipeline_last)),
                    "add --sequence, and leave --order out");
    } else if (t.experts > 1 && own > 1) {
        divides(found, t.inner, "values of an expert", own, "expert-tensor");
    }
    if (plan.expert > 1 && !stage) {
        divides(found, plan.data, "data parallel devices", plan.expert, "expert");
    } else if (plan.expert * own > 1) {
        const Count devices = plan.tensor * plan.context * plan.data;
        if (devices % (plan.expert * own) != 0) {
            const Count nearest = nearest_divisor(std::max<Count>(devices / own, 1), plan.expert);
            found.error("bad-degree",
                        fmt::format("{} devices of a stage do not divide by expert {} x {} devices "
                                    "for each",
                                    devices, plan.expert, own),
                        fmt::format("the nearest that does: --expert {}", nearest));
        }
    }
}

} // namespace

Diagnostics check_plan(const Transformer& t, const Plan& plan, const TransformerOptions& o,
                       const Fabric& fabric) {
    Diagnostics found;
    if (const Count nearest = nearest_tensor_degree(t, plan.tensor); nearest != plan.tensor) {
        found.error("bad-degree",
                    fmt::format("{} heads with the keys of {} do not divide by tensor {}", t.heads,
                                t.kv_heads, plan.tensor),
                    fmt::format("the nearest that does: --tensor {}", nearest));
    }
    if (plan.pipeline < 1 || plan.pipeline > t.layers) {
        found.error(
            "bad-degree",
            fmt::format("{} stages have no block each of {} layers", plan.pipeline, t.layers),
            fmt::format("at most --pipeline {}", t.layers));
    }
    divides(found, o.length, "tokens of a sequence", plan.context, "context");
    divides(found, t.experts, "experts", plan.expert, "expert");
    const Count stage = part(t.layers, std::max<Count>(plan.pipeline, 1));
    if (t.layers % std::max<Count>(plan.pipeline, 1) == 0) {
        divides(found, stage, "layers of a stage", plan.interleave, "interleave");
    } else if (plan.interleave < 1 || plan.interleave > stage) {
        found.error(
            "bad-degree",
            fmt::format("{} chunks have no layer each of a stage's {}", plan.interleave, stage),
            fmt::format("at most --interleave {}", stage));
    }
    if (plan.offload != OptimizerPlace::device && !(o.pcie_bytes_per_s > 0.0)) {
        found.error("no-pcie", "the device has no PCIe that an optimizer on the host is reached by",
                    "leave --offload out, or name a GPU");
    }
    if (plan.data < 1) {
        found.error("bad-degree", "no devices are left for data parallel",
                    "fewer of the other degrees");
    } else {
        check_experts(found, t, plan);
    }
    if (plan.data >= 1 && o.batch % (plan.data * plan.microbatch) != 0) {
        const Count unit = plan.data * plan.microbatch;
        found.error("bad-batch",
                    fmt::format("{} sequences do not divide by data {} x microbatch {}", o.batch,
                                plan.data, plan.microbatch),
                    fmt::format("the nearest that does: --batch {}",
                                std::max<Count>(o.batch / unit, 1) * unit));
    }
    if (const Count most = fabric.capacity(); most > 0 && plan.devices() > most) {
        found.error(
            "too-many-devices",
            fmt::format("{} joins {} devices at most, not {}", fabric.id, most, plan.devices()),
            fmt::format("--devices {}", most));
    }
    return found;
}

} // namespace eyeroof::analysis
