#include "analysis/exam/examine.hpp"
#include "analysis/exam/examine_nest.hpp"
#include "analysis/exam/nest_figures.hpp"
#include "model/accelerator/data_width.hpp"
#include "model/accelerator/outermost.hpp"
#include "model/accelerator/residency.hpp"
#include "model/cost/leakage.hpp"
#include "model/vector_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

// Several nests run one after the other: their times add, so their throughputs combine by MACs.
Chain combine(const std::vector<NestExam>& exams, Chain NestExam::*chain) {
    Chain sum = exams.front().*chain;
    if (exams.size() == 1) {
        return sum;
    }
    for (std::size_t i = 0; i < kSteps; ++i) {
        double macs = 0.0;
        double cycles = 0.0;
        double slowest = 0.0;
        for (const NestExam& exam : exams) {
            const double own = static_cast<double>(exam.cost.macs);
            const double needs = own / (exam.*chain)[i].macs_per_cycle;
            macs += own;
            cycles += needs;
            if (needs > slowest) {
                slowest = needs;
                sum[i] = (exam.*chain)[i];
            }
        }
        sum[i].macs_per_cycle = macs / cycles;
    }
    return sum;
}

TrafficRow traffic_row(const NestExam& exam, const Accelerator& accelerator, std::size_t level,
                       Operand o) {
    const DataWidth word = stored_width(exam.problem, accelerator, level, o);
    const LevelCost& cost = exam.cost.levels[level];
    const Accesses& a = cost.total[index(o)];
    const auto whole = [](double bytes) { return static_cast<Count>(std::llround(bytes)); };
    return {accelerator.levels[level].name,
            std::string(operand_name(o)),
            whole(bytes_in_and_out(exam.problem, o, word, a.reads, 0)),
            whole(bytes_in_and_out(exam.problem, o, word, a.fills, a.updates)),
            cost.energy_pj[index(o)] * 1e-12,
            whole(static_cast<double>(cost.tile_words[index(o)]) * word.complete)};
}

void add_traffic(const NestExam& exam, const Accelerator& accelerator, LayerReport& report) {
    for (std::size_t level = 0; level < accelerator.levels.size(); ++level) {
        for (const Operand o : kAllOperands) {
            const Accesses& a = exam.cost.levels[level].total[index(o)];
            const Count moved = a.reads + a.fills + a.updates;
            if (moved == 0) {
                continue;
            }
            const TrafficRow row = traffic_row(exam, accelerator, level, o);
            const auto same = std::find_if(
                report.traffic.begin(), report.traffic.end(), [&](const TrafficRow& r) {
                    return r.level == row.level && r.tensor == row.tensor;
                });
            if (same == report.traffic.end()) {
                report.traffic.push_back(row);
            } else {
                same->read_bytes += row.read_bytes;
                same->write_bytes += row.write_bytes;
                same->energy_j += row.energy_j;
                same->tile_bytes = std::max(same->tile_bytes, row.tile_bytes);
            }
        }
    }
    const double moved = outer_bytes_of(exam.problem, accelerator, exam.cost);
    report.outer_bytes += moved;
    report.zeros_bytes += outer_bytes_of(exam.problem, accelerator, exam.cost, false) - moved;
}

void add_nest(const NestExam& exam, const AcceleratorContext& context, LayerReport& report) {
    const double clock = context.accelerator.clock_hz;
    report.split.compute_s += exam.latency.compute_cycles / clock;
    report.split.on_chip_stall_s += exam.latency.on_chip_stall_cycles / clock;
    report.split.dram_stall_s += exam.latency.outer_stall_cycles / clock;
    report.cycles += exam.latency.total_cycles();
    report.energy_j += exam.cost.energy_pj * 1e-12;
    report.leakage_j += exam.cost.leakage_pj * 1e-12;
    report.active.allocated =
        std::max(report.active.allocated, static_cast<double>(exam.cost.allocated_macs_units));
    add_traffic(exam, context.accelerator, report);
    if (!exam.parameters.empty()) {
        report.mapping_text += exam.parameters + "\n";
    }
    report.mapping_text += to_text(exam.mapping, context.accelerator);
    report.mappings.push_back(exam.mapping);
    if (exam.certificate) {
        report.certificates.push_back(*exam.certificate);
    }
    report.notes.insert(report.notes.end(), exam.notes.begin(), exam.notes.end());
}

void set_limits(const std::vector<NestCycles>& cycles, double clock_hz, LayerReport& report) {
    report.limits = scaled(limits_of(cycles), 1.0 / clock_hz);
    report.limiter_step = report.limits.binding;
    const StepBound& binding = report.steps[report.limiter_step - 1];
    report.limiter = report.limits.arithmetic ? "arithmetic" : binding.limit;
    report.limit = report.limits.arithmetic ? Limit::arithmetic : binding.kind;
}

// Words narrower than a byte, or coded ones, may end inside one: no more than is moved.
Count whole_bytes(double bytes) {
    constexpr double kRounding = 1e-6;
    return static_cast<Count>(std::floor(bytes + kRounding));
}

LayerReport report_of(const Layer& layer, const Work& work, const std::vector<NestExam>& exams,
                      const AcceleratorContext& context) {
    LayerReport report;
    report.layer = layer;
    report.flops = work.flops;
    double steps = 0.0;
    report.macs = work.macs; // none of pooling that a given mapping lays on the array
    Count done = 0;
    double compulsory = 0.0;
    for (const NestExam& exam : exams) {
        done += exam.cost.macs;
        compulsory += compulsory_bytes(exam.problem, context.accelerator);
        steps += static_cast<double>(exam.cost.compute_steps);
        add_nest(exam, context, report);
    }
    report.bytes = whole_bytes(compulsory);
    const auto macs = static_cast<double>(done);
    report.steps = combine(exams, &NestExam::chain);
    report.machine_steps = combine(exams, &NestExam::machine);
    report.active.averaged = macs / steps;
    report.time_s = report.cycles / context.accelerator.clock_hz;
    report.processing_time_s = report.split.compute_s + report.split.on_chip_stall_s;
    report.units = context.units;
    report.utilization = macs / (context.units * report.cycles);
    std::vector<NestCycles> cycles;
    for (const NestExam& exam : exams) {
        cycles.push_back(nest_cycles_of(exam.chain, context.units,
                                        static_cast<double>(exam.cost.macs),
                                        exam.cost.moving_cycles));
    }
    set_limits(cycles, context.accelerator.clock_hz, report);
    return report;
}

// Operators without a multiply-accumulate nest: the array does not run them, so all that can be
// said is that their tensors cross the outermost memory once. Two operations count as one MAC.
LayerReport bandwidth_only(const Layer& layer, const Work& work,
                           const AcceleratorContext& context) {
    LayerReport report;
    report.layer = layer;
    report.flops = work.flops;
    const OuterOnly only = outer_only(layer, work, context.accelerator);
    const double equivalent = only.equivalent;
    const std::string where = only.level == 0
                                  ? outermost_name(context.accelerator)
                                  : context.accelerator.levels[only.level].name + " port";
    const double operating = std::max(1.0, equivalent / context.units); // cycles: no less than one
    report.cycles = outer_only_cycles(only, context.units);
    const double achieved = equivalent / report.cycles;
    for (std::size_t i = 0; i < kSteps; ++i) {
        const double bound = i < 2 ? equivalent : std::min(equivalent, context.units);
        report.steps[i] = {i < 5 ? bound : std::min(bound, achieved),
                           i < 5 ? "not on the array" : where,
                           i < 5             ? "this operator has no multiply-accumulate nest"
                           : only.level == 0 ? "its tensors cross the outermost memory once"
                                             : "its tensors pass the networks of their level once",
                           i < 5             ? Limit::units
                           : only.level == 0 ? Limit::outer_memory
                                             : Limit::on_chip};
    }
    report.machine_steps = report.steps;
    report.units = context.units;
    report.time_s = report.cycles / context.accelerator.clock_hz;
    report.split.compute_s = operating / context.accelerator.clock_hz;
    (only.level == 0 ? report.split.dram_stall_s : report.split.on_chip_stall_s) =
        report.time_s - report.split.compute_s;
    report.processing_time_s = report.split.compute_s + report.split.on_chip_stall_s;
    report.outer_bytes = only.bytes;
    report.bytes = whole_bytes(only.bytes);
    report.leakage_j = least_leak_pj_per_cycle(context.accelerator) * report.cycles * 1e-12;
    report.energy_j = only.energy_pj * 1e-12 + report.leakage_j;
    set_limits({nest_cycles_of(report.steps, context.units, equivalent, only.moving_cycles)},
               context.accelerator.clock_hz, report);
    report.notes.push_back(fmt::format("{} is bounded by {} and by one operation "
                                       "a unit and cycle: this description has no vector unit",
                                       op_name(layer.op),
                                       only.level == 0 ? "the outermost memory" : where));
    return report;
}

// On the vector unit, from the level that holds the tensors. Bounds are in halves of operations, as
// above: all of them, what the lanes do, and what ports and memory let through.
LayerReport on_vector_unit(const Layer& layer, const Work& work,
                           const AcceleratorContext& context) {
    const Accelerator& a = context.accelerator;
    LayerReport report;
    report.layer = layer;
    report.flops = work.flops;
    const VectorCost cost = vector_cost(layer, work, a);
    const double equivalent = outer_only(layer, work, a).equivalent;
    report.units = equivalent / std::max(cost.compute_cycles, equivalent / context.units);
    report.cycles = cost.cycles;
    const double lanes = std::min(equivalent, equivalent / std::max(1.0, cost.compute_cycles));
    const double achieved = std::min(lanes, equivalent / cost.cycles);
    const bool ports = cost.wall == VectorWall::ports;
    const std::string moved =
        ports ? a.levels[a.vector_unit->level].name + " port" : outermost_name(a);
    const double longest =
        std::max({1.0, cost.compute_cycles, cost.port_cycles, cost.outer_cycles});
    for (std::size_t i = 0; i < 5; ++i) {
        report.steps[i] = {i < 2 ? equivalent : lanes, "vector lanes",
                           "the lanes of the vector unit run this operator", Limit::units};
    }
    report.steps[5] = {std::min(lanes, equivalent / longest), moved,
                       ports           ? "its tensors pass the ports of the vector unit"
                       : cost.resident ? "its tensors stay in the level of the vector unit"
                                       : "its tensors cross the outermost memory once",
                       ports ? Limit::on_chip : Limit::outer_memory};
    report.steps[6] = report.steps[5];
    if (achieved < report.steps[5].macs_per_cycle) {
        report.steps[6] = {achieved, "transfers on top",
                           "the vector unit does not overlap its transfers", Limit::latency};
    }
    report.machine_steps = report.steps;
    report.time_s = cost.cycles / a.clock_hz;
    const double inside =
        std::max(1.0, a.vector_unit->overlaps ? std::max(cost.compute_cycles, cost.port_cycles)
                                              : cost.compute_cycles + cost.port_cycles);
    report.split.compute_s = std::max(1.0, cost.compute_cycles) / a.clock_hz;
    report.split.on_chip_stall_s = inside / a.clock_hz - report.split.compute_s;
    report.split.dram_stall_s = report.time_s - inside / a.clock_hz;
    report.processing_time_s = inside / a.clock_hz;
    report.outer_bytes = cost.outer_bytes;
    report.bytes = whole_bytes(cost.outer_bytes);
    report.leakage_j = least_leak_pj_per_cycle(a) * cost.cycles * 1e-12;
    report.energy_j = cost.energy_pj * 1e-12 + report.leakage_j;
    set_limits({nest_cycles_of(report.steps, report.units, equivalent,
                               std::max(cost.port_cycles, cost.outer_cycles))},
               a.clock_hz, report);
    report.notes.push_back(
        fmt::format("{} runs on the vector unit, {} {}", op_name(layer.op),
                    cost.resident ? "from" : "its tensors pass through the outermost memory and",
                    a.levels[a.vector_unit->level].name));
    return report;
}

MappingPolicy decided(MappingPolicy policy, const AcceleratorContext& context, bool constrained) {
    if (policy != MappingPolicy::automatic) {
        return policy;
    }
    // The published row-stationary rules are a mapper of their own and leave one mapping.
    return context.dataflow_text == dataflow_name(DataflowKind::rs) && !constrained
               ? MappingPolicy::dataflow
               : MappingPolicy::best;
}

} // namespace

Result<AcceleratorContext> accelerator_context(const Question& question,
                                               const Accelerator& accelerator) {
    const Scenario& options = question.scenario;
    AcceleratorContext context{accelerator,    unrestricted_dataflow(accelerator),
                               "unrestricted", static_cast<double>(mac_units(accelerator)),
                               options.policy, {}};
    std::string known;
    for (const Dataflow& dataflow : accelerator.dataflows) {
        const bool first = context.dataflow_text == "unrestricted";
        if (!options.free_dataflow && first &&
            dataflow.kind == options.dataflow.value_or(dataflow.kind)) {
            context.dataflow = dataflow;
            context.dataflow_text = dataflow_name(dataflow.kind);
        }
        known += (known.empty() ? "" : ", ") + std::string(dataflow_name(dataflow.kind));
    }
    if (options.dataflow && !options.free_dataflow && context.dataflow_text == "unrestricted") {
        return Result<AcceleratorContext>::failure(
            "unsupported",
            fmt::format("{} does not support the dataflow {}", question.machine.name,
                        dataflow_name(*options.dataflow)),
            known.empty() ? "its description names no dataflow" : "it supports " + known);
    }
    context.policy = decided(options.policy, context, question.constrained());
    return Result<AcceleratorContext>(std::move(context));
}

Result<LayerReport> examine(const Layer& layer, const AcceleratorContext& context,
                            const Question& question, std::stop_token stop) {
    const auto work = work_of(layer);
    const auto problems = nests_of(layer);
    if (!work || !problems) {
        return Result<LayerReport>(work ? problems.diagnostics() : work.diagnostics());
    }
    // Pooling has a nest, but no MACs: an engine of its own does it, not the array.
    const bool lays_all = context.policy == MappingPolicy::given;
    if (problems->empty() || (work->macs == 0 && !lays_all)) {
        return Result<LayerReport>(context.accelerator.vector_unit
                                       ? on_vector_unit(layer, *work, context)
                                       : bandwidth_only(layer, *work, context));
    }
    std::vector<NestExam> exams;
    for (const Problem& problem : *problems) {
        if (stop.stop_requested()) {
            return Result<LayerReport>::failure("cancelled", "cancelled");
        }
        const Mapping* given = question.nests.size() == problems->size()
                                   ? &question.nests[exams.size()]
                               : question.mapping ? &*question.mapping
                                                  : nullptr;
        Problem walked = problem;
        walked.form = given != nullptr ? given->form : problem.form;
        auto exam = examine_nest(walked, context, question, given);
        if (!exam) {
            Diagnostics d = exam.diagnostics();
            d.place({}, layer.name);
            return Result<LayerReport>(std::move(d));
        }
        exams.push_back(*std::move(exam));
    }
    return Result<LayerReport>(report_of(layer, *work, exams, context));
}

MachineSummary summarise(const Machine& machine, const AcceleratorContext& context) {
    MachineSummary summary;
    summary.id = machine.id;
    summary.name = machine.name;
    summary.kind = "accelerator";
    summary.units = context.units;
    summary.clock_hz = context.accelerator.clock_hz;
    summary.peak_macs_per_s = context.units * context.accelerator.clock_hz;
    summary.outer_bytes_per_s =
        bytes_per_cycle_below(context.accelerator.levels.front()) * context.accelerator.clock_hz;
    summary.dataflow = context.dataflow_text;
    for (const auto& [field, provenance] : machine.provenance) {
        if (provenance.confidence == Confidence::recalled) {
            summary.weak_sources.push_back(field);
        }
    }
    return summary;
}

} // namespace eyeroof::analysis
