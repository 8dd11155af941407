#include "analysis/scale/serving.hpp"

#include "analysis/scale/server.hpp"
#include "analysis/scale/split.hpp"
#include "base/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace eyeroof::analysis {

namespace {

Diagnostics check(const Transformer& t, const ServingOptions& o) {
    Diagnostics found;
    if (o.cached < 0 || o.cached >= o.prompt) {
        found.error("bad-cached",
                    fmt::format("{} cached tokens leave no token of a prompt of {} to compute",
                                o.cached, o.prompt),
                    fmt::format("at most --cached-prompt {}", o.prompt - 1));
    }
    if ((o.prefill_groups > 0) != (o.decode_groups > 0)) {
        found.error("bad-degree", "prefill groups and decode groups need each other",
                    "as in --prefill-groups 2 --decode-groups 6");
    }
    if (o.prefill && o.decode_groups <= 0) {
        found.error("bad-degree", "a layout of prefill needs prefill groups",
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
        found.error("bad-draft",
                    fmt::format("the draft has a vocabulary of {} tokens, the decoder of {}",
                                draft->vocabulary, t.vocabulary),
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
                    fmt::format("tensor {}: no request rate meets the limits", tensor));
            }
        }
    }
    return {};
}

void note_silent(const std::vector<RequestSize>& sizes, std::vector<std::string>& notes) {
    if (const auto silent = std::ranges::count(sizes, 0, &RequestSize::answer)) {
        notes.push_back(fmt::format(
            "{} of the file without output tokens: complete at the end of the prompt, and not "
            "counted in TTFT and TPOT",
            counted(silent, "request")));
    }
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
    ServingOptions narrow = o;
    narrow.type = model::DataType::fp8;
    const bool fp8 = o.weights() == o.type && model::storage_bits(o.type) > 8 &&
                     server.computes(narrow.type) &&
                     server.most_requests(o.tensor.back(), narrow) > 0;
    const std::string degree = least <= t.heads ? fmt::format("--tensor {}", least) : "";
    return Result<Serving>::failure(
        "no-memory",
        fmt::format(
            "weights of {:.1f} GB per device and the cache of a request do not fit {:.1f} GB",
            server_weight_bytes(t, o.tensor.back(), o) / 1e9, server.capacity() / 1e9),
        fp8 || !degree.empty()
            ? fmt::format("the nearest that works: {}{}{}", fp8 ? "--dtype fp8" : "",
                          fp8 && !degree.empty() ? ", or " : "", degree)
            : "fewer tokens per request, or a device with more memory");
}

// Requests at once of one replica: those asked for, else powers of two up to the most, and those at
// which prompts begin to wait.
std::vector<Count> batches_of(const ServingOptions& options, Count most, Count saturation,
                              Count data) {
    std::vector<Count> batches;
    for (const Count all : options.batches) {
        batches.push_back(part(all, data));
    }
    if (options.batches.empty() && most > 0) {
        std::set<Count> tried{most, std::min(most, saturation)};
        for (Count b = 1; b < most; b *= 2) {
            tried.insert(b);
        }
        batches.assign(tried.begin(), tried.end());
    }
    return batches;
}

// The most requests that keep the limits, where `at` says so of `low` and not of `high`: the points
// of both, as far as they are new.
template <class At>
Diagnostics add_edge(Count low, Count high, const At& at, std::vector<ServingPoint>& points) {
    std::optional<ServingPoint> last;
    std::optional<ServingPoint> first; // that breaks a limit
    while (high - low > 1) {
        const Count middle = low + (high - low) / 2;
        auto point = at(middle);
        if (!point) {
            return point.diagnostics();
        }
        (point->within ? low : high) = middle;
        (point->within ? last : first) = *std::move(point);
    }
    for (auto* point : {&last, &first}) {
        if (*point) {
            points.push_back(**std::move(point));
        }
    }
    return {};
}

// The points of a degree, by requests.
Diagnostics add_points(Server& server, Count tensor, const ServingOptions& options,
                       Serving& serving, const ProgressCallback& progress) {
    const Count most = server.most_requests(tensor);
    const Count data = options.layout(tensor).data;
    const Count saturation = options.decode_groups > 0 ? most : server.saturation();
    std::vector<Count> batches = batches_of(options, most, saturation, data);
    const auto beyond = std::erase_if(batches, [&](Count batch) { return batch > most; });
    if (beyond > 0 || batches.empty()) {
        serving.notes.push_back(
            fmt::format("tensor {}: at most {} at once", tensor, counted(most * data, "request")));
    }
    const auto at = [&](Count batch) {
        if (progress) {
            progress({0.0, fmt::format("tensor {}, {}", tensor, counted(batch * data, "request")),
                      0.0, -1.0});
        }
        return options.decode_groups > 0 ? server.point_apart(tensor, batch, most)
                                         : server.point(tensor, batch, most);
    };
    std::vector<ServingPoint> points;
    Count kept = 0; // the largest number that keeps the limits, and the next one
    Count broken = 0;
    for (const Count batch : batches) {
        auto point = at(batch);
        if (!point) {
            return point.diagnostics();
        }
        kept = point->within ? batch : kept;
        broken = point->within ? 0 : broken > 0 ? broken : batch;
        points.push_back(*std::move(point));
    }
    if (options.batches.empty() && kept > 0 && broken > 0) {
        if (auto failed = add_edge(kept, broken, at, points); failed.has_errors()) {
            return failed;
        }
        std::ranges::sort(points, {}, &ServingPoint::batch);
    }
    std::ranges::move(points, std::back_inserter(serving.points));
    return {};
}

} // namespace

void draft_by_own_layer(const Transformer& t, Speculation& speculation) {
    Transformer& draft = speculation.draft.emplace(t);
    draft.name = t.name + "'s own layer";
    draft.layers = 1;
    draft.dense_layers = draft.window.layers = draft.states.layers = 0;
    speculation.shares_ends = true;
}

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
    serving.ttft_limit_s = options.ttft_limit_s;
    serving.tpot_limit_s = options.tpot_limit_s;
    serving.capacity_bytes = server.capacity();
    if (std::holds_alternative<model::Accelerator>(machine.kind)) {
        serving.notes.emplace_back("the host is not modeled; intervals are those of GPU servers, "
                                   "because no server of accelerators was measured");
    }
    serving.engine = options.engine;
    serving.speculation = options.speculation;
    serving.prefill_groups = options.prefill_groups;
    serving.decode_groups = options.decode_groups;
    for (const Count tensor : options.tensor) {
        if (auto failed = add_points(server, tensor, options, serving, progress);
            failed.has_errors()) {
            return failed;
        }
    }
    if (serving.points.empty()) {
        return too_small(t, server, options);
    }
    note_silent(options.sizes, serving.notes);
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
