#include "gui/jobs/examiner.hpp"

#include "analysis/measured/traced.hpp"
#include "analysis/what_if/headline.hpp"

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

Answer answer_to(std::vector<analysis::Question> questions, const OwnTrace& own,
                 const std::stop_token& stop, const ProgressCallback& progress) {
    Answer answer;
    for (analysis::Question& question : questions) {
        auto report = analysis::run(question, stop, progress);
        tell(report.diagnostics(), question.machine.name, answer.diagnostics);
        if (stop.stop_requested()) {
            break;
        }
        if (report) {
            analysis::find_headline(*report, question, stop);
            answer.own_times = add_traced(own, question, *report) || answer.own_times;
            answer.questions.push_back(std::move(question));
            answer.reports.push_back(std::move(*report));
        }
    }
    return answer;
}

} // namespace

void Examiner::examine(std::vector<analysis::Question> questions, OwnTrace own) {
    run([this, questions = std::move(questions), own = std::move(own)](
            const std::stop_token& stop, const ProgressCallback& progress) -> Show {
        auto answer = std::make_shared<Answer>(answer_to(questions, own, stop, progress));
        return [this, answer] { emit answered(answer); };
    });
}

} // namespace eyeroof::gui
