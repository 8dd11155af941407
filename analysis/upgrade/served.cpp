// Servers of an upgrade question, one on each side.
#include "analysis/exam/words.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/upgrade/sharded.hpp"
#include "analysis/upgrade/verdict.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace eyeroof::analysis {

namespace {

constexpr double kServerSigmas = 2.0 * 1.2816; // low … high of an interval
constexpr double kUnmeasuredSigma = 1.1;       // ln 3: of servers of accelerators
constexpr std::array<Count, 4> kServerDegrees = {1, 2, 4, 8};

model::Fabric joins_nothing() {
    model::Fabric alone;
    alone.name = "one GPU";
    alone.levels.resize(1);
    alone.levels.front().size = 1;
    return alone;
}

ServingOptions server_options(const Question& question, const Transformer& decoder,
                              const ServedRequests& requests, bool several) {
    ServingOptions o;
    o.prompt = requests.prompt;
    o.answer = requests.answer;
    if (requests.at_once) {
        o.batches = {*requests.at_once};
    }
    o.ttft_limit_s = requests.ttft_limit_s;
    o.tpot_limit_s = requests.tpot_limit_s;
    o.engine = requests.engine;
    o.type = question.scenario.data_type.value_or(main_type(question.network));
    o.exam = question.scenario;
    o.exam.batch = std::nullopt;
    o.host = question.host;
    o.tensor.clear();
    for (const Count degree : kServerDegrees) {
        if ((several || degree == 1) && nearest_tensor_degree(decoder, degree) == degree) {
            o.tensor.push_back(degree);
        }
    }
    return o;
}

std::string server_words(const ServingPoint& p, const model::Machine& machine,
                         const Engine& engine) {
    const double messages = 100.0 * p.message_s / p.step_s;
    const bool gpu = std::holds_alternative<model::Gpu>(machine.kind);
    return fmt::format(
        "{}: {} at a time on {}; messages take {:.0f} % of a step{}", machine.id,
        counted(p.batch, "request"), counted(p.devices, gpu ? "GPU" : "accelerator"), messages,
        p.batch < p.most_batch ? ""
        : p.engine_full        ? fmt::format(", {} takes no more requests by default", engine.name)
                               : ", memory holds no more requests");
}

// The question's batch becomes the requests that the server runs at a time.
Result<Shard> server_on(Question& question, const std::optional<model::Fabric>& fabric,
                        const char* fabric_option, const ServedRequests& requests) {
    const auto decoder = transformer_of(question.network);
    if (!decoder) {
        return decoder.diagnostics();
    }
    const model::Fabric joined = fabric.value_or(joins_nothing());
    const ServingOptions o = server_options(question, *decoder, requests, fabric.has_value());
    const auto serving = serve(*decoder, question.machine, joined, o);
    if (!serving) {
        const Diagnostic& why = *serving.diagnostics().begin();
        return why.code != "no-memory"
                   ? Result<Shard>(serving.diagnostics())
                   : Result<Shard>::failure(
                         why.code, question.machine.id + ": " + why.message,
                         fabric ? "fewer tokens or requests, or a machine with more memory"
                                : fmt::format("what joins several: {} FABRIC|FILE", fabric_option));
    }
    if (!serving->best) {
        return Result<Shard>::failure(
            "limits", fmt::format("no server of {} keeps the limits", question.machine.id),
            "a larger --ttft or --tpot, or a shorter --prompt");
    }
    const ServingPoint& p = serving->points[*serving->best];
    question.scenario.batch = p.batch;
    Shard shard;
    shard.devices = p.devices;
    shard.plan = server_words(p, question.machine, requests.engine);
    shard.fabric = joined.name;
    shard.step_s = static_cast<double>(requests.answer) / p.tokens_per_s;
    shard.sigma = std::holds_alternative<model::Accelerator>(question.machine.kind)
                      ? kUnmeasuredSigma
                      : std::log(p.rate_band.high / p.rate_band.low) / kServerSigmas;
    shard.need.weights = p.weight_bytes;
    shard.need.activations = p.cache_bytes;
    shard.capacity = serving->capacity_bytes;
    shard.server = p;
    return shard;
}

} // namespace

Result<ShardedPair> served(const FleetMember& member, const model::Machine& from,
                           const model::Machine& to, const UpgradeOptions& options,
                           const ShardFabrics& fabrics, std::optional<int> count,
                           const ServedRequests& requests) {
    UpgradeOptions own = options;
    own.edges = member.edges;
    own.from = member.from.value_or(options.from);
    own.to = member.to.value_or(options.to);
    Question before = side_of(member.network, from, own, true);
    Question after = side_of(member.network, to, own, false);
    const auto old_server = server_on(before, fabrics.from, "--from-fabric", requests);
    const auto new_server = server_on(after, fabrics.to, "--to-fabric", requests);
    Diagnostics all = old_server.diagnostics();
    all.append(new_server.diagnostics());
    if (all.has_errors()) {
        return all;
    }
    if (count && *count < old_server->devices) {
        return Result<ShardedPair>::failure(
            "no-memory", fmt::format("a server takes {} {}", old_server->devices, from.id),
            fmt::format("--count {} or more", old_server->devices));
    }
    const Count servers = count ? *count / old_server->devices : 1;
    const double work = static_cast<double>(servers) * old_server->samples_per_s();
    const auto new_servers = std::max<Count>(
        static_cast<Count>(std::ceil(work / new_server->samples_per_s() - 1e-9)), 1);
    ShardedPair pair{*old_server,
                     *new_server,
                     servers * old_server->devices,
                     new_servers * new_server->devices,
                     new_server->devices,
                     scenario_words(before, false),
                     scenario_words(after, false),
                     ""};
    pair.run = fmt::format("requests of {} prompt and {} output tokens served by {}; times are "
                           "GPU-seconds of a request",
                           requests.prompt, requests.answer, requests.engine.id);
    return pair;
}

} // namespace eyeroof::analysis
