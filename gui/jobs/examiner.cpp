#include "gui/jobs/examiner.hpp"

namespace eyeroof::gui {

namespace {

// "this GPU" says nothing where there are several.
void tell(const model::Diagnostics& problems, const std::string& machine, model::Diagnostics& all) {
    for (model::Diagnostic problem : problems) {
        for (const std::string_view word : {"this GPU", "this machine"}) {
            if (const auto at = problem.message.find(word); at != std::string::npos) {
                problem.message.replace(at, word.size(), machine);
            }
        }
        all.add(std::move(problem));
    }
}

Answer answer_to(std::vector<study::Question> questions, const std::stop_token& stop,
                 const model::ProgressCallback& progress) {
    Answer answer;
    for (study::Question& question : questions) {
        auto report = study::run(question, stop, progress);
        tell(report.diagnostics(), question.machine.name, answer.diagnostics);
        if (stop.stop_requested()) {
            break;
        }
        if (report) {
            answer.questions.push_back(std::move(question));
            answer.reports.push_back(std::move(*report));
        }
    }
    return answer;
}

} // namespace

void Examiner::examine(std::vector<study::Question> questions) {
    run([this, questions = std::move(questions)](const std::stop_token& stop,
                                                 const model::ProgressCallback& progress) -> Show {
        auto answer = std::make_shared<Answer>(answer_to(questions, stop, progress));
        return [this, answer] { emit answered(answer); };
    });
}

} // namespace eyeroof::gui
