#include "analysis/upgrade/posterior.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

namespace {

// How much of a step's own error, ln(measured rate / predicted rate), the speed-up shares, and what
// is left of its spread: of 90 recipes of 5 families on V100 and A100, a family held out; see
// docs/upgrade.md, "Your own measurement".
constexpr double kOldShare = 0.2, kOldLeft = 0.90;
constexpr double kNewShare = 0.3, kNewLeft = 0.86;
constexpr double kMeasuredSigma = 0.03; // two runs of one program
// A rate farther from the prediction is of another run, or in another unit; unsourced.
constexpr double kFarthest = 3.0;
constexpr std::size_t kNearest = 5;

// ln(measured rate / predicted rate), as far as it is taken.
double rate_error(double measured, double predicted, Upgrade& u) {
    const double ratio = measured / predicted;
    if (ratio > kFarthest || ratio < 1.0 / kFarthest) {
        u.far_rate = predicted;
    }
    return std::clamp(std::log(ratio), -std::log(kFarthest), std::log(kFarthest));
}

void weigh_rates(const UpgradeOptions& options, double& ln, Upgrade& u) {
    const double own_old = static_cast<double>(u.from_batch) / u.from_s;
    const double own_new = static_cast<double>(u.to_batch) / u.to_s;
    if (options.from_rate && options.to_rate) {
        ln = std::log(*options.to_rate / *options.from_rate);
        u.sigma = kMeasuredSigma;
    } else if (options.from_rate) {
        ln += kOldShare * rate_error(*options.from_rate, own_old, u);
        u.sigma *= kOldLeft;
    } else if (options.to_rate) {
        ln += kNewShare * rate_error(*options.to_rate, own_new, u);
        u.sigma *= kNewLeft;
    }
    u.measured_from_rate = options.from_rate;
    u.measured_to_rate = options.to_rate;
}

// Both times from the speed-up, and from the side that was measured where one was.
void set_times(double speedup, Upgrade& u) {
    const auto old_batch = static_cast<double>(u.from_batch);
    const auto new_batch = static_cast<double>(u.to_batch);
    if (u.measured_to_rate && !u.measured_from_rate) {
        u.to_s = new_batch / *u.measured_to_rate;
        u.from_s = u.to_s * speedup * old_batch / new_batch;
        return;
    }
    u.from_s = u.measured_from_rate ? old_batch / *u.measured_from_rate : u.from_s;
    u.to_s = u.from_s / speedup * new_batch / old_batch;
}

std::string generation_of(const model::Machine& machine) {
    const auto* gpu = std::get_if<model::Gpu>(&machine.kind);
    return gpu == nullptr ? machine.id : std::string(model::gpu_arch_name(gpu->arch));
}

EvidenceKey evidence_key(const model::Network& network, const model::Machine& from,
                         const model::Machine& to, const Upgrade& upgrade) {
    const auto gap = upgrade.kind.find(' ');
    return {family_of(network.id),
            upgrade.kind.substr(0, gap),
            gap == std::string::npos ? "" : upgrade.kind.substr(gap + 1),
            from.id,
            to.id,
            generation_of(from),
            generation_of(to)};
}

// The speed-up cannot fall below 1 towards a GPU that lacks nothing, nor exceed 1 on the way back.
double kept_possible(double ln, double model_ln, const model::Machine& from,
                     const model::Machine& to) {
    const auto& old_gpu = std::get<model::Gpu>(from.kind);
    const auto& new_gpu = std::get<model::Gpu>(to.kind);
    if (model_ln >= 0.0 && lacks_nothing(new_gpu, old_gpu)) {
        return std::max(ln, 0.0);
    }
    return model_ln <= 0.0 && lacks_nothing(old_gpu, new_gpu) ? std::min(ln, 0.0) : ln;
}

} // namespace

void weigh_evidence(const UpgradeOptions& options, const model::Network& network,
                    const model::Machine& from, const model::Machine& to, bool of_gpus,
                    Upgrade& u) {
    const double model_ln = std::log(u.model_speedup);
    double ln = (of_gpus ? options.transfer.share : 1.0) * model_ln;
    u.transfer_ln = ln - model_ln;
    if (options.evidence && of_gpus && !u.of_hosts()) {
        const EvidenceKey key = evidence_key(network, from, to, u);
        const EvidenceShift shift = options.evidence->shift(key);
        u.evidence_ln = kept_possible(ln + shift.ln, model_ln, from, to) - ln;
        ln += u.evidence_ln;
        u.sigma = std::sqrt(std::max(u.sigma * u.sigma - shift.explained,
                                     std::min(u.sigma * u.sigma, kEvidenceNoise * kEvidenceNoise)));
        for (const Resemblance& near : options.evidence->nearest(key, kNearest)) {
            u.nearest.push_back({*near.row, near.share});
        }
    }
    weigh_rates(options, ln, u);
    if (ln != model_ln) {
        u.speedup.value = std::exp(ln);
        set_times(u.speedup.value, u);
    }
}

} // namespace eyeroof::analysis
