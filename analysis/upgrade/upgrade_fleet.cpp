// Upgrades of several networks at once, and of one network at several batches and data types.
#include "analysis/program/lower.hpp"
#include "analysis/upgrade/upgrade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

namespace {

constexpr double kOldHourS = 3600.0;
constexpr double kCommonVariance = 0.5; // of a member's error, shared by the fleet

std::string dtype_text(const std::optional<model::DataType>& type) {
    return type ? std::string(model::data_type_name(*type)) : "";
}

void add_member(const Upgrade& member, double share, Upgrade& fleet) {
    fleet.to_s += kOldHourS * share / member.speedup.value;
    fleet.bound_share += share * member.bound_share;
    for (UpgradeLayer layer : member.layers) {
        layer.network = member.network;
        layer.share_of_from *= share;
        fleet.layers.push_back(std::move(layer));
    }
    for (const std::string& note : member.notes) {
        fleet.notes.push_back(member.network + ": " + note);
    }
    fleet.members.push_back(member);
    fleet.weights.push_back(share);
}

// Of one member: its own scenarios and batch.
UpgradeOptions options_of(const FleetMember& member, const model::Machine& from,
                          const model::Machine& to, UpgradeOptions options) {
    options.edges = member.edges;
    options.measured = member.measured;
    options.from = member.from.value_or(options.from);
    options.to = member.to.value_or(options.to);
    if (member.largest) {
        const auto batch = largest_common_batch(member, from, to, options);
        options.from.batch = options.to.batch = batch;
    }
    return options;
}

// What each member's assumption is worth to the fleet, if all members changed it.
std::vector<Assumption> assumptions_of_fleet(const Upgrade& fleet) {
    std::vector<Assumption> all;
    for (const Assumption& first : fleet.members.front().assumptions) {
        double time = 0.0;
        for (std::size_t i = 0; i < fleet.members.size(); ++i) {
            double speedup = fleet.members[i].speedup.value;
            for (const Assumption& own : fleet.members[i].assumptions) {
                speedup = own.instead == first.instead ? own.speedup : speedup;
            }
            time += fleet.weights[i] / speedup;
        }
        all.push_back({first.topic, first.what, first.instead, 1.0 / time});
    }
    return all;
}

// Of the time at work on either side.
BoardWatts watts_of(const Upgrade& fleet) {
    BoardWatts watts = {0.0, 0.0};
    const auto add = [](const std::optional<double>& drawn, double share,
                        std::optional<double>& sum) {
        sum = drawn && sum ? std::optional(*sum + share * *drawn) : std::nullopt;
    };
    for (std::size_t i = 0; i < fleet.members.size(); ++i) {
        const Upgrade& member = fleet.members[i];
        add(member.watts.from, fleet.weights[i], watts.from);
        add(member.watts.to, kOldHourS * fleet.weights[i] / member.speedup.value / fleet.to_s,
            watts.to);
    }
    return watts;
}

double sigma_of(const Upgrade& fleet) {
    double common = 0.0;
    double own = 0.0;
    for (std::size_t i = 0; i < fleet.members.size(); ++i) {
        const double share =
            kOldHourS * fleet.weights[i] / fleet.members[i].speedup.value / fleet.to_s;
        const double sigma = share * fleet.members[i].sigma;
        common += sigma * std::sqrt(kCommonVariance);
        own += sigma * sigma * (1.0 - kCommonVariance);
    }
    return std::sqrt(common * common + own);
}

} // namespace

std::optional<Count> largest_common_batch(const FleetMember& member, const model::Machine& from,
                                          const model::Machine& to, const UpgradeOptions& options) {
    UpgradeOptions own = options;
    own.from = member.from.value_or(options.from);
    own.to = member.to.value_or(options.to);
    own.edges = member.edges;
    std::optional<Count> least;
    for (const bool old_side : {true, false}) {
        const auto most =
            largest_batch(side_of(member.network, old_side ? from : to, own, old_side));
        if (most) {
            least = std::min(least.value_or(*most), *most);
        }
    }
    const Count once = own_batch(member.network);
    if (!least || *least < once) {
        return std::nullopt;
    }
    Count batch = once;
    while (2 * batch <= std::min(*least, std::max(kMostCommonBatch, once))) {
        batch *= 2;
    }
    return batch;
}

Upgrade fleet_of(const std::vector<Upgrade>& members, const std::vector<double>& shares,
                 const model::Machine& from, const model::Machine& to,
                 const UpgradeOptions& options) {
    Upgrade all;
    all.from_s = kOldHourS;
    for (std::size_t i = 0; i < members.size(); ++i) {
        all.network += (all.network.empty() ? "" : " + ") +
                       fmt::format("{:.0f} % {}", 100.0 * shares[i], members[i].network);
        add_member(members[i], shares[i], all);
    }
    all.from = from.id;
    all.to = to.id;
    all.sigma = sigma_of(all);
    all.watts = watts_of(all);
    all.speedup.value = all.from_s / all.to_s;
    all.run = all.members.front().run;
    all.from_words = all.members.front().from_words;
    all.to_words = all.members.front().to_words;
    all.error = all.members.front().error;
    for (const Upgrade& member : all.members) { // the least known of them
        all.error = member.error.families < all.error.families ? member.error : all.error;
        all.unfit += member.unfit.empty() ? "" : (all.unfit.empty() ? "" : "; ") + member.unfit;
    }
    all.model_speedup = all.speedup.value;
    all.from_model_s = all.from_s;
    all.to_model_s = all.to_s;
    all.assumptions = assumptions_of_fleet(all);
    conclude(from, to, options, all);
    return all;
}

Result<Upgrade> upgrade_fleet(const std::vector<FleetMember>& fleet, const model::Machine& from,
                              const model::Machine& to, const UpgradeOptions& options) {
    double weights = 0.0;
    for (const FleetMember& member : fleet) {
        weights += member.weight;
    }
    if (fleet.empty() || !(weights > 0.0)) {
        return Result<Upgrade>::failure("no-networks", "a fleet needs networks and weights",
                                        "as in resnet50@3 bert-base@1");
    }
    std::vector<Upgrade> members;
    std::vector<double> shares;
    for (const FleetMember& member : fleet) {
        const UpgradeOptions own = options_of(member, from, to, options);
        auto one = upgrade(member.network, from, to, own);
        if (!one || fleet.size() == 1) {
            return one;
        }
        members.push_back(*std::move(one));
        shares.push_back(member.weight / weights);
    }
    return fleet_of(members, shares, from, to, options);
}

namespace {

bool all_fit(const Upgrade& u, bool (UpgradeMemory::*fits)() const) {
    return u.members.empty() ? (u.memory.*fits)()
                             : std::all_of(u.members.begin(), u.members.end(),
                                           [&](const auto& m) { return (m.memory.*fits)(); });
}

} // namespace

Result<std::vector<SweepPoint>> sweep_upgrade(const std::vector<FleetMember>& fleet,
                                              const model::Machine& from, const model::Machine& to,
                                              const UpgradeOptions& options,
                                              const std::vector<Count>& batches,
                                              const std::vector<DtypePair>& dtypes) {
    std::vector<SweepPoint> points;
    for (const DtypePair& types : dtypes) {
        for (const Count batch : batches) {
            UpgradeOptions at = options;
            at.from.batch = at.to.batch = batch;
            at.assumptions = false;
            at.from.data_type = types.from ? types.from : options.from.data_type;
            at.to.data_type = types.to ? types.to : options.to.data_type;
            const auto one = upgrade_fleet(fleet, from, to, at);
            if (!one) {
                return one.diagnostics();
            }
            points.push_back({batch, dtype_text(at.from.data_type), dtype_text(at.to.data_type),
                              one->from_s, one->to_s, one->speedup, one->verdict,
                              one->probability_wrong, all_fit(*one, &UpgradeMemory::from_fits),
                              all_fit(*one, &UpgradeMemory::to_fits)});
        }
    }
    return points;
}

Result<std::vector<SweepPoint>> sweep_upgrade(const model::Network& network,
                                              const model::Machine& from, const model::Machine& to,
                                              const UpgradeOptions& options,
                                              const std::vector<Count>& batches,
                                              const std::vector<DtypePair>& dtypes) {
    return sweep_upgrade(std::vector<FleetMember>{{network, 1.0}}, from, to, options, batches,
                         dtypes);
}

} // namespace eyeroof::analysis
