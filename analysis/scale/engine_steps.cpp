#include "analysis/scale/engine_steps.hpp"

#include "analysis/exam/run.hpp"
#include "analysis/program/costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

using model::Network;

namespace {

// Sizes of the grid: 1, 2, 3, 4, then two steps from one power of two to the next.
Count grid_below(Count n) {
    if (n <= 4) {
        return n;
    }
    Count power = 4;
    while (power * 2 <= n) {
        power *= 2;
    }
    return n >= power + power / 2 ? power + power / 2 : power;
}

Count grid_above(Count n) {
    const Count below = grid_below(n);
    if (below >= n) {
        return below;
    }
    Count power = 4;
    while (power * 2 <= below) {
        power *= 2;
    }
    return below == power ? power + power / 2 : power * 2;
}

// Linear between two points of the grid.
template <class At> double between(Count n, const At& at) {
    const Count low = grid_below(n);
    const Count high = grid_above(n);
    const double first = at(low);
    if (low == high) {
        return first;
    }
    const double share = static_cast<double>(n - low) / static_cast<double>(high - low);
    return first + share * (at(high) - first);
}

} // namespace

EngineSteps::EngineSteps(const Transformer& t, const model::Machine& machine,
                         const model::Fabric& fabric, const ServingOptions& options, Count tensor,
                         std::stop_token stop)
    : t_(t), machine_(machine), fabric_(fabric), o_(options), tensor_(tensor),
      layout_(options.layout(tensor)), stop_(std::move(stop)) {
    if (options.speculation.draft && options.speculation.tokens > 0) {
        draft_options_ = std::make_unique<ServingOptions>(options);
        draft_options_->speculation = {};
        if (options.speculation.draft->experts <= 1) {
            draft_options_->expert = draft_options_->data = 1;
        }
        draft_ = std::make_unique<EngineSteps>(*options.speculation.draft, machine, fabric,
                                               *draft_options_, tensor, stop_);
    }
}

double EngineSteps::examined_s(Network network) {
    if (found_.has_errors()) {
        return 0.0;
    }
    Question question;
    question.scenario = o_.exam;
    question.scenario.settled_clocks = o_.exam.settled_clocks.value_or(true);
    question.scenario.data_type.reset();
    if (std::holds_alternative<model::Accelerator>(machine_.kind)) {
        question.scenario.policy = MappingPolicy::dataflow; // dozens of steps, each at once
    }
    if (question.scenario.library.empty()) {
        question.scenario.library = o_.engine.library;
    }
    // Decoders with latent attention are published in fp8 with scales of 128 x 128 blocks, which
    // vLLM and SGLang keep. Source: DeepSeek-AI, arXiv:2412.19437, section 3.3.2.
    if (question.scenario.library.empty() && t_.latent.rank > 0 &&
        o_.weights() == model::DataType::fp8) {
        question.scenario.library = o_.engine.block_library;
    }
    question.scenario.compiled = o_.exam.compiled || o_.engine.fused;
    question.network = std::move(network);
    question.machine = machine_;
    question.host = o_.host;
    const auto report = run(question, stop_);
    if (!report) {
        found_.append(report.diagnostics());
        return 0.0;
    }
    double seconds = report->total.time_s;
    const auto* gpu = std::get_if<model::Gpu>(&machine_.kind);
    const model::DataType weights = o_.weights();
    for (const LayerReport& layer : report->layers) {
        const bool served = layer.kernel && !layer.kernel->served.empty();
        if (gpu != nullptr && weights != o_.type && !served) {
            const double after =
                step::with_weights_s(layer.layer, *gpu, weights, layer.time_s,
                                     static_cast<double>(layer.flops), layer.outer_bytes);
            seconds -= static_cast<double>(layer.layer.count) * (layer.time_s - after);
        }
    }
    return seconds;
}

template <class Make>
double EngineSteps::known(Part part, Count a, Count b, Count c, const Make& make) {
    const Sizes key = {static_cast<Count>(part), a, b, c};
    if (const auto found = known_.find(key); found != known_.end()) {
        return found->second;
    }
    return known_[key] = make();
}

double EngineSteps::body_s(Count tokens, Count everywhere) {
    const auto whole = [&](Count n) {
        return known(Part::body, n, 0, 0,
                     [&] { return examined_s(serving_body(t_, layout_, n, o_)); });
    };
    const auto experts = [&](Count n) {
        return known(Part::experts, n, 0, 0,
                     [&] { return examined_s(serving_experts(t_, layout_, n, o_)); });
    };
    const auto shared = [&](Count n) {
        return known(Part::shared, n, 0, 0,
                     [&] { return examined_s(serving_shared_experts(t_, tensor_, n, o_)); });
    };
    const double alike = between(tokens, whole);
    const bool even = everywhere == tokens * layout_.data;
    const bool beside = t_.shared > 0 && o_.engine.shared_beside;
    if (t_.experts <= 1 || (even && !beside)) {
        return alike;
    }
    const double routed = between(everywhere, experts);
    const double hidden = beside ? std::min(between(tokens, shared), routed) : 0.0;
    return alike - hidden + (even ? 0.0 : routed - between(tokens * layout_.data, experts));
}

double EngineSteps::head_s(Count rows) {
    return between(rows, [&](Count n) {
        return known(Part::head, n, 0, 0,
                     [&] { return examined_s(serving_head(t_, tensor_, n, o_)); });
    });
}

double EngineSteps::next_tokens_s(Count requests, double context, Count checked) {
    if (requests <= 0) {
        return 0.0;
    }
    const auto seen = static_cast<Count>(std::max(std::floor(context), 1.0));
    return between(requests, [&](Count n) {
        return between(seen, [&](Count c) {
            return known(Part::next_tokens, n, c, checked, [&] {
                return examined_s(serving_attention(t_, tensor_, n, checked, c, o_));
            });
        });
    });
}

double EngineSteps::prompts_s(const EngineLoad& load) {
    if (load.pieces.empty()) {
        return 0.0;
    }
    // As many pieces of one length, behind as many tokens as make up the pairs of a layer that sees
    // all.
    double fresh = 0.0;
    double pairs = 0.0;
    double seen = 0.0;
    for (const PromptPiece& p : load.pieces) {
        const auto f = static_cast<double>(p.fresh);
        fresh += f;
        pairs += f * (static_cast<double>(p.past) + (f + 1.0) / 2.0);
        seen += mean_pairs(p.fresh, p.past);
    }
    const auto pieces = static_cast<Count>(load.pieces.size());
    const double each = fresh / static_cast<double>(pieces);
    const auto length = static_cast<Count>(std::ceil(each));
    const Count rounded = length <= 64 ? grid_above(length) : (length + 63) / 64 * 64;
    const double past = std::max(pairs / fresh - (each + 1.0) / 2.0, 0.0);
    const Count behind = past < 1.0 ? 0 : grid_below(static_cast<Count>(past));
    const Count many = grid_below(pieces);
    const double examined = static_cast<double>(many) * mean_pairs(rounded, behind);
    const double seconds = known(Part::prompts, many, rounded, behind, [&] {
        return examined_s(serving_attention(t_, tensor_, many, rounded, behind, o_));
    });
    return seconds * seen / examined;
}

double EngineSteps::mean_pairs(Count fresh, Count past) const {
    const auto pairs = [&](Count layers, Count window) {
        const model::AttentionShape one{1, 1, fresh, past + fresh, 1, 1, true, window};
        return layers > 0
                   ? static_cast<double>(layers) * static_cast<double>(model::seen_pairs(one))
                   : 0.0;
    };
    return (pairs(t_.full_layers(), 0) + pairs(t_.window.layers, t_.window.keys)) /
           static_cast<double>(std::max<Count>(t_.attention_layers(), 1));
}

double EngineSteps::states_s(const EngineLoad& load) {
    if (t_.states.layers == 0) {
        return 0.0;
    }
    const auto at = [&](Part part, Count n, const auto& network) {
        return n <= 0 ? 0.0 : between(n, [&](Count point) {
            return known(part, point, 0, 0,
                         [&] { return examined_s(network(t_, tensor_, point, o_)); });
        });
    };
    return at(Part::states, load.decoding, serving_states) +
           at(Part::prompt_states, load.tokens() - load.decoding, serving_prompt_states);
}

double EngineSteps::collective_s(Count size, Count stride, Collective kind, double bytes) const {
    if (size <= 1) {
        return 0.0;
    }
    CollectiveOptions collective = o_.collective;
    collective.direct = o_.engine.direct;
    const Group group = place_group(fabric_, size, stride, layout_.devices());
    return collective_time(fabric_, group, kind, bytes, collective).time_s();
}

// Of a layer whose experts serve all replicas: `bytes` of one replica's tokens, `whole` of all.
double EngineSteps::experts_s(double bytes, double whole) const {
    const Count all = layout_.devices();
    const double own = bytes / static_cast<double>(tensor_); // of a device
    const double gathered = collective_s(all, 1, Collective::all_gather, whole) +
                            collective_s(all, 1, Collective::reduce_scatter, whole);
    double seconds = gathered;
    if (layout_.expert > 1) {
        const Count divided = layout_.expert_part();
        const auto copies = static_cast<double>(t_.active);
        const Group experts = place_group(fabric_, layout_.expert, divided, all);
        const double parts = own * copies * static_cast<double>(divided);
        const double sent = 2.0 * dispatch_time(fabric_, experts, own, copies).time_s() +
                            collective_s(divided, 1, Collective::all_gather, parts) +
                            collective_s(divided, 1, Collective::reduce_scatter, parts);
        seconds = std::min(gathered, sent);
    }
    return seconds + collective_s(tensor_, 1, Collective::all_gather, bytes);
}

double EngineSteps::messages_s(Count tokens, Count everywhere) {
    return known(Part::messages, tokens, everywhere, 0,
                 [&] { return messages_at(tokens, everywhere); });
}

double EngineSteps::messages_at(Count tokens, Count everywhere) const {
    const double token =
        static_cast<double>(t_.hidden) * model::storage_bits(o_.wide()) / 8.0; // bytes
    const double bytes = static_cast<double>(tokens) * token;
    const double summed = collective_s(tensor_, 1, Collective::all_reduce, bytes);
    const auto layers = static_cast<double>(t_.layers);
    if (t_.experts <= 1 || layout_.data <= 1) {
        return 2.0 * layers * summed;
    }
    const auto dense = static_cast<double>(t_.dense_layers);
    return (layers + dense) * summed +
           (layers - dense) * experts_s(bytes, static_cast<double>(everywhere) * token);
}

EngineStep EngineSteps::draft(const EngineLoad& load) {
    EngineStep all;
    EngineLoad one = load;
    one.checked = 1;
    const Count times = load.decoding > 0 ? load.checked - 1 : 1;
    for (Count i = 0; i < times; ++i) {
        const EngineStep step = draft_->step(one);
        all.products_s += step.products_s;
        all.attention_s += step.attention_s;
        all.messages_s += step.messages_s;
        one.pieces.clear();
        one.finished = 0;
    }
    found_.append(draft_->found());
    return all;
}

EngineStep EngineSteps::step(const EngineLoad& load) {
    const Count tokens = load.tokens();
    EngineStep step;
    if (tokens <= 0) {
        return step;
    }
    const Count everywhere = load.everywhere > 0 ? load.everywhere : tokens * layout_.data;
    const Count rows = load.decoding * load.checked + load.finished;
    step.products_s = body_s(tokens, everywhere) + (rows > 0 ? head_s(rows) : 0.0);
    step.attention_s =
        next_tokens_s(load.decoding, load.context, load.checked) + prompts_s(load) + states_s(load);
    step.messages_s = messages_s(tokens, everywhere);
    if (draft_ != nullptr) {
        const EngineStep drafted = draft(load);
        step.products_s += drafted.products_s;
        step.attention_s += drafted.attention_s;
        step.messages_s += drafted.messages_s;
    }
    step.host_s = std::max(o_.engine.step_host_s, o_.engine.least_step_s - step.time_s());
    return step;
}

} // namespace eyeroof::analysis
