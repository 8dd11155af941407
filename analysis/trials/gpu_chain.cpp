#include "analysis/trials/gpu_chain.hpp"

#include "analysis/trials/feature.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis::tune {

namespace {

constexpr double kWordBytes = 4.0;     // bytes of fp32
constexpr double kAddLatency = 4.0;    // cycles of a multiply-add
constexpr double kLoadLatency = 600.0; // cycles of a load from L2 or memory
constexpr double kIssue = 4.0;         // instructions of an SM a cycle
constexpr double kLaunch_s = 2.5e-6;   // of an empty kernel
constexpr double kMostChains = 8.0;    // sums of a thread that are in flight
constexpr Count kBanks = 32;

// What a plan and a workload make together.
struct Grid {
    double tiles_m, tiles_n, ctas, slices_of_part, warps;
    double slice_warps; // warps' turns through one slice, on the busiest SM

    Grid(const Workload& work, const GpuPlan& plan, const GpuMachine& machine)
        : tiles_m(real(ceil_div(work.rows, plan.block_m))),
          tiles_n(real(ceil_div(work.cols, plan.block_n))),
          ctas(tiles_m * tiles_n * real(plan.split_k)),
          slices_of_part(
              real(ceil_div(ceil_div(work.depth * work.taps(), plan.block_k), plan.split_k))),
          warps(real(plan.threads()) / 32.0),
          slice_warps(std::ceil(ctas / machine.sms) * slices_of_part * warps) {}
};

// Lanes of a warp that read different rows from the same bank, at most.
double conflicts_of(const GpuPlan& plan) {
    std::array<int, kBanks> seen{};
    const Count apart = plan.row_floats() * (plan.spread ? 1 : plan.thread_m);
    int most = 1;
    for (Count lane = 0; lane < plan.warp_m / plan.thread_m; ++lane) {
        most = std::max(most, ++seen[static_cast<std::size_t>(lane * apart % kBanks)]);
    }
    return most;
}

double vector_of_cols(const GpuPlan& plan) {
    return plan.spread ? 1.0 : std::min(4.0, real(plan.thread_n));
}

// A warp's wavefronts for one step of the sum.
double wavefronts(const GpuPlan& plan, double conflicts) {
    const double vector = vector_of_cols(plan);
    const double lanes = real(plan.warp_n / plan.thread_n);
    return real(plan.thread_m) * conflicts +
           real(plan.thread_n) / vector * std::max(1.0, std::ceil(lanes * vector / real(kBanks)));
}

double resident_ctas(const GpuPlan& plan, const GpuMachine& machine) {
    const Count by_registers = machine.registers / (plan.registers() * plan.threads());
    const Count by_shared = machine.sm_shared_bytes / std::max<Count>(1, plan.shared_bytes());
    const Count by_threads = machine.max_threads / plan.threads();
    return real(std::max<Count>(
        1, std::min({by_registers, by_shared, by_threads, static_cast<Count>(machine.max_ctas)})));
}

void add_bandwidth(const Workload& work, const GpuPlan& plan, const GpuMachine& machine,
                   const Grid& grid, GpuChain& chain) {
    chain.conflicts = conflicts_of(plan);
    chain.shared_cycles = grid.slice_warps * real(plan.block_k) * wavefronts(plan, chain.conflicts);
    const double terms = real(work.depth * work.taps());
    const double outputs =
        real(work.rows * work.cols) * (plan.split_k > 1 ? 1.0 + 2.0 * real(plan.split_k) : 1.0);
    chain.l2_bytes = kWordBytes * (real(work.rows) * terms * grid.tiles_n +
                                   real(work.cols) * terms * grid.tiles_m + outputs);
    chain.l2_cycles = chain.l2_bytes / machine.l2_bytes_per_s * machine.clock_hz;
    const double input = work.convolution
                             ? real(work.images * work.padded_h() * work.padded_w() * work.depth)
                             : real(work.rows) * terms;
    chain.dram_bytes = kWordBytes * (input + real(work.cols) * terms + real(work.rows * work.cols));
    chain.dram_cycles = chain.dram_bytes / machine.dram_bytes_per_s * machine.clock_hz;
    const double slowest =
        std::max({chain.compute_cycles, chain.shared_cycles, chain.l2_cycles, chain.dram_cycles});
    chain.bound[5] = real(work.macs()) / slowest;
}

void add_instants(const Workload& work, const GpuPlan& plan, const GpuMachine& machine,
                  const Grid& grid, GpuChain& chain) {
    const double cycles = real(work.macs()) / chain.bound[5];
    const double adds = real(plan.thread_m * plan.thread_n) + real(plan.thread_m) +
                        real(plan.thread_n) / vector_of_cols(plan) + 3.0 / real(plan.unroll);
    const double address = plan.product || plan.taps_uniform ? 6.0 : 30.0; // divisions by sizes
    const double copies = (real(plan.block_m * plan.block_k) / real(plan.vector_in) * address +
                           real(plan.block_k * plan.block_n) / real(plan.vector_w) * 6.0) *
                          (plan.async ? 1.0 : 1.3) / 32.0 / grid.warps;
    const double instructions = grid.slice_warps * (adds * real(plan.block_k) + copies);
    chain.issue_cycles = std::max(0.0, instructions / kIssue - cycles);
    // A slice's latency is hidden by the slices that other stages and other CTAs of the SM work on.
    const double turns = grid.slice_warps / grid.warps / chain.resident;
    const double hidden = cycles / std::max(1.0, turns) *
                          (real(plan.stages - 1) + (chain.resident - 1.0) / chain.resident);
    chain.latency_cycles = turns * std::max(0.0, kLoadLatency - hidden);
    const double waves = std::ceil(grid.ctas / (machine.sms * chain.resident));
    constexpr double kAtomic = 4.0;
    chain.end_cycles = waves * (kLoadLatency + real(plan.thread_m * plan.thread_n) *
                                                   (plan.split_k > 1 ? kAtomic : 1.0) * grid.warps *
                                                   chain.resident / kIssue) +
                       kLaunch_s * machine.clock_hz * (plan.split_k > 1 ? 2.0 : 1.0);
    const double all = cycles + chain.issue_cycles + chain.latency_cycles + chain.end_cycles;
    chain.bound[6] = real(work.macs()) / all;
    chain.seconds = all / machine.clock_hz;
}

} // namespace

GpuChain gpu_chain(const Workload& work, const GpuPlan& plan, const GpuMachine& machine) {
    GpuChain chain;
    const Grid grid(work, plan, machine);
    const double macs = real(work.macs());
    const double terms = real(work.depth * work.taps());
    chain.ctas = grid.ctas;
    chain.bound[0] = macs;
    chain.bound[1] = std::min(macs, real(work.rows * work.cols * plan.split_k));
    chain.bound[2] = std::min(chain.bound[1], real(machine.sms) * machine.lanes);
    const double used = real(work.rows) / (grid.tiles_m * real(plan.block_m)) * real(work.cols) /
                        (grid.tiles_n * real(plan.block_n)) * terms /
                        (grid.slices_of_part * real(plan.block_k * plan.split_k));
    const double busy = grid.ctas / (machine.sms * std::ceil(grid.ctas / machine.sms));
    chain.bound[3] = chain.bound[2] * std::min(1.0, used) * busy;
    chain.resident = std::min(resident_ctas(plan, machine), std::ceil(grid.ctas / machine.sms));
    const double in_flight = chain.resident * real(plan.threads()) *
                             std::min(kMostChains, real(plan.thread_m * plan.thread_n));
    chain.bound[4] = chain.bound[3] * std::min(1.0, in_flight / (kAddLatency * machine.lanes));
    chain.compute_cycles = macs / chain.bound[4];
    add_bandwidth(work, plan, machine, grid, chain);
    add_instants(work, plan, machine, grid, chain);
    for (std::size_t step = 3; step < chain.bound.size(); ++step) {
        if (chain.limiter < 3 || chain.loss(step) > chain.loss(chain.limiter)) {
            chain.limiter = step; // the first three are the same for all candidates
        }
    }
    return chain;
}

} // namespace eyeroof::analysis::tune
