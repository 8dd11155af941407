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

Answer answer_to(const Request& request, const std::stop_token& stop,
                 const model::ProgressCallback& progress) {
    Answer answer;
    for (std::size_t i = 0; i < request.machines.size(); ++i) {
        const model::Machine& machine = request.machines[i];
        study::StudyOptions options = request.options;
        options.host = i < request.hosts.size() ? request.hosts[i] : model::HostIssue{};
        auto report = study::run(request.network, machine, options, stop, progress);
        tell(report.diagnostics(), machine.name, answer.diagnostics);
        if (stop.stop_requested()) {
            break;
        }
        if (report) {
            answer.machines.push_back(machine);
            answer.reports.push_back(std::move(*report));
        }
    }
    return answer;
}

} // namespace

void Examiner::examine(Request request) {
    run([this, request = std::move(request)](const std::stop_token& stop,
                                             const model::ProgressCallback& progress) -> Show {
        auto answer = std::make_shared<Answer>(answer_to(request, stop, progress));
        return [this, answer] { emit answered(answer); };
    });
}

} // namespace eyeroof::gui
