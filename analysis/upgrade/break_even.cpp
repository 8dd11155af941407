#include "analysis/upgrade/break_even.hpp"

#include "analysis/program/lower.hpp"
#include "analysis/upgrade/purchase_flips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace eyeroof::analysis {

namespace {

constexpr double kHostRange = 8.0; // slowest and fastest host that is tried, in times
constexpr int kHalvings = 7;       // of ln(kHostRange)

// A verdict of one network by its predictions, which other batches and hosts can move.
bool is_movable(const PurchaseQuestion& question, const PurchaseAnswer& a) {
    const Upgrade& u = a.upgrade;
    const bool judged = u.verdict == UpgradeVerdict::pays_off ||
                        u.verdict == UpgradeVerdict::does_not ||
                        u.verdict == UpgradeVerdict::undecided;
    const bool gpus = a.upgrade.from_step.device_s > 0.0 && a.upgrade.to_step.device_s > 0.0;
    return gpus && judged && question.fleet.size() == 1 && !a.sharded && !question.terms.served &&
           std::isfinite(a.needed) && u.measured.empty() && !u.measured_from_rate &&
           !u.measured_to_rate;
}

// The speed-up of the answer's scenario with a change on both sides; nothing where it cannot run or
// does not fit.
std::optional<double> changed_speedup(const PurchaseQuestion& question,
                                      const PurchaseCandidate& candidate, const PurchaseAnswer& a,
                                      const std::function<void(UpgradeOptions&)>& change) {
    FleetMember member = question.fleet.front();
    UpgradeOptions options = candidate.options;
    options.from = member.from.value_or(options.from);
    options.to = member.to.value_or(options.to);
    options.from.batch = a.upgrade.from_batch;
    options.to.batch = a.upgrade.to_batch;
    options.assumptions = false;
    change(options);
    member.from.reset();
    member.to.reset();
    member.largest = false;
    const auto u = upgrade_fleet({member}, question.from, candidate.machine, options);
    return u && u->unfit.empty() ? std::optional(u->speedup.value) : std::nullopt;
}

bool is_turned(double speedup, const PurchaseCandidate& candidate, const PurchaseAnswer& a) {
    return verdict_at(a.upgrade, speedup, a.needed, candidate.options.confidence) !=
           a.upgrade.verdict;
}

} // namespace

std::vector<Flip> batch_flips(const PurchaseQuestion& question, const PurchaseCandidate& candidate,
                              const PurchaseAnswer& a) {
    if (!is_movable(question, a) || a.upgrade.from_batch != a.upgrade.to_batch) {
        return {};
    }
    const Count own = own_batch(question.fleet.front().network);
    const auto here = static_cast<double>(a.upgrade.from_batch);
    std::optional<Flip> nearest;
    double least = INFINITY;
    double most = 0.0;
    Count last = own;
    for (Count batch = own; batch <= std::max(kMostCommonBatch, own); batch *= 2) {
        const auto speedup = changed_speedup(question, candidate, a, [&](UpgradeOptions& options) {
            options.from.batch = options.to.batch = batch;
        });
        if (!speedup) {
            break;
        }
        last = batch;
        least = std::min(least, *speedup);
        most = std::max(most, *speedup);
        const double distance = std::fabs(std::log(static_cast<double>(batch) / here));
        if (is_turned(*speedup, candidate, a) && (!nearest || distance < nearest->distance)) {
            nearest = Flip{fmt::format("batch: {} on both", batch), *speedup,
                           fmt::format("{:.2f}x needed", a.needed), true, distance};
        }
    }
    if (nearest) {
        return {*nearest};
    }
    if (!(most > 0.0)) {
        return {};
    }
    return {Flip{fmt::format("batch: {} to {} on both", own, last), std::nullopt,
                 fmt::format("{:.2f}x to {:.2f}x", least, most), false, std::log(1.0 + most)}};
}

std::vector<Flip> host_flips(const PurchaseQuestion& question, const PurchaseCandidate& candidate,
                             const PurchaseAnswer& a) {
    if (!is_movable(question, a)) {
        return {};
    }
    // The speed-up with such a host, if it turns the verdict.
    const auto turned_at = [&](double ln) {
        const auto speedup = changed_speedup(question, candidate, a, [&](UpgradeOptions& options) {
            options.to.host_speed *= std::exp(ln);
        });
        return speedup && is_turned(*speedup, candidate, a) ? speedup : std::nullopt;
    };
    // A slower host takes the gain away.
    const bool over = a.upgrade.speedup.value >= a.needed;
    double beyond = (over ? -1.0 : 1.0) * std::log(kHostRange);
    std::optional<double> turned = turned_at(beyond);
    if (!turned) {
        return {};
    }
    double within = 0.0;
    for (int i = 0; i < kHalvings; ++i) {
        const double middle = 0.5 * (within + beyond);
        const auto nearer = turned_at(middle);
        (nearer ? beyond : within) = middle;
        turned = nearer ? nearer : turned;
    }
    return {Flip{fmt::format("host of {}", a.then.gpu), turned,
                 fmt::format("with one {:.2g}x as fast", std::exp(beyond)), true,
                 std::fabs(beyond)}};
}

} // namespace eyeroof::analysis
