#include "analysis/trials/cpu_task.hpp"

#include "analysis/trials/feature.hpp"

#include <cmath>

namespace eyeroof::analysis::tune {

namespace {

void add_knobs(const Space& space, const Point& point, std::vector<float>& out) {
    for (std::size_t knob = 0; knob < space.knobs().size(); ++knob) {
        out.push_back(log_of(static_cast<double>(space.value(point, knob))));
    }
}

void add_loops(const CpuPlan& plan, const CpuChain& chain, std::vector<float>& out) {
    for (const CpuLoop& loop : chain.loops) {
        out.push_back(log_of(loop.trips));
        out.push_back(static_cast<float>(loop.axis));
        out.push_back(log_of(loop.rows_bytes));
        out.push_back(log_of(loop.cols_bytes));
        out.push_back(log_of(loop.out_bytes));
        out.push_back(log_of(loop.macs / loop.footprint()));
    }
    // what the loops are annotated with: vectorised, unrolled, parallel
    out.push_back(log_of(static_cast<double>(plan.length)));
    out.push_back(log_of(static_cast<double>(plan.tile_rows * plan.tile_vectors)));
    out.push_back(log_of(static_cast<double>(plan.unroll)));
    out.push_back(static_cast<float>(plan.threads));
}

void add_steps(const Workload& work, const CpuPlan& plan, const CpuMachine& machine,
               const CpuChain& chain, std::vector<float>& out) {
    for (std::size_t step = 3; step < chain.bound.size(); ++step) { // the others do not differ
        out.push_back(log_ratio(chain.bound[step] / chain.bound[step - 1]));
    }
    out.push_back(static_cast<float>(chain.limiter));
    out.push_back(log_ratio(chain.bound[6] / chain.bound[2]));
    out.push_back(log_ratio(chain.load_cycles / chain.compute_cycles));
    for (std::size_t level = 0; level < chain.traffic_cycles.size(); ++level) {
        const double compulsory = chain.loops.back().footprint();
        out.push_back(log_ratio(chain.traffic_cycles[level] / chain.compute_cycles));
        out.push_back(log_ratio(chain.traffic_bytes[level] / compulsory));
    }
    out.push_back(log_ratio(chain.start_cycles / chain.compute_cycles));
    out.push_back(log_ratio(chain.issue_cycles / chain.compute_cycles));
    out.push_back(log_ratio(chain.pack_cycles / chain.compute_cycles));
    const double accumulators = static_cast<double>(plan.tile_rows * plan.tile_vectors);
    out.push_back(static_cast<float>((accumulators + static_cast<double>(plan.tile_vectors) + 1.0) /
                                     machine.registers));
    out.push_back(log_ratio(accumulators / (machine.latency * machine.pipes)));
    out.push_back(log_ratio(chain.loops[1].footprint() / machine.l1_bytes));
    out.push_back(log_ratio(chain.loops[2].footprint() / machine.l2_bytes));
    out.push_back(log_ratio(chain.loops[3].footprint() / machine.l2_bytes));
    out.push_back(log_ratio(chain.loops[0].cols_bytes / machine.l1_bytes));
    out.push_back(log_ratio(chain.loops[0].rows_bytes / machine.l1_bytes));
    // how the two operands are read: in one stream, or in strides
    const double row_stride = plan.pack_rows ? 0.0 : static_cast<double>(work.depth);
    const double col_stride = plan.pack_cols ? 0.0 : static_cast<double>(work.cols);
    out.push_back(log_of(row_stride));
    out.push_back(log_of(col_stride));
}

} // namespace

SearchTask cpu_task(const Workload& work, const CpuMachine& machine, int threads) {
    SearchTask search_task;
    search_task.name = work.name;
    search_task.template_name = kCpuTemplate;
    search_task.space = cpu_space(work, machine, threads);
    search_task.flops = work.flops();
    const auto space = std::make_shared<const Space>(search_task.space);
    search_task.features = [=](const Point& point, unsigned set, std::vector<float>& out) {
        const CpuPlan plan = cpu_plan(*space, point);
        if ((set & kKnobs) != 0) {
            add_knobs(*space, point, out);
        }
        if ((set & (kLoops | kSteps)) == 0) {
            return;
        }
        const CpuChain chain = cpu_chain(work, plan, machine);
        if ((set & kLoops) != 0) {
            add_loops(plan, chain, out);
        }
        if ((set & kSteps) != 0) {
            add_steps(work, plan, machine, chain, out);
        }
    };
    search_task.predicted = [=](const Point& point) {
        return cpu_chain(work, cpu_plan(*space, point), machine).seconds;
    };
    search_task.described = [=](const Point& point) {
        const CpuPlan plan = cpu_plan(*space, point);
        const CpuChain chain = cpu_chain(work, plan, machine);
        return Described{plan_text(plan), chain.seconds, chain.bound, chain.limiter};
    };
    return search_task;
}

} // namespace eyeroof::analysis::tune
