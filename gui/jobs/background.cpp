#include "gui/jobs/background.hpp"

#include <chrono>

namespace eyeroof::gui {

namespace {
constexpr auto kBetweenReports = std::chrono::milliseconds(50); // do not flood the event loop
}

Background::Background(QObject* parent) : QObject(parent) {}

Background::~Background() {
    worker_.request_stop();
}

void Background::run(Job job) {
    ++number_; // whatever is under way is no longer wanted
    if (busy_) {
        worker_.request_stop();
        next_ = std::move(job);
        return;
    }
    start(std::move(job));
}

ProgressCallback Background::teller() {
    return [this, number = number_,
            last = std::chrono::steady_clock::now()](const Progress& now) mutable {
        const auto time = std::chrono::steady_clock::now();
        if (time - last < kBetweenReports) {
            return;
        }
        last = time;
        QMetaObject::invokeMethod(
            this,
            [this, number, now] {
                if (number == number_) {
                    emit progressed(now);
                }
            },
            Qt::QueuedConnection);
    };
}

void Background::start(Job job) {
    busy_ = true;
    worker_ = std::jthread([this, number = number_, progress = teller(),
                            job = std::move(job)](const std::stop_token& stop) {
        const Show show = job(stop, progress);
        QMetaObject::invokeMethod(
            this, [this, number, show] { finish(number, show); }, Qt::QueuedConnection);
    });
}

void Background::finish(std::uint64_t number, const Show& show) {
    busy_ = false;
    if (next_) {
        start(std::exchange(next_, {}));
    } else if (number == number_ && show) {
        show();
    }
}

void Background::stop_early() {
    if (busy_) {
        worker_.request_stop();
    }
}

// The window learns of it at once; the worker ends when it next looks.
void Background::cancel() {
    if (busy_) {
        ++number_;
        next_ = {};
        worker_.request_stop();
        emit cancelled();
    }
}

} // namespace eyeroof::gui
