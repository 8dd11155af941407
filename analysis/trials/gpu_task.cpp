#include "analysis/trials/gpu_task.hpp"

#include "analysis/trials/feature.hpp"

#include <cmath>

namespace eyeroof::analysis::tune {

namespace {

void add_tile(Count m, Count n, Count k, std::vector<float>& out) {
    const double rows = 4.0 * real(m * k), cols = 4.0 * real(n * k), sums = 4.0 * real(m * n);
    out.push_back(log_of(rows));
    out.push_back(log_of(cols));
    out.push_back(log_of(sums));
    out.push_back(log_of(real(m * n) * real(k) / (rows + cols)));
}

void add_loops(const Workload& work, const GpuPlan& plan, std::vector<float>& out) {
    const Count terms = work.depth * work.taps();
    const Count part = ceil_div(terms, plan.split_k);
    add_tile(plan.thread_m, plan.thread_n, 1, out);
    add_tile(plan.warp_m, plan.warp_n, plan.block_k, out);
    add_tile(plan.block_m, plan.block_n, plan.block_k, out);
    add_tile(plan.block_m, plan.block_n, part, out);
    out.push_back(log_of(real(ceil_div(part, plan.block_k))));
    out.push_back(log_of(real(ceil_div(work.rows, plan.block_m))));
    out.push_back(log_of(real(ceil_div(work.cols, plan.block_n))));
    out.push_back(log_of(real(plan.threads())));
    out.push_back(log_of(real(plan.unroll)));
    out.push_back(log_of(real(plan.vector_in)));
    out.push_back(log_of(real(plan.vector_w)));
    out.push_back(static_cast<float>(plan.stages));
}

void add_steps(const GpuPlan& plan, const GpuMachine& machine, const GpuChain& chain,
               std::vector<float>& out) {
    for (std::size_t step = 3; step < chain.bound.size(); ++step) { // the others do not differ
        out.push_back(log_ratio(chain.bound[step] / chain.bound[step - 1]));
    }
    out.push_back(static_cast<float>(chain.limiter));
    out.push_back(log_ratio(chain.bound[6] / chain.bound[2]));
    for (const double cycles : {chain.shared_cycles, chain.l2_cycles, chain.dram_cycles,
                                chain.issue_cycles, chain.latency_cycles, chain.end_cycles}) {
        out.push_back(log_ratio(cycles / chain.compute_cycles));
    }
    out.push_back(log_ratio(chain.l2_bytes / chain.dram_bytes));
    out.push_back(log_ratio(chain.ctas / machine.sms));
    out.push_back(static_cast<float>(chain.resident * real(plan.threads()) / machine.max_threads));
    out.push_back(log_ratio(chain.conflicts));
    out.push_back(static_cast<float>(real(plan.registers()) / 255.0));
    out.push_back(static_cast<float>(real(plan.shared_bytes()) / real(machine.cta_shared_bytes)));
    out.push_back(log_ratio(chain.l2_bytes / real(std::max<Count>(1, machine.l2_bytes))));
    out.push_back(plan.async ? 1.0F : 0.0F);
}

} // namespace

SearchTask gpu_task(const Workload& work, const GpuMachine& machine) {
    SearchTask search_task;
    search_task.name = work.name;
    search_task.template_name = kGpuTemplate;
    search_task.space = gpu_space(work, machine);
    search_task.flops = work.flops();
    const auto space = std::make_shared<const Space>(search_task.space);
    search_task.features = [=](const Point& point, unsigned set, std::vector<float>& out) {
        const GpuPlan plan = gpu_plan(*space, point, work, machine);
        for (std::size_t knob = 0; (set & kKnobs) != 0 && knob < space->knobs().size(); ++knob) {
            out.push_back(log_of(real(space->value(point, knob))));
        }
        if ((set & kLoops) != 0) {
            add_loops(work, plan, out);
        }
        if ((set & kSteps) != 0) {
            add_steps(plan, machine, gpu_chain(work, plan, machine), out);
        }
    };
    search_task.predicted = [=](const Point& point) {
        return gpu_chain(work, gpu_plan(*space, point, work, machine), machine).seconds;
    };
    search_task.described = [=](const Point& point) {
        const GpuPlan plan = gpu_plan(*space, point, work, machine);
        const GpuChain chain = gpu_chain(work, plan, machine);
        return Described{plan_text(plan), chain.seconds, chain.bound, chain.limiter};
    };
    return search_task;
}

} // namespace eyeroof::analysis::tune
