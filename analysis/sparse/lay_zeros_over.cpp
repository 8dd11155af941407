#include "analysis/sparse/lay_zeros_over.hpp"

#include "analysis/exam/best_mappings.hpp"
#include "base/units.hpp"
#include "model/sparse/waiting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

using model::Operand;
using model::sparse::DenseEquivalent;
using model::sparse::Densities;
using model::sparse::Waiting;

namespace {

// What one nest takes; cycles of the dense equivalent: steps.
struct Nest {
    double macs = 0.0;
    Waiting waiting;
    double at_work = 0.0; // steps of the units, lanes included
    double moving = 0.0;
    model::LatencyCycles latency;
};

Result<Nest> nest_of(const model::Problem& problem, const model::Mapping& mapping,
                     const SparseLevels& machine, const DenseEquivalent& dense,
                     const Densities& densities) {
    const auto cost = model::cost_of(problem, dense.machine, mapping);
    if (!cost) {
        return cost.diagnostics();
    }
    auto terms =
        with_exact_ramps(model::latency_terms(problem, dense.machine, mapping, *cost), dense);
    Nest nest;
    nest.macs = static_cast<double>(cost->macs);
    nest.waiting = waiting_of(problem, machine.accelerator(), machine.rules, densities, mapping,
                              *cost, terms.passes);
    nest.at_work = terms.compute_cycles * nest.waiting.lanes;
    nest.moving = cost->moving_cycles;
    terms.compute_cycles = nest.at_work * nest.waiting.slowest;
    nest.latency = latency_at(terms, dense.machine, std::max(terms.compute_cycles, nest.moving));
    return nest;
}

Count whole_words(double value) {
    return static_cast<Count>(std::llround(value));
}

std::string percent_text(double share) {
    return fmt::format("{:.3g} %", 100.0 * share);
}

model::sparse::Rules formats_of(model::sparse::Rules rules) {
    for (model::sparse::LevelRules& level : rules.levels) {
        level.left_out.clear();
    }
    return rules;
}

// Lays what zeros change over the report of a layer on the dense equivalent.
class Correction {
  public:
    Correction(LayerReport& report, const SparseLevels& machine, const DenseEquivalent& dense,
               const Densities& densities)
        : report_(report), machine_(machine), dense_(dense),
          formats_(
              dense_equivalent_of(machine.accelerator(), formats_of(machine.rules), densities)),
          densities_(densities) {}

    Diagnostics run() {
        const auto problems = nests_of(report_.layer);
        if (!problems) {
            return problems.diagnostics();
        }
        std::vector<Nest> nests;
        for (std::size_t i = 0; i < report_.mappings.size(); ++i) {
            const auto nest =
                nest_of((*problems)[i], report_.mappings[i], machine_, dense_, densities_);
            if (!nest) {
                return nest.diagnostics();
            }
            nests.push_back(*nest);
        }
        correct_traffic();
        if (nests.empty()) { // no nest: moved, not multiplied
            correct_move();
        } else {
            correct_steps(nests);
            correct_times(nests);
            add_note(nests);
        }
        return {};
    }

  private:
    void correct_traffic() {
        const auto& levels = machine_.accelerator().levels;
        for (TrafficRow& row : report_.traffic) {
            for (std::size_t i = 0; i < levels.size(); ++i) {
                for (const Operand o : model::kAllOperands) {
                    if (row.level == levels[i].name && row.tensor == operand_name(o)) {
                        correct(row, i, o);
                    }
                }
            }
        }
        report_.outer_bytes /= dense_.scale.front();
    }

    // At a level of bounded size the dense equivalent counts plain words. What comes to be read
    // later is written whether or not its reads are left out; results are read and written alike.
    void correct(TrafficRow& row, std::size_t level, Operand o) const {
        const double scale = dense_.scale[level];
        const double read = scale > 1.0 ? 1.0 / scale : dense_.bytes[level][index(o)];
        const double written =
            scale > 1.0 ? 1.0 / scale
                        : (o == Operand::output ? dense_ : formats_).bytes[level][index(o)];
        row.read_bytes = whole_words(static_cast<double>(row.read_bytes) * read);
        row.write_bytes = whole_words(static_cast<double>(row.write_bytes) * written);
        row.tile_bytes = whole_words(static_cast<double>(row.tile_bytes) / scale);
    }

    void correct_move() {
        const double seconds = dense_.cycles_a_step / clock();
        report_.time_s = report_.cycles * seconds;
        report_.cycles *= dense_.cycles_a_step;
        report_.split.compute_s *= dense_.cycles_a_step;
        report_.split.dram_stall_s *= dense_.cycles_a_step;
        report_.processing_time_s *= dense_.cycles_a_step;
    }

    // MACs a step of the dense equivalent are processed MACs a cycle.
    void correct_steps(const std::vector<Nest>& nests) {
        double macs = 0.0, full = 0.0, at_work = 0.0, average = 0.0, total = 0.0;
        for (const Nest& nest : nests) {
            macs += nest.macs;
            full += nest.at_work / nest.waiting.lanes;
            at_work += nest.at_work;
            average += std::max(nest.at_work, nest.moving);
            total += nest.latency.total();
        }
        const double lanes = at_work / full;
        for (const std::size_t i : {std::size_t{3}, std::size_t{4}}) {
            report_.steps[i].macs_per_cycle /= lanes;
            if (lanes > 1.0 + 1e-9) {
                model::StepBound& step = report_.steps[i];
                step.limit = step.limit == "nothing" ? "partial lanes" : step.limit;
                step.reason += fmt::format("; partial lanes cost {:.3g}x the cycles", lanes);
            }
        }
        bound(5, macs / average);
        bound(6, macs / total);
        explain(nests, at_work);
        report_.active.averaged /= lanes;
        report_.utilization = macs / (report_.units * total);
    }

    // In cycles: the dense equivalent's reasons count its steps.
    void explain(const std::vector<Nest>& nests, double at_work) {
        double moving = 0.0, slowest = 1.0;
        model::LatencyCycles sum;
        for (const Nest& nest : nests) {
            moving += nest.moving;
            slowest = std::max(slowest, nest.waiting.slowest);
            sum.compute += nest.latency.compute;
            sum.on_chip_stall += nest.latency.on_chip_stall;
            sum.outer_stall += nest.latency.outer_stall;
        }
        const double s = dense_.cycles_a_step;
        report_.steps[5].reason =
            fmt::format("the mapping's transfers take {} cycles; the PEs need {}",
                        format_si(moving * s, "", 4), format_si(at_work * s, "", 4));
        report_.steps[6].reason = fmt::format(
            "{} compute cycles (x {:.3g} for the slowest PE), {} stall cycles on chip, {} "
            "for the outermost memory",
            format_si(sum.compute * s, "", 4), slowest, format_si(sum.on_chip_stall * s, "", 4),
            format_si(sum.outer_stall * s, "", 4));
        if (sum.compute - at_work > sum.on_chip_stall + sum.outer_stall && slowest > 1.0) {
            report_.steps[6].limit = "slowest PE";
            report_.steps[6].kind = model::Limit::latency;
        }
    }

    void bound(std::size_t step, double rate) {
        report_.steps[step].macs_per_cycle = std::min(rate, report_.steps[step - 1].macs_per_cycle);
    }

    void correct_times(const std::vector<Nest>& nests) {
        const double seconds = dense_.cycles_a_step / clock();
        std::vector<model::NestCycles> cycles;
        model::LatencyCycles sum;
        for (const Nest& nest : nests) {
            sum.compute += nest.latency.compute;
            sum.on_chip_stall += nest.latency.on_chip_stall;
            sum.outer_stall += nest.latency.outer_stall;
            cycles.push_back(nest_cycles_of(report_.steps, report_.units, nest.macs, nest.moving));
        }
        leak_for(sum.total() / report_.cycles);
        report_.cycles = sum.total() * dense_.cycles_a_step;
        report_.time_s = sum.total() * seconds;
        report_.split = {sum.compute * seconds, sum.on_chip_stall * seconds,
                         sum.outer_stall * seconds, 0.0};
        report_.processing_time_s = sum.processing() * seconds;
        report_.macs = whole_words(static_cast<double>(report_.macs) * dense_.processed);
        report_.flops = whole_words(static_cast<double>(report_.flops) * dense_.processed);
        report_.limits = scaled(limits_of(cycles), seconds);
        report_.limiter_step = report_.limits.binding;
        const model::StepBound& binding = report_.steps[report_.limiter_step - 1];
        report_.limiter = report_.limits.arithmetic ? "arithmetic" : binding.limit;
        report_.limit = report_.limits.arithmetic ? model::Limit::arithmetic : binding.kind;
    }

    // While lanes and units wait, the machine leaks on.
    void leak_for(double longer) {
        report_.energy_j += report_.leakage_j * (longer - 1.0);
        report_.leakage_j *= longer;
    }

    void add_note(const std::vector<Nest>& nests) {
        double all = 0.0, lanes = 1.0, slowest = 1.0;
        for (const Nest& nest : nests) {
            all += nest.macs;
            lanes = std::max(lanes, nest.waiting.lanes);
            slowest = std::max(slowest, nest.waiting.slowest);
        }
        report_.notes.insert(
            report_.notes.begin(),
            fmt::format("densities: inputs {}, weights {}, outputs {}; of {} {} have no "
                        "zero and {} take a cycle; partial lanes x {:.3f}, waiting for the slowest "
                        "unit x {:.3f}; the search counts neither",
                        percent_text(densities_.input), percent_text(densities_.weight),
                        percent_text(densities_.output), format_si(all, "MAC", 4),
                        percent_text(dense_.effectual), percent_text(dense_.processed), lanes,
                        slowest));
    }

    double clock() const { return machine_.accelerator().clock_hz; }

    LayerReport& report_;
    const SparseLevels& machine_;
    const DenseEquivalent& dense_;
    DenseEquivalent formats_; // with no access left out
    const Densities& densities_;
};

} // namespace

Diagnostics lay_zeros_over(LayerReport& report, const SparseLevels& machine,
                           const DenseEquivalent& dense, const Densities& densities) {
    return Correction(report, machine, dense, densities).run();
}

} // namespace eyeroof::analysis
