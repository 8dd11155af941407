#include "mapper/achievable_bounds.hpp"

#include "mapper/estimate.hpp"
#include "model/cost/dram_pattern.hpp"

#include <limits>

namespace eyeroof::mapper {

using namespace model;

namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

void lift_bandwidths(Accelerator& machine) {
    for (Level& level : machine.levels) {
        for (Store& store : level.stores) {
            store.read_bytes_per_cycle = kEndless;
            store.write_bytes_per_cycle = kEndless;
        }
        for (Channel& channel : level.channels) {
            channel.down_bytes_per_cycle = kEndless;
            channel.up_bytes_per_cycle = kEndless;
        }
    }
}

void lift_capacities(Accelerator& machine) {
    for (Level& level : machine.levels) {
        for (Store& store : level.stores) {
            store.capacity_bytes.reset();
        }
    }
}

// Of the three searches this is the n-th.
ProgressCallback part_of(const ProgressCallback& progress, std::size_t n) {
    if (!progress) {
        return {};
    }
    return [&progress, n](const Progress& inner) {
        Progress whole = inner;
        whole.fraction = (static_cast<double>(n) + inner.fraction) / 3.0;
        progress(whole);
    };
}

} // namespace

Result<AchievableBounds> achievable_bounds(const Task& task, const SearchOptions& options,
                                           std::stop_token stop, const ProgressCallback& progress) {
    const auto macs = static_cast<double>(macs_of(task.problem));
    const Steps least = least_steps(task);
    AchievableBounds result;
    result.macs_per_cycle = {macs / least.workload, macs / least.dataflow, macs / least.units};
    Task fastest = task;
    fastest.machine = at_stream_rate(task.machine); // as the chain's step 6
    fastest.objective = Objective::latency();
    fastest.time = Time::overlapped; // the chain's steps 4 to 6
    Task stored = fastest;
    lift_bandwidths(stored.machine);
    Task spread = stored;
    lift_capacities(spread.machine);
    result.proved = true;
    std::size_t step = 3;
    for (const Task* one : {&spread, &stored, &fastest}) {
        const auto found = search(*one, options, stop, part_of(progress, step - 3));
        if (!found) {
            return found.diagnostics();
        }
        result.macs_per_cycle[step++] = macs / found->cost.cycles;
        result.proved = result.proved && found->certificate.proved;
    }
    return Result<AchievableBounds>(result);
}

} // namespace eyeroof::mapper
