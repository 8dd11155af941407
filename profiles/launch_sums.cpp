#include "profiles/launch_sums.hpp"

#include <utility>
#include <vector>

namespace eyeroof::profiles {

namespace {

constexpr std::size_t kCounterBytes = 24; // a shared name and a value

// Launches that one side has no counter of count as 0 of an amount, and not in a mean.
void add_counters(const Launch& from, Launch& to) {
    const auto calls = static_cast<double>(from.calls);
    const auto before = static_cast<double>(to.calls);
    for (const auto& [name, value] : from.counters) {
        const bool known = to.counters.contains(name);
        double& sum = to.counters[name];
        if (is_amount(name)) {
            sum += value;
        } else {
            sum = known ? (sum * before + value * calls) / (before + calls) : value;
        }
    }
}

} // namespace

bool is_amount(std::string_view counter) {
    const bool amd = counter.starts_with("SQ_") || counter.starts_with("TCC_") ||
                     counter.starts_with("TCP_") || counter.starts_with("GRBM_") ||
                     counter == "FETCH_SIZE" || counter == "WRITE_SIZE";
    return amd || counter.starts_with("flops.") || counter.starts_with("bytes.") ||
           counter.ends_with(".sum");
}

std::size_t LaunchSums::Hash::operator()(const Key& key) const {
    std::uint64_t hash = 14695981039346656037ULL; // FNV-1a, a number at a time
    const auto mix = [&hash](auto value) {
        hash = (hash ^ static_cast<std::uint64_t>(value)) * 1099511628211ULL;
        hash ^= hash >> 29U;
    };
    mix(key.source);
    mix(key.kernel);
    mix(key.op);
    mix(key.leaf);
    mix(key.range);
    mix(key.device);
    for (const Dim3& dim : {key.grid, key.block}) {
        mix(dim.x);
        mix(dim.y);
        mix(dim.z);
    }
    mix(key.under_replay ? 1 : 0);
    mix(key.timed ? 1 : 0);
    return static_cast<std::size_t>(hash);
}

void LaunchSums::add(Profile& profile, Launch launch) {
    if (sums_) {
        fold(profile, std::move(launch));
        return;
    }
    bytes_ += sizeof(Launch) + kCounterBytes * launch.counters.size();
    profile.launches.push_back(std::move(launch));
    if (profile.launches.size() > kMostLaunches || bytes_ > kMostLaunchBytes) {
        begin_sums(profile);
    }
}

void LaunchSums::begin_sums(Profile& profile) {
    if (std::exchange(sums_, true)) {
        return;
    }
    profile.notes.emplace_back(
        "launches are summed by kernel, operator, range and launch shape: there "
        "are too many to keep each");
    std::vector<Launch> single = std::exchange(profile.launches, {});
    for (Launch& launch : single) {
        fold(profile, std::move(launch));
    }
    profile.launches.shrink_to_fit();
}

void LaunchSums::fold(Profile& profile, Launch launch) {
    const bool timed = launch.duration_ns != kUnknown;
    Key key{launch.source, launch.kernel, launch.op,    launch.leaf,         launch.range,
            launch.device, launch.grid,   launch.block, launch.under_replay, timed};
    if (index_.size() >= kMostSums && !index_.contains(key)) {
        key.grid = key.block = launch.grid = launch.block = {0, 0, 0}; // several
        key.device = launch.device = kNone;
    }
    const auto [at, fresh] = index_.try_emplace(key, profile.launches.size());
    if (fresh) {
        launch.op_call = launch.leaf_call = launch.range_call = kNone;
        launch.module = kNone;
        launch.backward = false;
        launch.stream = launch.start_ns = launch.called_ns = launch.step = kNone;
        profile.launches.push_back(std::move(launch));
        return;
    }
    Launch& sum = profile.launches[at->second];
    add_counters(launch, sum);
    sum.duration_ns += timed ? launch.duration_ns : 0.0;
    sum.calls += launch.calls;
}

} // namespace eyeroof::profiles
