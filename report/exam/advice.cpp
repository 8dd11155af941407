#include "report/exam/advice.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::report {

namespace {

using analysis::Advice;
using analysis::Helps;
using analysis::ParameterHelp;
using analysis::step::Outcome;

std::string gain_text(double speedup) {
    return speedup < analysis::kHelps ? "-" : fmt::format("{:.3f}x", speedup);
}

struct IdealStep {
    std::size_t step = 0;
    double time_s = 0.0, speedup = 1.0;
};

std::vector<IdealStep> ideal_steps(const Helps& helps) {
    std::vector<IdealStep> steps;
    for (std::size_t k = 0; k < model::kSteps; ++k) {
        const double without = helps.without[k];
        steps.push_back({k + 1, without, without > 0.0 ? helps.time_s / without : 1.0});
    }
    return steps;
}

std::vector<Column<ParameterHelp>> parameter_columns() {
    using P = ParameterHelp;
    const auto next_speedup = [](const P& p) {
        return p.next ? std::optional(p.with_next) : std::nullopt;
    };
    const auto next = [](const P& p) {
        return p.next ? fmt::format("{} ({})", *p.next, gain_text(p.with_next)) : "none tried";
    };
    const auto next_sentence = [next](const P& p) {
        return p.next ? "next value that helps: " + next(p) : std::string();
    };
    return absent_if_unknown<P>(
        {{"key", "parameter (--set)", Unit::none, &P::key},
         {"name", &P::name},
         {"now", "now", Unit::none, &P::now},
         {"speedup_tenth", &P::tenth},
         {"speedup_doubled", &P::doubled},
         {"next", &P::next, kJson, "the least value tried that helps"},
         {"speedup_next", next_speedup},
         {"", "+10 %", Unit::none, [](const P& p) { return gain_text(p.tenth); }, kPeople},
         {"", "x2", Unit::none, [](const P& p) { return gain_text(p.doubled); }, kPeople},
         {"", "next value that helps", Unit::none, next, kPages},
         {"", "next value that helps", Unit::sentence, next_sentence, kText}});
}

void add_parameters(std::vector<AnswerTable>& tables, const Helps& helps) {
    tables.push_back(make_table("",
                                fmt::format("what would help, under the exam's mappings, or better "
                                            "ones of a short search ({} as it is)",
                                            format_si(helps.time_s, "s")),
                                helps.parameters, parameter_columns()));
    std::vector<IdealStep> steps = ideal_steps(helps);
    std::erase_if(steps, [](const IdealStep& s) { return s.speedup < analysis::kHelps; });
    tables.push_back(make_table<IdealStep>(
        "", "potential savings if one step were ideal", steps,
        {{"", "step", Unit::none,
          [](const IdealStep& s) {
              return fmt::format("{} {}", s.step, model::kStepNames[s.step - 1]);
          },
          kPeople},
         {"", "time", Unit::seconds, &IdealStep::time_s, kPeople},
         {"", "speedup", Unit::none, [](const IdealStep& s) { return gain_text(s.speedup); },
          kPeople}}));
}

std::vector<std::string> remedies(const Outcome& change) {
    return analysis::step::remedies_of(change.combination);
}

AnswerTable changes_table(const std::vector<Outcome>& changes) {
    return make_table<Outcome>("changes", "", changes,
                               {{"remedies", remedies, kJson},
                                {"time_s", &Outcome::time_s, kJson},
                                {"gain", &Outcome::gain, kJson, "of samples a second"},
                                {"peak_bytes", &Outcome::peak, kJson},
                                {"fits", &Outcome::fits, kJson}},
                               Form::list_if_any);
}

// Those that win something, largest gain first.
AnswerTable worthwhile_changes(std::vector<Outcome> changes) {
    std::erase_if(changes,
                  [](const Outcome& change) { return change.gain < analysis::kWorthSaying; });
    return make_table<Outcome>(
        "", "what would help, the whole step examined with each change", changes,
        {{"", "change", Unit::none, remedies, kPeople},
         {"", "gain", Unit::times, &Outcome::gain, kPeople, "of samples a second"},
         {"", "time of a step", Unit::seconds, &Outcome::time_s, kPeople},
         {"", "fits", Unit::none, &Outcome::fits, kPeople}});
}

AnswerTable shapes_table(const std::vector<Advice>& shapes) {
    const auto kind = [](const Advice& a) { return analysis::advice_name(a.kind); };
    const auto old_gain = [](const Advice& a) {
        return a.old_gain > 0.0 ? std::optional(a.old_gain) : std::nullopt;
    };
    const auto saves = [](const Advice& a) {
        return a.saved_s > 0.0 ? std::optional(a.saved_s) : std::nullopt;
    };
    return make_table<Advice>(
        "advice", shapes.empty() ? "advice" : "advice, each gain from examining the changed shape",
        shapes,
        {{"layer", "layer", Unit::none, &Advice::layer},
         limited<Column<Advice>>({"kind", "kind", Unit::none, kind},
                                 {.words = {"align", "batch", "fill-waves", "fuse"}}),
         {"dimension", &Advice::dimension},
         {"from", &Advice::from},
         {"to", &Advice::to},
         {"now_s", &Advice::now_s},
         {"then_s", &Advice::then_s},
         {"gain", &Advice::gain},
         limited<Column<Advice>>({"saved_s", &Advice::saved_s}, kAnySign),
         {"", "saves", Unit::seconds, saves, kPeople},
         {"gain_before_cublas_11", old_gain, kJson,
          "with a library that leaves the tensor cores at such shapes; null where it is no other"},
         {"gradients_only", &Advice::gradients_only},
         {"text", "advice", Unit::sentence, &Advice::text}},
        Form::list_if_any);
}

} // namespace

AnswerTable what_would_help_table(const std::optional<Helps>& helps) {
    return make_table<Helps>(
        "what_would_help", "", one_or_none(helps),
        {{"time_s", &Helps::time_s, kJson},
         nested<Helps, ParameterHelp>("parameters", "", &Helps::parameters, parameter_columns(),
                                      kJson),
         nested<Helps, IdealStep>(
             "steps", "", ideal_steps,
             {{"step", &IdealStep::step}, {"time_without_s", &IdealStep::time_s}}, kJson)},
        Form::object);
}

std::vector<AnswerTable> advice_tables(const analysis::WhatHelps& advice) {
    std::vector<AnswerTable> tables;
    if (advice.parameters) {
        tables.push_back(what_would_help_table(advice.parameters));
        add_parameters(tables, *advice.parameters);
        return tables;
    }
    return {changes_table(advice.changes), worthwhile_changes(advice.changes),
            shapes_table(advice.shapes)};
}

AnswerTable tuned_table(const std::vector<analysis::tune::MeasuredBest>& rows) {
    using Best = analysis::tune::MeasuredBest;
    const auto bounds = [](const Best& best) {
        return std::vector<double>(best.best.bound.begin(), best.best.bound.end());
    };
    return make_table<Best>(
        "tuned", "Tuned: the best that was measured", rows,
        {{"layer", "layer", Unit::none, &Best::layer},
         {"measured_s", "measured", Unit::seconds, &Best::measured_s},
         {"gflops_per_s", "GFLOP/s", Unit::none, &Best::gflops_per_s},
         {"predicted_s", "predicted", Unit::seconds, &Best::report_s},
         {"trials", "trials", Unit::count, &Best::trials},
         {"target", "on", Unit::none, &Best::target, kAll, "cpu, or model: computed"},
         {"machine", "machine", Unit::none, &Best::machine},
         {"program", "program", Unit::none, [](const Best& best) { return best.best.text; }},
         {"bound_macs_per_cycle", "bounds, MAC/cycle", Unit::none, bounds},
         {"limiting_step", "limiting step", Unit::none,
          [](const Best& best) { return best.best.limiter + 1; }},
         {"first_choice", "first choice of the closed form", Unit::none, &Best::predicted_plan},
         {"first_choice_s", "its time", Unit::seconds, &Best::predicted_plan_s}},
        Form::list_if_any);
}

} // namespace eyeroof::report
