// A network that exceeds one GPU, divided over several: the best plan of analysis/scale on the
// present GPUs, and the fewest new GPUs that do the same work.
#pragma once

#include "analysis/scale/serving.hpp"
#include "analysis/upgrade/upgrade.hpp"
#include "model/machine/fabric.hpp"

#include <optional>
#include <string>

namespace eyeroof::analysis {

// One side: so many GPUs that hold the network once.
struct Shard {
    Count devices = 1;
    std::string plan;   // "tensor 8 x pipeline 1 x data 2, …"
    std::string fabric; // that joins them
    Count batch = 1;    // samples of a step of all of them
    double step_s = 0.0;
    double sigma = 0.0;                      // standard deviation of ln(step_s)
    MemoryNeed need;                         // of one device
    double capacity = 0.0;                   // that it has, bytes
    std::optional<ServingPoint> server = {}; // of a service
    double samples_per_s() const { return static_cast<double>(batch) / step_s; }

    bool operator==(const Shard&) const = default;
};

// What joins the GPUs of either side; nullopt: not known.
struct ShardFabrics {
    std::optional<model::Fabric> from, to;

    bool operator==(const ShardFabrics&) const = default;
};

// `devices` of the question's machine. Training of a decoder: the best plan of
// search_transformer(); of other networks data parallel with ZeRO 3. Inference of a decoder:
// products divided over `devices` (serve()), one prompt after the other. Errors: of those;
// "not-divided" for other inference.
Result<Shard> shard_on(const Question& question, const model::Fabric& fabric, Count devices,
                       Count batch);

// Both sides, `count` GPUs on the old one (in training all of them in one step, in inference the
// fewest that hold the network, as often as they come out of `count`), or the fewest that hold it.
// The new side: the fewest that do at least as many samples a second. Errors: of shard_on(), for
// the largest number that was tried; "too-many-devices".
struct ShardedPair {
    Shard from, to;
    Count from_devices = 1, to_devices = 1; // in all
    Count fewest_new = 1;                   // that hold the network at all
    std::string from_words, to_words, run;  // the scenarios, with the batch of the step

    bool operator==(const ShardedPair&) const = default;
};
Result<ShardedPair> sharded(const FleetMember& member, const model::Machine& from,
                            const model::Machine& to, const UpgradeOptions& options,
                            const ShardFabrics& fabrics, std::optional<int> count);

// Requests that a service answers, one sample each.
struct ServedRequests {
    Count prompt = 1024, answer = 256;             // tokens of a request
    std::optional<Count> at_once;                  // nullopt: as many as do most within the limits
    double ttft_limit_s = 0.0, tpot_limit_s = 0.0; // 0: none
    Engine engine;

    bool operator==(const ServedRequests&) const = default;
};

// A decoder that serves requests on both sides, by serve(): of 1, 2, 4, and 8 GPUs together, the
// server with most tokens a second and GPU that keeps the limits. `count`: GPUs of the old side, in
// whole servers. Errors: those of serve(); "no-transformer"; "limits" where no server keeps them.
Result<ShardedPair> served(const FleetMember& member, const model::Machine& from,
                           const model::Machine& to, const UpgradeOptions& options,
                           const ShardFabrics& fabrics, std::optional<int> count,
                           const ServedRequests& requests);

// Puts the pair's figures where those of one GPU stood: times are GPU-seconds of a step, so that
// speed-up, money, and energy (at the boards' limits) are those of one GPU's share.
void take_sharded(const ShardedPair& pair, const model::Machine& from, const model::Machine& to,
                  Upgrade& upgrade);

} // namespace eyeroof::analysis
