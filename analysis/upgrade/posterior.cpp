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

} // namespace

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

void weigh_evidence(const UpgradeOptions& options, const EvidenceKey& key, bool of_gpus,
                    Upgrade& u) {
    double ln = (of_gpus ? options.transfer.share : 1.0) * std::log(u.model_speedup);
    u.transfer_ln = ln - std::log(u.model_speedup);
    if (options.evidence && of_gpus && !u.of_hosts()) {
        const EvidenceShift shift = options.evidence->shift(key);
        u.evidence_ln = shift.ln;
        ln += shift.ln;
        u.sigma = std::sqrt(std::max(u.sigma * u.sigma - shift.explained,
                                     std::min(u.sigma * u.sigma, kEvidenceNoise * kEvidenceNoise)));
        for (const Resemblance& near : options.evidence->nearest(key, kNearest)) {
            u.nearest.push_back({*near.row, near.share});
        }
    }
    weigh_rates(options, ln, u);
    if (ln != std::log(u.model_speedup)) {
        u.speedup.value = std::exp(ln);
        set_times(u.speedup.value, u);
    }
}

} // namespace eyeroof::analysis
