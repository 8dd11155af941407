#include "analysis/upgrade/sharded.hpp"

#include "analysis/exam/words.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/scale/search.hpp"
#include "analysis/scale/serving.hpp"
#include "analysis/upgrade/assumptions.hpp"
#include "analysis/upgrade/tokens.hpp"
#include "analysis/upgrade/verdict.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

namespace {

constexpr double kShardSigmas = 2.0 * 1.2816; // low … high of an interval
constexpr double kUnknownSigma = 0.25;        // of a step without an interval
constexpr Count kMostShards = 1024;
constexpr Count kSequencesEach = 8; // of a training step, for each GPU, where no batch is asked
constexpr Count kWidestTensor = 16;

Shard shard_of(const ScalePoint& point, const std::string& fabric) {
    Shard shard;
    shard.devices = point.devices;
    shard.plan = point.strategy;
    shard.fabric = fabric;
    shard.batch = point.batch;
    shard.step_s = point.step_s;
    shard.sigma = point.low_s && point.high_s && *point.low_s > 0.0
                      ? std::log(*point.high_s / *point.low_s) / kShardSigmas
                      : kUnknownSigma;
    const DeviceMemory& m = point.memory;
    shard.need = {m.weights, m.gradients, m.optimizer, m.activations, m.buffers};
    shard.capacity = m.capacity;
    return shard;
}

Result<Shard> first_that_fits(const Result<ScaleResult>& result, const std::string& fabric) {
    if (!result) {
        return result.diagnostics();
    }
    const ScalePoint& point = result->points.front();
    if (!point.memory.fits()) {
        return Result<Shard>::failure(
            "no-memory",
            fmt::format("{} per device of {} devices, each of which has {}",
                        format_si(point.memory.total(), "B"), point.devices,
                        format_si(point.memory.capacity, "B")),
            "more devices, or devices with more memory");
    }
    return shard_of(point, fabric);
}

model::DataType type_of(const Question& question) {
    return question.scenario.data_type.value_or(main_type(question.network));
}

Count length_of(const model::Network& network) {
    return static_cast<Count>(std::max(tokens_of_sample(network).value_or(1.0), 1.0));
}

Result<Shard> decoder_step(const Question& question, const Transformer& decoder,
                           const model::Fabric& fabric, Count devices, Count batch) {
    TransformerOptions options;
    options.batch = batch;
    options.length = length_of(question.network);
    options.type = type_of(question);
    options.exam = question.scenario;
    options.exam.batch = std::nullopt;
    return first_that_fits(
        search_transformer(decoder, question.machine, fabric, {devices}, options), fabric.name);
}

Result<Shard> data_parallel_step(const Question& question, const model::Fabric& fabric,
                                 Count devices, Count batch) {
    ScaleOptions options;
    options.devices = {devices};
    options.batch = batch;
    options.data.zero = 3;
    Question of_one = question;
    of_one.scenario.batch = std::nullopt;
    return first_that_fits(scale_data_parallel(of_one, fabric, options), fabric.name);
}

Result<Shard> decoder_prompt(const Question& question, const Transformer& decoder,
                             const model::Fabric& fabric, Count devices, Count batch) {
    ServingOptions options;
    options.prompt = length_of(question.network);
    options.answer = 1;
    options.tensor = {devices};
    options.batches = {1};
    options.type = type_of(question);
    options.exam = question.scenario;
    options.exam.batch = std::nullopt;
    options.host = question.host;
    const auto served = serve(decoder, question.machine, fabric, options);
    if (!served) {
        return served.diagnostics();
    }
    const ServingPoint& point = served->points.front();
    Shard shard;
    shard.devices = devices;
    shard.plan = fmt::format("products divided over {}, one prompt after the other", devices);
    shard.fabric = fabric.name;
    shard.batch = batch;
    shard.step_s = static_cast<double>(batch) * point.prefill_s;
    shard.sigma = std::isfinite(point.ttft_band.high) && point.ttft_band.low > 0.0
                      ? std::log(point.ttft_band.high / point.ttft_band.low) / kShardSigmas
                      : kUnknownSigma;
    shard.need.weights = point.weight_bytes;
    shard.need.activations = point.cache_bytes;
    shard.capacity = served->capacity_bytes;
    return shard;
}

// 1, 2, 3, 4, 6, 8, 12, 16, …
std::vector<Count> counts_to(Count most) {
    std::vector<Count> counts = {1};
    for (Count n = 2; n <= most; n *= 2) {
        counts.push_back(n);
        if (n + n / 2 <= most) {
            counts.push_back(n + n / 2);
        }
    }
    return counts;
}

// Over the numbers in order, the first that `enough` takes; the last error where none does.
template <class Enough>
Result<Shard> first_shard(const Question& question, const model::Fabric& fabric, Count batch,
                          Count most, const Enough& enough) {
    auto last = Result<Shard>::failure(
        "too-many-devices",
        fmt::format("even {} {} do not do the same work", most, question.machine.id),
        "fewer old GPUs, or another candidate");
    const auto few = last;
    bool fitted = false;
    for (const Count devices : counts_to(most)) {
        auto shard = shard_on(question, fabric, devices, batch);
        if (shard && enough(*shard)) {
            return shard;
        }
        fitted = fitted || shard.ok();
        if (!shard) {
            last = std::move(shard);
        }
    }
    return fitted ? few : last;
}

Result<ShardedPair> training_pair(const Question& before, const Question& after,
                                  const ShardFabrics& fabrics, std::optional<int> count,
                                  std::optional<Count> asked) {
    const Count once = own_batch(before.network);
    const auto batch_for = [&](Count devices) {
        return asked.value_or(once * kSequencesEach * devices);
    };
    if (count && *count > kMostShards) {
        return Result<ShardedPair>::failure(
            "too-many-devices", fmt::format("at most {} GPUs take one step", kMostShards),
            "ask for a part of them");
    }
    Result<Shard> from = Result<Shard>::failure("", "");
    if (count) {
        from = shard_on(before, *fabrics.from, *count, batch_for(*count));
    } else {
        for (const Count devices : counts_to(kMostShards)) {
            from = shard_on(before, *fabrics.from, devices, batch_for(devices));
            if (from) {
                break;
            }
        }
    }
    if (!from) {
        return from.diagnostics();
    }
    const double rate = from->samples_per_s();
    Count fewest = 0;
    auto to = first_shard(after, *fabrics.to, from->batch, std::min(4 * from->devices, kMostShards),
                          [&](const Shard& shard) {
                              fewest = fewest > 0 ? fewest : shard.devices;
                              return shard.samples_per_s() >= rate;
                          });
    if (!to) {
        return to.diagnostics();
    }
    return ShardedPair{*from, *to, from->devices, to->devices, fewest, "", "", ""};
}

Result<ShardedPair> inference_pair(const Question& before, const Question& after,
                                   const ShardFabrics& fabrics, std::optional<int> count,
                                   Count batch) {
    const auto any = [](const Shard&) { return true; };
    const auto from = first_shard(before, *fabrics.from, batch, kWidestTensor, any);
    const auto to = first_shard(after, *fabrics.to, batch, kWidestTensor, any);
    Diagnostics all = from.diagnostics();
    all.append(to.diagnostics());
    if (!from || !to) {
        return all;
    }
    if (count && *count < from->devices) {
        return Result<ShardedPair>::failure(
            "no-memory",
            fmt::format("{} {} are needed to hold it", from->devices, before.machine.id),
            fmt::format("--count {} or more", from->devices));
    }
    const Count groups = count ? *count / from->devices : 1;
    const double work = static_cast<double>(groups) * from->samples_per_s();
    const auto new_groups =
        static_cast<Count>(std::ceil(work / to->samples_per_s() - 1e-9)); // at least 1
    return ShardedPair{*from,
                       *to,
                       groups * from->devices,
                       std::max<Count>(new_groups, 1) * to->devices,
                       to->devices,
                       "",
                       "",
                       ""};
}

std::string note_of(const Shard& shard, const std::string& gpu) {
    return fmt::format("{}: {} hold it, {} for a step of {} over {}; {}", gpu, shard.devices,
                       format_si(shard.step_s, "s"), shard.batch, shard.fabric, shard.plan);
}

} // namespace

Result<Shard> shard_on(const Question& question, const model::Fabric& fabric, Count devices,
                       Count batch) {
    const auto decoder = transformer_of(question.network);
    if (!question.scenario.training) {
        return decoder
                   ? decoder_prompt(question, *decoder, fabric, devices, batch)
                   : Result<Shard>::failure("not-divided", "only decoders are divided in inference",
                                            "a GPU with more memory");
    }
    return decoder ? decoder_step(question, *decoder, fabric, devices, batch)
                   : data_parallel_step(question, fabric, devices, batch);
}

Result<ShardedPair> sharded(const FleetMember& member, const model::Machine& from,
                            const model::Machine& to, const UpgradeOptions& options,
                            const ShardFabrics& fabrics, std::optional<int> count) {
    UpgradeOptions own = options;
    own.edges = member.edges;
    own.from = member.from.value_or(options.from);
    own.to = member.to.value_or(options.to);
    if (options.from_rate || options.to_rate) {
        return Result<ShardedPair>::failure(
            "measured-rate", "a measured throughput is that of one GPU, which does not hold it",
            "leave out --measured-old and --measured-new");
    }
    for (const auto& [fabric, machine] :
         {std::pair{&fabrics.from, &from}, std::pair{&fabrics.to, &to}}) {
        if (!*fabric) {
            return Result<ShardedPair>::failure(
                "no-fabric",
                fmt::format("the fabric between several {} is unknown: give {}", machine->id,
                            machine == &from ? "--from-fabric" : "--to-fabric"),
                "as in --to-fabric dgx-a100-hdr");
        }
    }
    Question before = side_of(member.network, from, own, true);
    Question after = side_of(member.network, to, own, false);
    const auto asked = member.largest ? std::nullopt : own.from.batch;
    auto pair = own.from.training
                    ? training_pair(before, after, fabrics, count, asked)
                    : inference_pair(before, after, fabrics, count, asked.value_or(1));
    if (pair) {
        before.scenario.batch = pair->from.batch;
        after.scenario.batch = pair->to.batch;
        pair->from_words = scenario_words(before);
        pair->to_words = scenario_words(after);
        own.from.batch = pair->from.batch;
        own.to.batch = pair->to.batch;
        pair->run =
            fmt::format("{}, divided over {} and {} GPUs; times are GPU-seconds",
                        run_text(member.network, own), pair->from.devices, pair->to.devices);
    }
    return pair;
}

void take_sharded(const ShardedPair& pair, const model::Machine& from, const model::Machine& to,
                  Upgrade& u) {
    u.run = pair.run;
    u.from_words = pair.from_words;
    u.to_words = pair.to_words;
    u.from_batch = pair.from.batch;
    u.to_batch = pair.to.batch;
    u.from_s = u.from_model_s = pair.from.step_s * static_cast<double>(pair.from.devices);
    u.to_s = u.to_model_s = pair.to.step_s * static_cast<double>(pair.to.devices);
    u.model_speedup = u.speedup.value =
        u.from_s / u.to_s * static_cast<double>(u.to_batch) / static_cast<double>(u.from_batch);
    u.transfer_ln = u.evidence_ln = 0.0;
    u.nearest.clear();
    u.sigma = std::max(std::hypot(pair.from.sigma, pair.to.sigma), u.error.spread);
    u.from_step = u.to_step = {};
    u.layers.clear();
    u.assumptions.clear();
    u.notes = {note_of(pair.from, u.from), note_of(pair.to, u.to)};
    u.memory.from_need = pair.from.need;
    u.memory.to_need = pair.to.need;
    u.memory.from_bytes = pair.from.capacity;
    u.memory.to_bytes = pair.to.capacity;
    u.watts = {board_watts(from), board_watts(to)};
    u.unfit.clear();
}

} // namespace eyeroof::analysis
