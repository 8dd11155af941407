#include "analysis/measured/ranks.hpp"

#include "base/lines.hpp"
#include "base/units.hpp"
#include "profiles/operator_layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace eyeroof::analysis {

namespace {

using profiles::kNone;
using profiles::Profile;

// "allreduce of 4194304 BFloat16" where the trace says it, else the kernel's name.
std::string collective_name(const Profile& profile, const profiles::Launch& launch) {
    const std::int32_t at = launch.leaf != kNone ? launch.leaf : launch.op;
    if (at != kNone) {
        const profiles::Operator& op = profile.operators[static_cast<std::size_t>(at)];
        const bool says = op.name == "record_param_comms" && op.concrete_inputs.size() == 2 &&
                          !op.input_dims.empty() && op.input_dims[0].size() == 1;
        if (says) {
            return fmt::format("{} of {} {}", op.concrete_inputs[1], op.input_dims[0][0],
                               op.input_types.empty() ? "" : op.input_types[0]);
        }
    }
    const std::string& kernel = profile.kernel_of(launch).name;
    return kernel.substr(0, kernel.find('('));
}

using Durations = std::map<std::string, std::vector<double>>; // in order of start

Durations durations_of(const Profile& profile) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < profile.launches.size(); ++i) {
        const profiles::Launch& launch = profile.launches[i];
        if (launch.start_ns != kNone && launch.duration_ns >= 0.0 &&
            profiles::is_collective(profile.kernel_of(launch).name)) {
            order.push_back(i);
        }
    }
    std::ranges::stable_sort(order, {},
                             [&](std::size_t i) { return profile.launches[i].start_ns; });
    Durations made;
    for (const std::size_t i : order) {
        const profiles::Launch& launch = profile.launches[i];
        made[collective_name(profile, launch)].push_back(launch.duration_ns * 1e-9);
    }
    return made;
}

void add_call(const std::vector<double>& seconds, Ranks& ranks, RankCollective& sum,
              std::vector<double>& delays) {
    const auto least = std::ranges::min_element(seconds);
    const auto last = static_cast<std::size_t>(least - seconds.begin());
    ranks.ranks[last].last += 1;
    sum.least_s += *least;
    for (std::size_t r = 0; r < seconds.size(); ++r) {
        const double wait_s = seconds[r] - *least;
        sum.mean_s += seconds[r];
        sum.waits_s += wait_s;
        delays[last] += wait_s;
        ranks.waits[r][last] += wait_s;
        ranks.ranks[r].waits_s += wait_s;
        ranks.ranks[last].delays_s += wait_s;
    }
}

RankCollective collective_of(const std::string& name, const std::vector<Durations>& of,
                             Ranks& ranks) {
    RankCollective sum;
    sum.name = name;
    std::size_t calls = of.front().at(name).size(), most = 0;
    for (const Durations& durations : of) {
        const auto at = durations.find(name);
        const std::size_t own = at == durations.end() ? 0 : at->second.size();
        calls = std::min(calls, own);
        most = std::max(most, own);
    }
    std::vector<double> delays(of.size(), 0.0), seconds(of.size());
    for (std::size_t call = 0; call < calls; ++call) {
        for (std::size_t r = 0; r < of.size(); ++r) {
            seconds[r] = of[r].at(name)[call];
        }
        add_call(seconds, ranks, sum, delays);
    }
    sum.calls = static_cast<std::int64_t>(calls);
    sum.unmatched = static_cast<std::int64_t>(most - calls);
    if (calls > 0) {
        sum.mean_s /= static_cast<double>(calls * of.size());
        sum.least_s /= static_cast<double>(calls);
    }
    sum.last = static_cast<std::size_t>(std::ranges::max_element(delays) - delays.begin());
    return sum;
}

std::string side_name(const Profile& profile) {
    return profile.run.rank >= 0     ? fmt::format("rank {}", profile.run.rank)
           : profile.sources.empty() ? std::string("a rank")
                                     : profile.sources.front();
}

} // namespace

Result<Ranks> ranks_of(const std::vector<Profile>& profiles) {
    if (profiles.size() < 2) {
        return Result<Ranks>::failure("one-rank", "the trace of one rank is compared with none",
                                      "name the traces of two ranks or more, or their folder");
    }
    Ranks ranks;
    std::vector<Durations> durations;
    double most = 0.0, sum = 0.0;
    for (const Profile& profile : profiles) {
        const auto time = profiles::device_time(profile);
        if (!time) {
            return Result<Ranks>::failure("no-times", side_name(profile) + " has no times of start",
                                          "trace fewer steps: of too many, only sums are kept");
        }
        ranks.ranks.push_back({side_name(profile), *time, 0.0, 0.0, 0});
        durations.push_back(durations_of(profile));
        most = std::max(most, time->computation_s);
        sum += time->computation_s;
    }
    const auto n = static_cast<double>(profiles.size());
    ranks.imbalance = sum > 0.0 ? most * n / sum - 1.0 : 0.0;
    ranks.waits.assign(profiles.size(), std::vector<double>(profiles.size(), 0.0));
    for (const auto& [name, calls] : durations.front()) {
        ranks.collectives.push_back(collective_of(name, durations, ranks));
    }
    std::ranges::stable_sort(ranks.collectives, std::ranges::greater{}, &RankCollective::waits_s);
    return ranks;
}

} // namespace eyeroof::analysis
