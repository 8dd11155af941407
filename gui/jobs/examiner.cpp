#include "gui/jobs/examiner.hpp"

namespace eyeroof::gui {

namespace {

Answer answer_to(const Request& request, const std::stop_token& stop,
                 const model::ProgressCallback& progress) {
    Answer answer;
    for (const model::Machine& machine : request.machines) {
        auto report = study::run(request.network, machine, request.options, stop, progress);
        answer.diagnostics.append(report.diagnostics());
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
        auto answer = std::make_shared<const Answer>(answer_to(request, stop, progress));
        return [this, answer] { emit answered(answer); };
    });
}

} // namespace eyeroof::gui
