#include "gui/examiner.hpp"

#include <chrono>

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

Examiner::Examiner(QObject* parent) : QObject(parent) {}

Examiner::~Examiner() {
    worker_.request_stop();
}

void Examiner::examine(Request request) {
    ++number_; // whatever is under way is no longer wanted
    if (busy_) {
        worker_.request_stop();
        next_ = std::make_unique<Request>(std::move(request));
        return;
    }
    start(std::move(request));
}

void Examiner::start(Request request) {
    busy_ = true;
    const std::uint64_t number = number_;
    worker_ = std::jthread([this, number, request = std::move(request)](std::stop_token stop) {
        auto last = std::chrono::steady_clock::now();
        const auto progress = [this, &last](const model::Progress& now) {
            const auto time = std::chrono::steady_clock::now();
            if (time - last > std::chrono::milliseconds(50)) { // do not flood the event loop
                last = time;
                emit progressed(now.fraction, QString::fromStdString(now.activity));
            }
        };
        auto answer = std::make_shared<const Answer>(answer_to(request, stop, progress));
        QMetaObject::invokeMethod(
            this, [this, number, answer] { finish(number, answer); }, Qt::QueuedConnection);
    });
}

void Examiner::finish(std::uint64_t number, std::shared_ptr<const Answer> answer) {
    busy_ = false;
    if (next_) {
        const auto request = std::move(next_);
        start(std::move(*request));
    } else if (number == number_) {
        emit answered(std::move(answer));
    }
}

// The window is told at once; the worker ends when it next looks.
void Examiner::cancel() {
    if (busy_) {
        ++number_;
        next_.reset();
        worker_.request_stop();
        emit cancelled();
    }
}

} // namespace eyeroof::gui
