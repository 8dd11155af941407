#include "analysis/scale/server.hpp"

#include "analysis/program/own_memory.hpp"
#include "analysis/scale/split.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

using model::DataType;

namespace {

constexpr Count kMostAtOnce = 65536; // requests that may be asked for

// Weights on a device, the embedding and the head apart from the rest.
struct WeightBytes {
    double blocks = 0.0, ends = 0.0;
};

// Embedding and head stay wide where products are narrower; int4 weights have 5 bits (scales), and
// types with a scale a block have that too.
WeightBytes weight_bytes(const Transformer& t, const ServerLayout& layout,
                         const ServingOptions& o) {
    const Count tensor = layout.tensor;
    Plan plan;
    plan.tensor = tensor;
    plan.expert = t.experts > 1 ? layout.expert : 1;
    plan.expert_tensor = layout.expert_part();
    const double ends = static_cast<double>(t.vocabulary * t.hidden) * (t.tied ? 1.0 : 2.0) /
                        static_cast<double>(tensor);
    const double bits =
        8.0 * model::bytes_per_element(o.weights()) + (o.weights() == DataType::int4 ? 1.0 : 0.0);
    const double attention = o.wide_attention(t)
                                 ? static_cast<double>(t.attention_layers()) *
                                       attention_parameters(t) / static_cast<double>(tensor)
                                 : 0.0;
    const double wide = std::max<double>(model::storage_bits(o.wide()), bits);
    const double all = device_parameters(t, plan);
    return {((all - ends - attention) * bits + attention * wide) / 8.0, ends * wide / 8.0};
}

// The cache of a request, of the decoder and of the one that drafts.
double request_bytes(const Transformer& t, Count tensor, const ServingOptions& o) {
    const Count tokens = o.prompt + o.answer;
    return cache_bytes(t, tensor, o.cache(), tokens) +
           (o.speculation.draft ? cache_bytes(*o.speculation.draft, tensor, o.cache(), tokens)
                                : 0.0);
}

// The work of one of `data` replicas that share a server's load as evenly as whole requests do.
EngineLoad busiest_replica(const EngineLoad& all, Count data) {
    EngineLoad one = all;
    one.everywhere = all.tokens();
    one.decoding = (all.decoding + data - 1) / data;
    one.finished = (all.finished + data - 1) / data;
    const auto pieces = static_cast<Count>(all.pieces.size());
    one.pieces.resize(static_cast<std::size_t>((pieces + data - 1) / data));
    return one;
}

void take_step(ServingPoint& p, const EngineStep& step) {
    p.step_s = step.time_s();
    p.attention_s = step.attention_s;
    p.message_s = step.messages_s;
    p.host_s = step.host_s;
}

} // namespace

double server_weight_bytes(const Transformer& t, Count tensor, const ServingOptions& o) {
    const WeightBytes own = weight_bytes(t, o.layout(tensor), o);
    WeightBytes draft;
    if (o.speculation.draft) {
        draft = weight_bytes(*o.speculation.draft, o.layout(tensor), o);
    }
    return own.blocks + own.ends + draft.blocks + (o.speculation.shares_ends ? 0.0 : draft.ends);
}

Server::Server(const Transformer& t, const model::Machine& machine, const model::Fabric& fabric,
               const ServingOptions& o, std::stop_token stop)
    : t_(t), machine_(machine), fabric_(fabric), o_(o), stop_(std::move(stop)),
      capacity_(step::own_bytes(machine)) {
    if (const auto* gpu = std::get_if<model::Gpu>(&machine.kind)) {
        for (const DataType type : {DataType::fp32, DataType::fp16, DataType::bf16}) {
            o_.beside_narrow = gpu->rate(type).flops_per_s > 0.0 ? type : o_.beside_narrow;
        }
    }
    if (o_.prefill) {
        prefill_options_ = std::make_unique<ServingOptions>(o_);
        prefill_options_->data = o_.prefill->data;
        prefill_options_->expert = o_.prefill->expert;
        prefill_steps_ = std::make_unique<EngineSteps>(t_, machine_, fabric_, *prefill_options_,
                                                       o_.prefill->tensor, stop_);
    }
}

bool Server::computes(DataType type) const {
    const auto* gpu = std::get_if<model::Gpu>(&machine_.kind);
    return gpu != nullptr && gpu->rate(type).flops_per_s > 0.0;
}

Count Server::most_requests(Count tensor, const ServingOptions& o) const {
    const double left = left_of(server_weight_bytes(t_, tensor, o), o);
    const double each = request_bytes(t_, tensor, o);
    const Count most = o.batches.empty() ? o.engine.most_running : kMostAtOnce;
    return static_cast<Count>(std::min(std::max(left, 0.0) / each, static_cast<double>(most)));
}

bool Server::prompts_fit() const {
    const double prompt = cache_bytes(t_, o_.prefill->tensor, o_.cache(), o_.prompt);
    const WeightBytes weights = weight_bytes(t_, *o_.prefill, o_);
    return prompt <= left_of(weights.blocks + weights.ends, o_);
}

double Server::left_of(double weights, const ServingOptions& o) const {
    return o.engine.memory_of_free ? (capacity_ - weights) * o.memory_share
                                   : capacity_ * o.memory_share - weights;
}

EngineSteps& Server::steps(Count tensor) {
    return steps_.try_emplace(tensor, t_, machine_, fabric_, o_, tensor, stop_).first->second;
}

EngineSteps& Server::prefill_steps(Count tensor) {
    return prefill_steps_ ? *prefill_steps_ : steps(tensor);
}

const Diagnostics& Server::found(Count tensor) {
    const Diagnostics& of_next = steps(tensor).found();
    return of_next.has_errors() ? of_next : prefill_steps(tensor).found();
}

double Server::answer_steps() const {
    return std::max(static_cast<double>(o_.answer) / o_.speculation.made(), 1.0);
}

Server::Joining Server::joining_of(Count batch) const {
    const Engine& e = o_.engine;
    Joining j;
    j.decoding = e.mixes ? batch - 1 : 0;
    const Count busy = j.decoding * checked();
    const Count fresh = o_.prompt - o_.cached;
    const Count room = std::max<Count>((e.chunk - busy) / fresh, 1);
    const auto requests = static_cast<double>(batch);
    // Prompts that come during a step and fit the next one together.
    j.together =
        std::clamp<Count>(static_cast<Count>(std::ceil(requests / answer_steps())), 1, room);
    j.rounds = requests / static_cast<double>(j.together);
    const double pieces = std::ceil(static_cast<double>(fresh) /
                                    static_cast<double>(std::max<Count>(e.chunk - busy, 1)));
    j.mixed = e.mixes ? j.rounds * (e.splits ? std::max(pieces, 1.0) : 1.0) : 0.0;
    return j;
}

ServingPoint Server::steady_point(EngineSteps& clock, Count batch) const {
    const Joining j = joining_of(batch);
    const double answer = answer_steps();
    ServingPoint p;
    take_step(p, clock.step({batch, mean_context(), checked(), {}, 0}));
    p.prefill_s = prompt_steps_s(clock, 0, 1);
    double answer_s = answer * p.step_s; // behind the prompts of other requests
    double all_s = answer_s + p.prefill_s;
    if (batch > 1) {
        answer_s = j.rounds * prompt_steps_s(clock, j.decoding, j.together) +
                   std::max(answer - j.mixed, 0.0) * p.step_s;
        all_s = answer_s;
    }
    p.tpot_s = answer_s / static_cast<double>(o_.answer);
    p.tokens_per_s = static_cast<double>(batch * o_.answer) / all_s;
    p.ttft_s = prompt_steps_s(clock, j.decoding, 1) + 0.5 * (batch > 1 ? p.step_s : 0.0) +
               o_.engine.queue_host_s + o_.engine.request_host_s;
    p.cache_bytes = static_cast<double>(batch);
    return p;
}

double Server::most_prompts() const {
    const Engine& e = o_.engine;
    if (!e.mixes) {
        return INFINITY;
    }
    const double fresh = static_cast<double>(o_.prompt - o_.cached);
    const double beside = (answer_steps() - 1.0) * static_cast<double>(checked());
    const double prompts = static_cast<double>(e.chunk) / (fresh + beside);
    return e.splits ? prompts : std::max(std::floor(prompts), 1.0);
}

Count Server::saturation() const {
    const double held = std::ceil(answer_steps() * most_prompts());
    return held < static_cast<double>(kMostAtOnce) ? static_cast<Count>(held) : kMostAtOnce;
}

ServingPoint Server::filled_point(EngineSteps& clock, Count batch, double prompts) const {
    const double held = answer_steps() * prompts;
    const double decoding = held - prompts; // the others end their prompts in the step
    const double fresh = static_cast<double>(o_.prompt - o_.cached);
    const auto tokens = std::max<Count>(std::llround(prompts * fresh), 1);
    const double step_s = stream_step_s(clock, std::llround(decoding), tokens);
    ServingPoint p;
    take_step(
        p, clock.step({std::max<Count>(std::llround(held), 1), mean_context(), checked(), {}, 0}));
    p.prefill_s = prompt_steps_s(clock, 0, 1);
    p.tpot_s = answer_steps() * step_s / static_cast<double>(o_.answer);
    p.tokens_per_s = prompts * static_cast<double>(o_.answer) / step_s;
    p.ttft_s = std::max((static_cast<double>(batch) - decoding) / prompts,
                        static_cast<double>(part(o_.prompt - o_.cached, tokens))) *
                   step_s +
               o_.engine.queue_host_s + o_.engine.request_host_s;
    p.cache_bytes = std::max(held, 1.0);
    return p;
}

Result<ServingPoint> Server::point(Count tensor, Count batch, Count most) {
    EngineSteps& clock = steps(tensor);
    const double wanted = static_cast<double>(batch) / answer_steps(); // prompts a step
    const bool bound = wanted > most_prompts();
    const bool fills = batch > 1 && (bound || joining_of(batch).mixed > answer_steps());
    ServingPoint p = fills ? filled_point(clock, batch, bound ? most_prompts() : wanted)
                           : steady_point(clock, batch);
    p.tokens_per_s *= static_cast<double>(place(p, tensor, batch, most, 1));
    p.ttft_band = o_.engine.ttft;
    p.tpot_band = o_.engine.tpot;
    p.weight_bytes = server_weight_bytes(t_, tensor, o_);
    p.cache_bytes *= request_bytes(t_, tensor, o_);
    p.within = within(p.ttft_s, p.tpot_s);
    if (clock.found().has_errors()) {
        return clock.found();
    }
    return p;
}

Result<ServingPoint> Server::point_apart(Count tensor, Count batch, Count most) {
    EngineSteps& clock = steps(tensor);
    EngineSteps& prompts = prefill_steps(tensor);
    const ServerLayout prefill = o_.prefill_layout(tensor);
    const Engine& e = o_.engine;
    const double steps = answer_steps();
    const auto groups = static_cast<double>(o_.decode_groups);
    const Count together = std::max<Count>(e.chunk / (o_.prompt - o_.cached), 1);
    ServingPoint p;
    const auto data = static_cast<double>(place(p, tensor, batch, most, o_.decode_groups));
    p.devices += prefill.devices() * o_.prefill_groups;
    p.prefill_s = prompt_steps_s(prompts, 0, 1);
    const double prompts_per_s = static_cast<double>(o_.prefill_groups * prefill.data * together) /
                                 data / prompt_steps_s(prompts, 0, together);
    // As many requests as the prompts keep in a decode group: from the full one downwards.
    double held = static_cast<double>(batch);
    EngineStep next;
    for (int i = 0; i < 20; ++i) {
        const Count decoding = std::max<Count>(static_cast<Count>(held), 1);
        next = clock.step({decoding, mean_context(), checked(), {}, 0});
        if (i == 0) {
            p.decoded_per_s = groups * held * data / (steps * next.time_s());
        }
        const double kept = prompts_per_s * steps * next.time_s() / groups;
        if (kept >= held) {
            break;
        }
        held = kept;
    }
    take_step(p, next);
    p.prompted_per_s = prompts_per_s * data;
    p.transfer_s = transfer_s(tensor);
    p.tpot_s = steps * p.step_s / static_cast<double>(o_.answer);
    p.ttft_s = p.prefill_s + p.transfer_s + e.queue_host_s + e.apart_host_s + e.request_host_s;
    p.ttft_band = e.apart_ttft;
    p.tpot_band = e.apart_tpot;
    p.tokens_per_s = std::min(p.prompted_per_s, p.decoded_per_s) * static_cast<double>(o_.answer);
    p.weight_bytes = server_weight_bytes(t_, tensor, o_);
    p.cache_bytes = request_bytes(t_, tensor, o_) * std::max(held, 1.0);
    p.within = within(p.ttft_s, p.tpot_s);
    if (found(tensor).has_errors()) {
        return found(tensor);
    }
    return p;
}

Result<ServingLoad> Server::load(Count tensor, double rate, Count users) {
    Demand traffic;
    traffic.prompt = o_.prompt;
    traffic.answer = o_.answer;
    traffic.cached = o_.cached;
    traffic.sizes = o_.sizes;
    traffic.recorded = o_.recorded && rate <= 0.0 && users <= 0;
    traffic.spread = o_.spread;
    traffic.rate = rate;
    traffic.users = users;
    traffic.together = o_.together;
    traffic.requests = o_.requests;
    traffic.seed = o_.seed;
    traffic.drafted = o_.speculation.tokens;
    traffic.acceptance = o_.speculation.acceptance;
    const Service service = service_of(tensor);
    auto result = simulate_load(service, o_.engine, traffic, stop_);
    if (found(tensor).has_errors()) {
        return found(tensor);
    }
    if (!result) {
        return result.diagnostics();
    }
    ServingLoad load;
    load.tensor = tensor;
    load.devices = o_.layout(tensor).devices() * service.next.servers;
    if (service.prompts) {
        load.devices += o_.prefill_layout(tensor).devices() * service.prompts->servers;
    }
    load.rate = rate;
    load.users = users;
    load.recorded = traffic.recorded;
    load.within = within(result->ttft.p95, result->tpot.p95) && result->keeps_up;
    load.result = *std::move(result);
    return load;
}

Result<std::optional<ServingLoad>> Server::largest(Count tensor) {
    std::optional<ServingLoad> best;
    double low = 0.0;
    double high = 0.0;
    for (double rate = 0.25; rate < 1e6; rate *= 2.0) {
        auto at = load(tensor, rate, 0);
        if (!at) {
            return at.diagnostics();
        }
        if (!at->within) {
            high = rate;
            break;
        }
        low = rate;
        best = *std::move(at);
    }
    while (high > low * 1.01 && high > 0.01) {
        const double middle = low > 0.0 ? std::sqrt(low * high) : high / 4.0;
        auto at = load(tensor, middle, 0);
        if (!at) {
            return at.diagnostics();
        }
        (at->within ? low : high) = middle;
        if (at->within) {
            best = *std::move(at);
        }
    }
    if (best) {
        best->largest = true;
    }
    return best;
}

Service Server::service_of(Count tensor) {
    const auto pool = [](EngineSteps& steps, const ServerLayout& layout, Count servers) {
        const StepClock seconds = [&steps, data = layout.data](const EngineLoad& all) {
            return steps.step(data > 1 ? busiest_replica(all, data) : all).time_s();
        };
        return ServerPool{seconds, servers, layout.data, 1};
    };
    const ServerLayout layout = o_.layout(tensor);
    Service service;
    const Count most =
        o_.batches.empty()
            ? most_requests(tensor)
            : std::min(most_requests(tensor), part(std::ranges::max(o_.batches), layout.data));
    if (o_.decode_groups > 0) {
        service.prompts = pool(prefill_steps(tensor), o_.prefill_layout(tensor), o_.prefill_groups);
        service.transfer_s = transfer_s(tensor);
    }
    service.next =
        pool(steps(tensor), layout, o_.decode_groups > 0 ? o_.decode_groups : o_.servers);
    service.next.most_requests = most * layout.data;
    return service;
}

Count Server::place(ServingPoint& p, Count tensor, Count batch, Count most, Count groups) const {
    const ServerLayout layout = o_.layout(tensor);
    p.tensor = tensor;
    p.data = layout.data;
    p.expert = layout.expert;
    p.devices = layout.devices() * groups;
    p.batch = batch * layout.data * groups;
    p.most_batch = most * layout.data * groups;
    p.engine_full = o_.batches.empty() && most == o_.engine.most_running;
    return layout.data;
}

bool Server::within(double ttft_s, double tpot_s) const {
    return (o_.ttft_limit_s <= 0.0 || ttft_s <= o_.ttft_limit_s) &&
           (o_.tpot_limit_s <= 0.0 || tpot_s <= o_.tpot_limit_s);
}

double Server::transfer_s(Count tensor) const {
    const Count devices = o_.prefill_layout(tensor).devices() * o_.prefill_groups +
                          o_.layout(tensor).devices() * o_.decode_groups;
    const Group peers = place_group(fabric_, 2, part(devices, 2), devices); // first and last
    return send_time(fabric_, peers, cache_bytes(t_, tensor, o_.cache(), o_.prompt)).time_s();
}

double Server::prompt_steps_s(EngineSteps& clock, Count decoding, Count prompts) const {
    const Count room = o_.engine.splits ? std::max<Count>(o_.engine.chunk - decoding * checked(), 1)
                                        : std::max<Count>(o_.prompt, o_.engine.chunk);
    double seconds = 0.0;
    for (Count done = o_.cached; done < o_.prompt;) {
        const Count fresh = std::min(o_.prompt - done, room);
        EngineLoad load{decoding, decoding > 0 ? mean_context() : 0.0, checked(), {}, 0};
        load.pieces.assign(static_cast<std::size_t>(prompts), {fresh, done});
        done += fresh;
        load.finished = done == o_.prompt ? prompts : 0;
        seconds += clock.step(load).time_s();
    }
    return seconds;
}

double Server::stream_step_s(EngineSteps& clock, Count decoding, Count tokens) const {
    const Count steps = part(o_.prompt - o_.cached, tokens);
    Count done = o_.cached;
    double seconds = 0.0;
    for (Count i = 0; i < steps; ++i) {
        EngineLoad load{decoding, decoding > 0 ? mean_context() : 0.0, checked(), {}, 0};
        for (Count room = tokens; room > 0;) {
            const Count fresh = std::min(o_.prompt - done, room);
            load.pieces.push_back({fresh, done});
            room -= fresh;
            done += fresh;
            if (done == o_.prompt) {
                ++load.finished;
                done = o_.cached;
            }
        }
        seconds += clock.step(load).time_s();
    }
    return seconds / static_cast<double>(steps);
}

} // namespace eyeroof::analysis
