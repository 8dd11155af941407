#include "analysis/exam/examine_nest.hpp"

#include "base/units.hpp"
#include "mapper/preset/preset.hpp"
#include "mapper/preset/stationary.hpp"
#include "model/cost/dram_pattern.hpp"
#include "model/cost/leakage.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

struct Chosen {
    Mapping mapping;
    std::string parameters;
    std::vector<std::string> notes;
    std::optional<mapper::Certificate> certificate = std::nullopt;
};

std::string parameter_text(const mapper::Preset& preset) {
    std::string text;
    for (const auto& [name, value] : preset.parameters) {
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
    }
    return text;
}

Result<Chosen> by_dataflow(const Problem& problem, const AcceleratorContext& context) {
    auto preset = mapper::preset_mapping(problem, context.accelerator, context.dataflow);
    if (preset) {
        return Result<Chosen>(Chosen{preset->mapping, parameter_text(*preset), {}});
    }
    auto general = mapper::stationary_mapping(problem, context.accelerator, context.dataflow);
    if (!general) {
        return Result<Chosen>(preset.diagnostics());
    }
    const std::string why = preset.diagnostics().items().front().message;
    return Result<Chosen>(Chosen{general->mapping, "", {why + "; a general tiling was used"}});
}

std::string standing(const mapper::Certificate& c) {
    if (!c.proved) {
        return fmt::format("{}: {} at most {:.1f} % above the best{}",
                           c.open_by == mapper::OpenBy::effort ? "the search was stopped"
                                                               : "the best mapping found",
                           c.objective, 100.0 * c.gap / std::max(1e-12, 1.0 - c.gap),
                           c.note.empty() ? "" : "; " + c.note);
    }
    return c.note.empty() ? fmt::format("no mapping under these rules has a lower {} ({})",
                                        c.objective, c.space)
                          : fmt::format("{}: {}", c.objective, c.note);
}

Result<Chosen> by_search(const Problem& problem, const AcceleratorContext& context,
                         const Question& question) {
    const SearchOutcome* outcome = context.best.of(problem);
    if (outcome != nullptr && !*outcome && question.constrained()) {
        return Result<Chosen>(outcome->diagnostics());
    }
    if (outcome == nullptr || !*outcome) { // too little time, or a form that is not searched
        auto preset = by_dataflow(problem, context);
        if (preset && outcome != nullptr) {
            preset->notes.push_back("by the dataflow's own rules: " +
                                    outcome->diagnostics().items().front().message);
        }
        return preset || outcome == nullptr ? std::move(preset)
                                            : Result<Chosen>(outcome->diagnostics());
    }
    const mapper::SearchResult& found = **outcome;
    return Result<Chosen>(
        Chosen{found.mapping, "", {standing(found.certificate)}, found.certificate});
}

Result<Chosen> choose_mapping(const Problem& problem, const AcceleratorContext& context,
                              const Question& question, const Mapping* given) {
    if (context.policy == MappingPolicy::given && given != nullptr) {
        return Result<Chosen>(Chosen{*given, "", {}});
    }
    return context.policy == MappingPolicy::best ? by_search(problem, context, question)
                                                 : by_dataflow(problem, context);
}

// "DRAM link: input in runs of 28 B at 43.8 % of a stream's rate; …", by what the mapping moves.
void add_dram_notes(const AcceleratorContext& context, NestExam& exam) {
    for (const Channel& channel : context.accelerator.levels.front().channels) {
        if (!channel.dram || !channel.dram->by_mapping) {
            continue;
        }
        const auto pattern = dram_pattern(exam.problem, context.accelerator, exam.mapping, channel);
        std::string text;
        for (const Operand o : kAllOperands) {
            const EdgeTraffic& traffic = exam.cost.edges.front();
            const TensorAccess& tensor = pattern[index(o)];
            const bool written = traffic.up[index(o)] > 0;
            if (traffic.down[index(o)] == 0 && !written) {
                continue;
            }
            text += fmt::format("{}{} in runs of {} at {:.3g} % of a stream's rate",
                                text.empty() ? "" : "; ", operand_name(o),
                                format_iec(tensor.run_bytes, "B"),
                                100.0 / (written ? tensor.write_slowdown : tensor.read_slowdown));
        }
        if (!text.empty()) {
            exam.notes.push_back(channel.name + ": " + text);
        }
    }
}

// Bounds that physics sets on every result.
Diagnostics check_bounds(const NestExam& exam, double units, bool keeps_rules) {
    constexpr double rounding = 1.0 + 1e-9;
    Diagnostics d = check_chain(exam.machine, exam.problem.name + ", machine chain");
    d.append(check_chain(exam.chain, exam.problem.name + ", mapping chain"));
    const double macs = static_cast<double>(macs_of(exam.problem));
    if (static_cast<double>(exam.cost.macs) != macs) {
        d.error("internal-bound", fmt::format("{}: {} MACs were mapped, the layer has {}",
                                              exam.problem.name, exam.cost.macs, macs));
    }
    if (exam.latency.total_cycles() * units * rounding < macs) {
        d.error("internal-bound",
                fmt::format("{}: {} cycles are fewer than {} MACs on {} units", exam.problem.name,
                            exam.latency.total_cycles(), macs, units));
    }
    for (std::size_t i = 0; i < kSteps && keeps_rules; ++i) {
        if (exam.chain[i].macs_per_cycle > exam.machine[i].macs_per_cycle * rounding) {
            d.error("internal-bound",
                    fmt::format("{}: at step {} the mapping reaches {} MAC/cycle, the machine {}",
                                exam.problem.name, i + 1, exam.chain[i].macs_per_cycle,
                                exam.machine[i].macs_per_cycle),
                    "this is a defect of eyeroof; please report it with the input files");
        }
    }
    return d;
}

} // namespace

Result<NestExam> examine_nest(const Problem& problem, const AcceleratorContext& context,
                              const Question& question, const Mapping* given) {
    const Counting counting = question.scenario.counting;
    auto chosen = choose_mapping(problem, context, question, given);
    if (!chosen) {
        return Result<NestExam>(chosen.diagnostics());
    }
    auto cost = cost_of(problem, context.accelerator, chosen->mapping, counting);
    if (!cost) {
        return Result<NestExam>(cost.diagnostics());
    }
    NestExam exam;
    exam.problem = problem;
    exam.mapping = std::move(chosen->mapping);
    exam.parameters = std::move(chosen->parameters);
    exam.notes = std::move(chosen->notes);
    exam.certificate = std::move(chosen->certificate);
    exam.cost = *std::move(cost);
    exam.latency = counting == Counting::timeloop
                       ? overlapped_latency(exam.cost)
                       : latency_of(problem, context.accelerator, exam.mapping, exam.cost);
    add_leakage(context.accelerator, exam.mapping, exam.latency.total_cycles(), exam.cost);
    if (counting == Counting::eyeroof) {
        add_dram_notes(context, exam);
    }
    const bool keeps_rules = context.policy != MappingPolicy::given;
    const Dataflow rules = keeps_rules ? dataflow_for(problem, context.dataflow)
                                       : unrestricted_dataflow(context.accelerator);
    exam.machine = machine_chain(problem, context.accelerator, rules, counting);
    exam.chain =
        mapping_chain(problem, context.accelerator, rules, exam.mapping, exam.cost, exam.latency);
    Diagnostics violations = check_bounds(exam, context.units, keeps_rules);
    if (violations.has_errors()) {
        return Result<NestExam>(std::move(violations));
    }
    return Result<NestExam>(std::move(exam));
}

} // namespace eyeroof::analysis
