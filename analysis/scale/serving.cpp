#include "analysis/scale/serving.hpp"

#include "analysis/program/memory.hpp"
#include "analysis/scale/engine_steps.hpp"
#include "analysis/scale/split.hpp"
#include "base/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace eyeroof::analysis {

using model::DataType;
using model::Layer;
using model::Op;

namespace {

constexpr Count kMostAtOnce = 65536; // requests of an engine

// Embedding and head stay wide where products are narrower; int4 weights have 5 bits (scales), and
// types with a scale a block have that too.
double weight_bytes(const Transformer& t, const ServerLayout& layout, const ServingOptions& o) {
    const Count tensor = layout.tensor;
    Plan plan;
    plan.tensor = tensor;
    plan.expert = t.experts > 1 ? layout.expert : 1;
    plan.expert_tensor = layout.expert_part();
    const double ends = static_cast<double>(t.vocabulary * t.hidden) * (t.tied ? 1.0 : 2.0) /
                        static_cast<double>(tensor);
    const double bits =
        8.0 * model::bytes_per_element(o.weights()) + (o.weights() == DataType::int4 ? 1.0 : 0.0);
    const double all = device_parameters(t, plan);
    return (all - ends) * bits / 8.0 +
           ends * std::max<double>(model::storage_bits(o.wide()), bits) / 8.0;
}

// Weights on a device, and the cache of a request, of the decoder and of the one that drafts.
double all_weight_bytes(const Transformer& t, Count tensor, const ServingOptions& o) {
    return weight_bytes(t, o.layout(tensor), o) +
           (o.speculation.draft ? weight_bytes(*o.speculation.draft, o.layout(tensor), o) : 0.0);
}

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

// What prompts and answers of one size do in a steady state.
class Server {
  public:
    Server(const Transformer& t, const model::Machine& machine, const model::Fabric& fabric,
           const ServingOptions& o, std::stop_token stop)
        : t_(t), machine_(machine), fabric_(fabric), o_(o), stop_(std::move(stop)) {
        if (const auto* gpu = std::get_if<model::Gpu>(&machine.kind)) {
            capacity_ = step::device_bytes(*gpu);
        }
        if (o_.prefill) {
            prefill_options_ = std::make_unique<ServingOptions>(o_);
            prefill_options_->data = o_.prefill->data;
            prefill_options_->expert = o_.prefill->expert;
            prefill_steps_ = std::make_unique<EngineSteps>(t_, machine_, fabric_, *prefill_options_,
                                                           o_.prefill->tensor, stop_);
        }
    }
    double capacity() const { return capacity_; }

    // Of one replica.
    Count most_requests(Count tensor) const {
        const double left = capacity_ * o_.memory_share - all_weight_bytes(t_, tensor, o_);
        const double each = request_bytes(t_, tensor, o_);
        return static_cast<Count>(
            std::min(std::max(left, 0.0) / each, static_cast<double>(kMostAtOnce)));
    }

    // Weights and one prompt, on servers with a layout of their own.
    bool prompts_fit() const {
        const double prompt = cache_bytes(t_, o_.prefill->tensor, o_.cache(), o_.prompt);
        return weight_bytes(t_, *o_.prefill, o_) + prompt <= capacity_ * o_.memory_share;
    }

    EngineSteps& steps(Count tensor) {
        return steps_.try_emplace(tensor, t_, machine_, fabric_, o_, tensor, stop_).first->second;
    }
    // Of servers that compute prompts alone.
    EngineSteps& prefill_steps(Count tensor) {
        return prefill_steps_ ? *prefill_steps_ : steps(tensor);
    }
    const Diagnostics& found(Count tensor) {
        const Diagnostics& of_next = steps(tensor).found();
        return of_next.has_errors() ? of_next : prefill_steps(tensor).found();
    }

    Result<ServingPoint> point(Count tensor, Count batch, Count most) {
        EngineSteps& clock = steps(tensor);
        const Engine& e = o_.engine;
        const double context = static_cast<double>(o_.prompt + o_.answer / 2);
        const Speculation& drafts = o_.speculation;
        const EngineStep next = clock.step({batch, context, 1 + drafts.tokens, {}, 0});
        ServingPoint p;
        const Count data = place(p, tensor, batch, most, 1);
        p.prefill_s = prompt_steps_s(clock, 0, 1);
        p.step_s = next.time_s();
        p.message_s = next.messages_s;
        const double answer =
            std::max(static_cast<double>(o_.answer) / drafts.made(), 1.0); // steps
        const auto requests = static_cast<double>(batch);
        // Prompts that come during a step and fit the next one together.
        const Count decoding = e.mixes ? batch - 1 : 0;
        const Count busy = decoding * (1 + drafts.tokens);
        const Count fresh = o_.prompt - o_.cached;
        const Count room = std::max<Count>((e.chunk - busy) / fresh, 1);
        const auto together =
            std::clamp<Count>(static_cast<Count>(std::ceil(requests / answer)), 1, room);
        const double with = prompt_steps_s(clock, decoding, together);
        const double rounds = requests / static_cast<double>(together);
        const double one = prompt_steps_s(clock, decoding, 1);
        const double steps = std::ceil(static_cast<double>(fresh) /
                                       static_cast<double>(std::max<Count>(e.chunk - busy, 1)));
        const double mixed = e.mixes ? rounds * (e.splits ? std::max(steps, 1.0) : 1.0) : 0.0;
        p.tpot_s = rounds * with + std::max(answer - mixed, 0.0) * p.step_s;
        if (batch == 1 && e.mixes) { // nothing is decoded beside the only prompt
            p.tpot_s = answer * p.step_s + p.prefill_s;
        }
        p.tpot_s /= static_cast<double>(o_.answer);
        p.ttft_s = one + 0.5 * (batch > 1 ? p.step_s : 0.0) + e.queue_host_s + e.request_host_s;
        p.ttft_band = e.ttft;
        p.tpot_band = e.tpot;
        p.tokens_per_s = requests * static_cast<double>(data) / p.tpot_s;
        p.weight_bytes = all_weight_bytes(t_, tensor, o_);
        p.cache_bytes = request_bytes(t_, tensor, o_) * requests;
        p.within = within(p.ttft_s, p.tpot_s);
        if (clock.found().has_errors()) {
            return clock.found();
        }
        return p;
    }

    // Prompts and next tokens on separate devices.
    Result<ServingPoint> point_apart(Count tensor, Count batch, Count most) {
        EngineSteps& clock = steps(tensor);
        EngineSteps& prompts = prefill_steps(tensor);
        const ServerLayout prefill = o_.prefill_layout(tensor);
        const Engine& e = o_.engine;
        const Count checked = 1 + o_.speculation.tokens;
        const double context = static_cast<double>(o_.prompt + o_.answer / 2);
        const double steps = std::max(static_cast<double>(o_.answer) / o_.speculation.made(), 1.0);
        const Count together = std::max<Count>(e.chunk / (o_.prompt - o_.cached), 1);
        ServingPoint p;
        const auto data = static_cast<double>(place(p, tensor, batch, most, o_.decode_groups));
        p.devices += prefill.devices() * o_.prefill_groups;
        p.prefill_s = prompt_steps_s(prompts, 0, 1);
        const double prompts_per_s =
            static_cast<double>(o_.prefill_groups * prefill.data * together) / data /
            prompt_steps_s(prompts, 0, together);
        // As many requests as the prompts keep in a decode group: from the full one downwards.
        double held = static_cast<double>(batch);
        EngineStep next;
        for (int i = 0; i < 20; ++i) {
            next =
                clock.step({std::max<Count>(static_cast<Count>(held), 1), context, checked, {}, 0});
            const double kept =
                prompts_per_s * steps * next.time_s() / static_cast<double>(o_.decode_groups);
            if (kept >= held) {
                break;
            }
            held = kept;
        }
        p.step_s = next.time_s();
        p.message_s = next.messages_s;
        const double decoded_per_s =
            static_cast<double>(o_.decode_groups) * std::max(held, 1.0) / (steps * p.step_s);
        p.transfer_s = transfer_s(tensor);
        p.tpot_s = steps * p.step_s / static_cast<double>(o_.answer);
        p.ttft_s = p.prefill_s + p.transfer_s + e.queue_host_s + e.request_host_s;
        p.ttft_band = e.ttft;
        p.tpot_band = e.tpot;
        p.tokens_per_s =
            std::min(prompts_per_s, decoded_per_s) * static_cast<double>(o_.answer) * data;
        p.weight_bytes = all_weight_bytes(t_, tensor, o_);
        p.cache_bytes = request_bytes(t_, tensor, o_) * static_cast<double>(batch);
        p.within = within(p.ttft_s, p.tpot_s);
        if (found(tensor).has_errors()) {
            return found(tensor);
        }
        return p;
    }

    Result<ServingLoad> load(Count tensor, double rate, Count users) {
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

    // The largest rate whose 95th percentiles keep the limits and whose queue does not grow, within
    // 1 %, by bisection; the same arrivals for every rate but for their spacing.
    Result<std::optional<ServingLoad>> largest(Count tensor) {
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

  private:
    // The servers that requests are simulated on. Replicas of attention wait for each other in
    // every layer, so a step lasts as long as the one with the most work.
    Service service_of(Count tensor) {
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
            service.prompts =
                pool(prefill_steps(tensor), o_.prefill_layout(tensor), o_.prefill_groups);
            service.transfer_s = transfer_s(tensor);
        }
        service.next =
            pool(steps(tensor), layout, o_.decode_groups > 0 ? o_.decode_groups : o_.servers);
        service.next.most_requests = most * layout.data;
        return service;
    }

    // The devices of a point whose replicas have `batch` requests each, at most `most`; so many
    // groups of them. Returns the replicas of a group.
    Count place(ServingPoint& p, Count tensor, Count batch, Count most, Count groups) const {
        const ServerLayout layout = o_.layout(tensor);
        p.tensor = tensor;
        p.data = layout.data;
        p.expert = layout.expert;
        p.devices = layout.devices() * groups;
        p.batch = batch * layout.data;
        p.most_batch = most * layout.data;
        return layout.data;
    }

    bool within(double ttft_s, double tpot_s) const {
        return (o_.ttft_limit_s <= 0.0 || ttft_s <= o_.ttft_limit_s) &&
               (o_.tpot_limit_s <= 0.0 || tpot_s <= o_.tpot_limit_s);
    }

    // Each device sends its part of a prompt's cache to its peer in a decode group.
    double transfer_s(Count tensor) const {
        const Count stride = o_.prefill_layout(tensor).devices() * o_.prefill_groups;
        const Count devices = stride + o_.layout(tensor).devices() * o_.decode_groups;
        const Group peers = place_group(fabric_, 2, stride, devices);
        return send_time(fabric_, peers, cache_bytes(t_, tensor, o_.cache(), o_.prompt)).time_s();
    }

    // Steps that compute `prompts` prompts, beside so many next tokens.
    double prompt_steps_s(EngineSteps& clock, Count decoding, Count prompts) const {
        const double context = static_cast<double>(o_.prompt + o_.answer / 2);
        const Count room =
            o_.engine.splits
                ? std::max<Count>(o_.engine.chunk - decoding * (1 + o_.speculation.tokens), 1)
                : std::max<Count>(o_.prompt, o_.engine.chunk);
        double seconds = 0.0;
        for (Count done = o_.cached; done < o_.prompt;) {
            const Count fresh = std::min(o_.prompt - done, room);
            EngineLoad load{
                decoding, decoding > 0 ? context : 0.0, 1 + o_.speculation.tokens, {}, 0};
            load.pieces.assign(static_cast<std::size_t>(prompts), {fresh, done});
            done += fresh;
            load.finished = done == o_.prompt ? prompts : 0;
            seconds += clock.step(load).time_s();
        }
        return seconds;
    }

    const Transformer& t_;
    model::Machine machine_;
    const model::Fabric& fabric_;
    ServingOptions o_;
    std::stop_token stop_;
    double capacity_ = 0.0;
    std::map<Count, EngineSteps> steps_;
    std::unique_ptr<ServingOptions> prefill_options_;
    std::unique_ptr<EngineSteps> prefill_steps_;
};

Diagnostics check(const Transformer& t, const ServingOptions& o) {
    Diagnostics found;
    if (o.cached < 0 || o.cached >= o.prompt) {
        found.error("bad-cached",
                    fmt::format("{} cached tokens leave nothing of a prompt of {} to compute",
                                o.cached, o.prompt),
                    fmt::format("at most --cached-prompt {}", o.prompt - 1));
    }
    if ((o.prefill_groups > 0) != (o.decode_groups > 0)) {
        found.error("bad-degree", "prompts and next tokens on separate devices need groups of both",
                    "as in --prefill-groups 2 --decode-groups 6");
    }
    if (o.prefill && o.decode_groups <= 0) {
        found.error("bad-degree", "a layout of prompts needs devices of their own",
                    "as in --prefill-groups 2 --decode-groups 6");
    }
    const auto& draft = o.speculation.draft;
    for (const Count tensor : o.tensor) {
        if (draft && nearest_tensor_degree(*draft, tensor) != tensor) {
            found.error("bad-degree",
                        fmt::format("{} heads of the draft do not divide by tensor {}",
                                    draft->heads, tensor),
                        fmt::format("the nearest that does: --tensor {}",
                                    nearest_tensor_degree(*draft, tensor)));
        }
    }
    if (draft && draft->vocabulary != t.vocabulary) {
        found.error(
            "bad-draft",
            fmt::format("the draft has {} words, the decoder {}", draft->vocabulary, t.vocabulary),
            "a decoder of the same family, such as llama-3.2-1b for llama-3-70b");
    }
    std::vector<ServerLayout> layouts;
    for (const Count tensor : o.tensor) {
        layouts.push_back(o.layout(tensor));
    }
    if (o.prefill) {
        layouts.push_back(*o.prefill);
    }
    for (const ServerLayout& layout : layouts) {
        if (const Count nearest = nearest_tensor_degree(t, layout.tensor);
            nearest != layout.tensor) {
            found.error("bad-degree",
                        fmt::format("{} heads with the keys of {} do not divide by tensor {}",
                                    t.heads, t.kv_heads, layout.tensor),
                        fmt::format("the nearest that does: --tensor {}", nearest));
        } else if (t.experts % layout.expert != 0) {
            found.error(
                "bad-degree",
                fmt::format("{} experts do not divide by expert {}", t.experts, layout.expert),
                t.experts > 1 ? fmt::format("a divisor of {}, such as --expert {}", t.experts,
                                            std::gcd(t.experts, std::max<Count>(layout.expert, 1)))
                              : std::string("leave --expert out: this decoder has no experts"));
        } else if (layout.devices() % layout.expert != 0) {
            found.error("bad-degree",
                        fmt::format("{} devices (tensor {} x data {}) do not divide by expert {}",
                                    layout.devices(), layout.tensor, layout.data, layout.expert),
                        fmt::format("--expert {}", std::gcd(layout.devices(), layout.expert)));
        } else if (t.experts > 1 && t.inner % layout.expert_part() != 0) {
            found.error("bad-degree",
                        fmt::format("{} values of an expert do not divide by the {} devices that "
                                    "share it",
                                    t.inner, layout.expert_part()),
                        fmt::format("--expert {}", layout.devices()));
        }
    }
    return found;
}

void mark_front(std::vector<ServingPoint>& points) {
    for (ServingPoint& p : points) {
        p.front = std::none_of(points.begin(), points.end(), [&](const ServingPoint& q) {
            const bool better = q.per_user() > p.per_user() || q.per_device() > p.per_device();
            return better && q.per_user() >= p.per_user() && q.per_device() >= p.per_device();
        });
    }
}

Diagnostics add_loads(Server& server, const ServingOptions& o, Serving& serving,
                      const ProgressCallback& progress) {
    const auto say = [&](Count tensor, const std::string& what) {
        if (progress) {
            progress({0.0, fmt::format("tensor {}, {}", tensor, what), 0.0, -1.0});
        }
    };
    for (const Count tensor : o.tensor) {
        if (server.most_requests(tensor) < 1) {
            continue;
        }
        const auto add = [&](double rate, Count users) {
            say(tensor, rate > 0.0  ? fmt::format("{:g} requests/s", rate)
                        : users > 0 ? counted(users, "user")
                                    : std::string("recorded arrivals"));
            auto load = server.load(tensor, rate, users);
            if (load) {
                serving.loads.push_back(*std::move(load));
            }
            return load.diagnostics();
        };
        for (const double rate : o.rates) {
            if (auto failed = add(rate, 0); failed.has_errors()) {
                return failed;
            }
        }
        if (o.recorded) {
            if (auto failed = add(0.0, 0); failed.has_errors()) {
                return failed;
            }
        }
        for (const Count users : o.users) {
            if (auto failed = add(0.0, users); failed.has_errors()) {
                return failed;
            }
        }
        if (o.largest_rate) {
            say(tensor, "the largest rate");
            auto best = server.largest(tensor);
            if (!best) {
                return best.diagnostics();
            }
            if (*best) {
                serving.loads.push_back(**std::move(best));
            } else {
                serving.notes.push_back(
                    fmt::format("tensor {}: no rate keeps the limits, however low", tensor));
            }
        }
    }
    return {};
}

Result<Serving> too_small(const Transformer& t, const Server& server, const ServingOptions& o) {
    const Count wanted = o.batches.empty() ? 1 : std::ranges::min(o.batches);
    Count least = t.heads + 1;
    for (const Count degree : tensor_degrees(t)) {
        least = server.most_requests(degree) >= wanted ? std::min(least, degree) : least;
    }
    Count most = 0;
    for (const Count tensor : o.tensor) {
        most = std::max(most, server.most_requests(tensor));
    }
    if (most > 0) {
        return Result<Serving>::failure(
            "no-memory",
            fmt::format("{} do not fit together, {} at most", counted(wanted, "request"), most),
            fmt::format("--requests {}{}", most,
                        least <= t.heads ? fmt::format(", or --tensor {}", least)
                                         : std::string(", or fewer tokens per request")));
    }
    return Result<Serving>::failure(
        "no-memory",
        fmt::format(
            "weights of {:.1f} GB per device and the cache of a request do not fit {:.1f} GB",
            all_weight_bytes(t, o.tensor.back(), o) / 1e9, server.capacity() / 1e9),
        least <= t.heads ? fmt::format("the nearest that works: --tensor {}", least)
                         : std::string("fewer tokens per request, or a device with more memory"));
}

} // namespace

double Speculation::made() const {
    double sum = 1.0;
    double passed = 1.0;
    for (Count i = 0; i < tokens; ++i) {
        passed *= acceptance;
        sum += passed;
    }
    return sum;
}

Result<Serving> serve(const Transformer& t, const model::Machine& machine,
                      const model::Fabric& fabric, const ServingOptions& options,
                      std::stop_token stop, const ProgressCallback& progress) {
    if (auto found = check(t, options); found.has_errors()) {
        return found;
    }
    Server server(t, machine, fabric, options, stop);
    if (server.capacity() <= 0.0) {
        return Result<Serving>::failure(
            "no-memory",
            fmt::format("{} has no memory of its own that weights and a cache stay in",
                        machine.name),
            "name a GPU or a host processor, such as --on h100-sxm-80gb");
    }
    if (options.prefill && !server.prompts_fit()) {
        return Result<Serving>::failure(
            "no-memory",
            fmt::format("weights do not fit the {} that compute prompts",
                        counted(options.prefill->devices(), "device")),
            "a larger --prefill-tensor or --prefill-expert");
    }
    Serving serving;
    serving.network = t.name;
    serving.machine = machine.name;
    serving.fabric = fabric.name;
    serving.prompt = options.prompt;
    serving.answer = options.answer;
    serving.cached = options.cached;
    serving.limited = options.ttft_limit_s > 0.0 || options.tpot_limit_s > 0.0;
    serving.capacity_bytes = server.capacity();
    serving.engine = options.engine;
    serving.speculation = options.speculation;
    serving.prefill_groups = options.prefill_groups;
    serving.decode_groups = options.decode_groups;
    for (const Count tensor : options.tensor) {
        const Count most = server.most_requests(tensor);
        std::vector<Count> batches;
        for (Count b = 1; b < most; b *= 2) {
            batches.push_back(b);
        }
        if (most > 0) {
            batches.push_back(most);
        }
        const Count data = options.layout(tensor).data;
        if (!options.batches.empty()) {
            batches.clear();
            for (const Count all : options.batches) {
                batches.push_back(part(all, data));
            }
        }
        const auto beyond = std::erase_if(batches, [&](Count batch) { return batch > most; });
        if (beyond > 0 || batches.empty()) {
            serving.notes.push_back(fmt::format("tensor {}: at most {} at once", tensor,
                                                counted(most * data, "request")));
        }
        for (const Count batch : batches) {
            if (progress) {
                progress({0.0,
                          fmt::format("tensor {}, {}", tensor, counted(batch * data, "request")),
                          0.0, -1.0});
            }
            auto point = options.decode_groups > 0 ? server.point_apart(tensor, batch, most)
                                                   : server.point(tensor, batch, most);
            if (!point) {
                return point.diagnostics();
            }
            serving.points.push_back(*std::move(point));
        }
    }
    if (serving.points.empty()) {
        return too_small(t, server, options);
    }
    if (auto failed = add_loads(server, options, serving, progress); failed.has_errors()) {
        return failed;
    }
    mark_front(serving.points);
    for (std::size_t i = 0; i < serving.points.size(); ++i) {
        const ServingPoint& p = serving.points[i];
        if (p.within &&
            (!serving.best || p.per_device() > serving.points[*serving.best].per_device())) {
            serving.best = i;
        }
    }
    return serving;
}

} // namespace eyeroof::analysis
