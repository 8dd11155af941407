#include "gui/panes/advice/advice_pane.hpp"

#include "analysis/measured/counter_advice.hpp"
#include "base/units.hpp"
#include "report/exam/advice.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::gui {

namespace {

using analysis::CounterAdvice;
using report::Unit;

constexpr const char* kMore = "more"; // keys of tables
constexpr const char* kCounters = "counters";

// As rules over the counters: what they say, the step that they contradict, the estimated gain.
report::AnswerTable counters_table(const analysis::Report& report,
                                   const std::vector<CounterAdvice>& rules) {
    const auto layer = [&](const CounterAdvice& a) { return report.layers[a.layer].layer.name; };
    const auto step = [](const CounterAdvice& a) {
        return fmt::format("{}, {}", a.step, model::kStepNames.at(a.step - 1));
    };
    const auto gain = [](const CounterAdvice& a) {
        return (a.at_most ? "at most " : "") + format_si(a.gain_s, "s");
    };
    return report::make_table<CounterAdvice>(
        kCounters, "Measured kernels", rules,
        {{"", "Layer", Unit::none, layer},
         {"", "Gain", Unit::none, gain},
         {"", "Speedup", Unit::times, &CounterAdvice::speedup},
         {"", "Counters say", Unit::none, &CounterAdvice::counters_say},
         {"", "Contradicted step", Unit::none, step},
         {"", "What to do", Unit::none, &CounterAdvice::advice},
         {"", "Kernel", Unit::none, &CounterAdvice::kernel}});
}

// Of an accelerator parameters and ideal steps; of a GPU shapes and changes of the scenario.
std::vector<report::AnswerTable> people_tables(const analysis::WhatHelps& advice) {
    std::vector<report::AnswerTable> tables = report::advice_tables(advice);
    std::erase_if(tables, [](const report::AnswerTable& table) {
        return std::ranges::none_of(
            table.columns, [](const report::Head& head) { return head.seen_by(report::kPages); });
    });
    if (!advice.parameters) {
        std::ranges::reverse(tables);
    }
    tables.at(1).key = kMore;
    return tables;
}

std::string advice_sentence(const analysis::WhatHelps& advice) {
    if (advice.parameters) {
        return fmt::format("Larger parameters and ideal steps, the largest savings first; the "
                           "network takes {} as it is",
                           format_si(advice.parameters->time_s, "s"));
    }
    return advice.shapes.empty() ? "No change of shape wins 2 % or more"
                                 : fmt::format("Changes of shape that help: {}, the largest "
                                               "savings first",
                                               advice.shapes.size());
}

std::string counters_sentence(std::size_t rules) {
    return rules == 0 ? "Measured kernels: no counter contradicts the prediction at a cost"
                      : fmt::format("Measured kernels: {} the prediction at a cost",
                                    rules == 1 ? "1 counter contradicts"
                                               : fmt::format("{} counters contradict", rules));
}

Result<report::Answer> answer_to(const analysis::Question& question, const analysis::Report& report,
                                 const std::stop_token& stop, const ProgressCallback& progress) {
    const auto advice = analysis::what_helps(question, stop, progress);
    if (!advice) {
        return advice.diagnostics();
    }
    report::Answer answer;
    if (const auto* best = analysis::best_change(advice->changes)) {
        answer.sentences.push_back(analysis::change_text(*best));
    }
    answer.sentences.push_back(advice_sentence(*advice));
    answer.tables = people_tables(*advice);
    if (report.measured) {
        const auto rules = analysis::counter_advice(report);
        answer.sentences.push_back(counters_sentence(rules.size()));
        answer.tables.push_back(counters_table(report, rules));
    }
    return answer;
}

} // namespace

AdvicePane::AdvicePane(const PaneActions& actions, QWidget* parent) : AnswerPane(actions, parent) {
    add_views({tr("Advice, largest savings first"), {}, "advice", {}});
    add_table(tr("Other changes, and ideal steps"), "advice more", kMore);
    lead_to_layers(rows());
    auto* counters =
        add_table(tr("Measured kernels, largest gain first"), "counter advice", kCounters);
    connect(counters, &AnswerTableView::row_chosen, this, [this](std::size_t row) {
        const auto report = actions_.look().first_report();
        const auto rules =
            report ? analysis::counter_advice(*report) : std::vector<CounterAdvice>{};
        if (row < rules.size()) {
            actions_.select_layer(0, rules[row].layer);
        }
    });
}

Background::Job AdvicePane::job(const PaneInput& input) {
    const auto report = input.first_report();
    if (input.question() == nullptr || report == nullptr) {
        say(tr("What would help: for a network on a machine."));
        return {};
    }
    return asking([question = *input.question(), report](const std::stop_token& stop,
                                                         const ProgressCallback& progress) {
        return answer_to(question, *report, stop, progress);
    });
}

} // namespace eyeroof::gui
