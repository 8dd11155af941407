#include "gui/jobs/examiner.hpp"

#include "analysis/measured/traced.hpp"

namespace eyeroof::gui {

namespace {

// "this GPU" says nothing where there are several.
void tell(const Diagnostics& problems, const std::string& machine, Diagnostics& all) {
    for (Diagnostic problem : problems) {
        for (const std::string_view word : {"this GPU", "this machine"}) {
            if (const auto at = problem.message.find(word); at != std::string::npos) {
                problem.message.replace(at, word.size(), machine);
            }
        }
        all.add(std::move(problem));
    }
}

// What the trace says of the step, where it ran as is asked.
bool add_traced(const OwnTrace& own, const analysis::Question& question, analysis::Report& report) {
    if (!own.trace || !analysis::ran_as_asked(*own.trace, question.scenario, own.machines)) {
        return false;
    }
    if (const auto said = analysis::traced(*own.trace, &question.machine, &report)) {
        report.traced = analysis::traced_step(*said);
    }
    return true;
}

void run_all(Asked& asked, const std::stop_token& stop, const ProgressCallback& progress,
             Answer& answer) {
    for (analysis::Question& question : asked.questions) {
        auto report = analysis::run(question, stop, progress);
        tell(report.diagnostics(), question.machine.name, answer.diagnostics);
        if (stop.stop_requested()) {
            break;
        }
        if (report) {
            answer.own_times = add_traced(asked.own, question, *report) || answer.own_times;
            answer.questions.push_back(std::move(question));
            answer.reports.push_back(std::move(*report));
        }
    }
}

void edit_first(const std::vector<analysis::MappingEdit>& edits, Answer& answer) {
    if (answer.reports.empty() || edits.empty()) {
        return;
    }
    analysis::Report& first = answer.reports.front();
    for (const analysis::MappingEdit& edit : edits) {
        if (const auto row = analysis::row_of(first, edit)) {
            answer.originals[*row] = first.layers[*row];
        }
    }
    answer.diagnostics.append(analysis::apply_edits(first, answer.questions[0], edits));
}

} // namespace

Answer answer_to(Asked asked, const std::stop_token& stop, const ProgressCallback& progress) {
    Answer answer;
    if (asked.network) {
        run_all(asked, stop, progress, answer);
        edit_first(asked.edits, answer);
    } else {
        answer.questions = std::move(asked.questions);
    }
    if (!stop.stop_requested()) {
        answer.plot = report::make_plot(asked.title, machines_of(answer.questions), answer.reports,
                                        asked.measured(answer.own_times));
    }
    return answer;
}

std::vector<model::Machine> machines_of(const std::vector<analysis::Question>& questions) {
    std::vector<model::Machine> machines;
    for (const analysis::Question& question : questions) {
        machines.push_back(question.machine);
    }
    return machines;
}

void Examiner::examine(Asked asked) {
    run([this, asked = std::move(asked)](const std::stop_token& stop,
                                         const ProgressCallback& progress) -> Show {
        auto answer = std::make_shared<Answer>(answer_to(asked, stop, progress));
        return [this, answer] { emit answered(answer); };
    });
}

} // namespace eyeroof::gui
