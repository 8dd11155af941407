#include "analysis/trials/cpu_chain.hpp"

#include "analysis/trials/feature.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis::tune {

namespace {

constexpr double kWord = 4.0; // bytes of fp32

double tiles(Count whole, Count tile) {
    return real(ceil_div(whole, tile));
}

// The three extents that loops make grow.
struct Reach {
    double rows = 1.0, cols = 1.0, depth = 1.0;

    double& of(Axis axis) { return axis == Axis::rows ? rows : axis == Axis::cols ? cols : depth; }
};

void note(const Workload& work, const CpuPlan& plan, Axis axis, double trips, const Reach& reach,
          CpuLoop& loop) {
    const double taps = real(work.taps());
    // Unpacked pixels share the values of neighbouring windows.
    const double window =
        plan.pack_rows ? taps : std::min(taps, real(work.stride.h * work.stride.w));
    loop.axis = axis;
    loop.trips = trips;
    loop.rows_bytes = kWord * reach.rows * reach.depth * window;
    loop.cols_bytes = kWord * reach.cols * reach.depth * taps;
    loop.out_bytes = kWord * reach.rows * reach.cols;
    loop.macs = reach.rows * reach.cols * reach.depth * taps;
}

std::array<CpuLoop, kCpuLoops> loops_of(const Workload& work, const CpuPlan& plan) {
    const double block_rows = std::min(real(plan.block_rows), real(work.rows));
    const double block_cols = std::min(real(plan.block_cols), real(work.cols));
    const double depth = std::min(real(plan.block_depth), real(work.depth));
    std::array<CpuLoop, kCpuLoops> loops{};
    Reach reach{std::min(real(plan.tile_rows), real(work.rows)),
                std::min(real(plan.tile_cols()), real(work.cols)), depth};
    note(work, plan, Axis::depth, depth * real(work.taps()), reach, loops[0]);
    const double across_rows = std::ceil(block_rows / real(plan.tile_rows));
    const double across_cols = std::ceil(block_cols / real(plan.tile_cols()));
    const Axis inner = plan.rows_inside ? Axis::rows : Axis::cols;
    const Axis outer = plan.rows_inside ? Axis::cols : Axis::rows;
    const auto grow = [&](Axis axis) {
        reach.of(axis) = axis == Axis::rows ? block_rows : block_cols;
        return axis == Axis::rows ? across_rows : across_cols;
    };
    const double inner_trips = grow(inner);
    note(work, plan, inner, inner_trips, reach, loops[1]);
    const double outer_trips = grow(outer);
    note(work, plan, outer, outer_trips, reach, loops[2]);
    for (std::size_t i = 0; i < 3; ++i) {
        const Axis axis = plan.order[2 - i];
        const Count whole = axis == Axis::rows   ? work.rows
                            : axis == Axis::cols ? work.cols
                                                 : work.depth;
        const double block = axis == Axis::rows   ? block_rows
                             : axis == Axis::cols ? block_cols
                                                  : depth;
        const double trips = std::ceil(real(whole) / block);
        reach.of(axis) = real(whole);
        note(work, plan, axis, trips, reach, loops[3 + i]);
    }
    return loops;
}

// Bytes of one tensor that come from outside while the loops from `inside` on run.
double brought(const std::array<CpuLoop, kCpuLoops>& loops, std::size_t inside, double bytes,
               Axis rests) {
    bool resting = true;
    for (std::size_t i = inside + 1; i < kCpuLoops; ++i) {
        if (loops[i].trips <= 1.0 || (resting && loops[i].axis == rests)) {
            continue;
        }
        resting = false;
        bytes *= loops[i].trips;
    }
    return bytes;
}

double traffic_into(const std::array<CpuLoop, kCpuLoops>& loops, double capacity) {
    constexpr double kUsable = 0.75; // what else is in a cache takes the rest
    std::size_t held = 0;
    while (held + 1 < kCpuLoops && loops[held + 1].footprint() <= kUsable * capacity) {
        ++held;
    }
    const CpuLoop& in = loops[held];
    return brought(loops, held, in.rows_bytes, Axis::cols) +
           brought(loops, held, in.cols_bytes, Axis::rows) +
           2.0 * brought(loops, held, in.out_bytes, Axis::depth); // read and written
}

void add_bandwidth(const Workload& work, const CpuPlan& plan, const CpuMachine& machine,
                   CpuChain& chain) {
    const double steps = chain.loops[0].trips * tiles(work.rows, plan.tile_rows) *
                         tiles(work.cols, plan.tile_cols()) * tiles(work.depth, plan.block_depth) /
                         real(plan.threads);
    chain.load_cycles = steps * real(plan.tile_rows + plan.tile_vectors) / machine.loads;
    const std::array<double, 3> capacity = {machine.l1_bytes, machine.l2_bytes, machine.l3_bytes};
    const std::array<double, 3> width = {machine.l2_bandwidth, machine.l3_bandwidth,
                                         machine.dram_bandwidth};
    double slowest = std::max(chain.compute_cycles, chain.load_cycles);
    for (std::size_t i = 0; i < capacity.size(); ++i) {
        const double shared = i == 2 ? 1.0 : real(plan.threads);
        chain.traffic_bytes[i] = traffic_into(chain.loops, capacity[i]);
        chain.traffic_cycles[i] = chain.traffic_bytes[i] / (width[i] * shared);
        slowest = std::max(slowest, chain.traffic_cycles[i]);
    }
    chain.bound[5] = real(work.macs()) / slowest;
    const double instructions = real(plan.tile_rows * plan.tile_vectors + plan.tile_vectors) +
                                (plan.tile_vectors > 1 ? real(plan.tile_rows) : 0.0) +
                                3.0 / real(plan.unroll) +
                                (plan.prefetch > 0 ? real(plan.tile_cols()) / 16.0 : 0.0);
    chain.issue_cycles = std::max(0.0, steps * instructions / machine.issue - slowest);
}

void add_instants(const Workload& work, const CpuPlan& plan, const CpuMachine& machine,
                  CpuChain& chain) {
    constexpr double kCall = 12.0; // cycles of the loops around a tile
    const double calls = tiles(work.rows, plan.tile_rows) * tiles(work.cols, plan.tile_cols()) *
                         tiles(work.depth, plan.block_depth) / real(plan.threads);
    const double results = real(plan.tile_rows * plan.tile_vectors);
    const double blocks = tiles(work.depth, plan.block_depth);
    const double taps = work.taps() > 1 ? real(plan.taps_inside ? plan.block_depth : work.taps())
                                        : 0.0; // loops that restart inside a tile
    chain.start_cycles =
        calls * (kCall + machine.latency + results * (blocks > 1.0 ? 2.0 : 1.0) + 3.0 * taps);
    constexpr double kPacked = 4.0; // bytes a cycle that are copied into panels
    const double input = real(work.rows * work.depth * work.taps());
    const double weights = work.convolution ? 0.0 : real(work.cols * work.depth);
    chain.pack_cycles =
        kWord * ((plan.pack_rows ? input : 0.0) + (plan.pack_cols ? weights : 0.0)) / kPacked;
    const double cycles = real(work.macs()) / chain.bound[5] + chain.issue_cycles +
                          chain.start_cycles + chain.pack_cycles;
    chain.bound[6] = real(work.macs()) / cycles;
    chain.seconds = cycles / machine.clock_hz;
}

// Share of what threads could do that their parts leave: the largest part is waited for.
double even_share(const Workload& work, const CpuPlan& plan) {
    const double all = plan.threads_on_cols ? tiles(work.cols, plan.tile_cols())
                                            : tiles(work.rows, plan.tile_rows);
    const double threads = real(plan.threads);
    return all / (threads * std::ceil(all / threads));
}

} // namespace

CpuChain cpu_chain(const Workload& work, const CpuPlan& plan, const CpuMachine& machine) {
    CpuChain chain;
    const double macs = real(work.macs());
    chain.loops = loops_of(work, plan);
    chain.bound[0] = macs;
    chain.bound[1] = real(work.rows * work.cols);
    chain.bound[2] = std::min(chain.bound[1], real(plan.threads) * machine.pipes * machine.lanes);
    const double rows = real(work.rows) / (tiles(work.rows, plan.tile_rows) * real(plan.tile_rows));
    const double cols =
        real(work.cols) / (tiles(work.cols, plan.tile_cols()) * real(plan.tile_cols()));
    const double width = std::min(1.0, real(plan.length) / machine.lanes);
    chain.bound[3] = chain.bound[2] * width * rows * cols * even_share(work, plan);
    const double chains = real(plan.tile_rows * plan.tile_vectors);
    chain.bound[4] = chain.bound[3] * std::min(1.0, chains / (machine.latency * machine.pipes));
    chain.compute_cycles = macs / chain.bound[4];
    add_bandwidth(work, plan, machine, chain);
    add_instants(work, plan, machine, chain);
    for (std::size_t step = 1; step < chain.bound.size(); ++step) {
        if (step >= 3 && (chain.limiter < 3 || chain.loss(step) > chain.loss(chain.limiter))) {
            chain.limiter = step; // the first three are the same for all candidates
        }
    }
    return chain;
}

} // namespace eyeroof::analysis::tune
