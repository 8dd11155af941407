// Calls from Python that Ctrl-C ends: the work runs in a thread of its own, without the
// interpreter's lock, while the calling thread looks for signals.
#pragma once

#include "python/values.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

namespace eyeroof::python {

inline constexpr auto kLook = std::chrono::milliseconds(40); // from one look to the next
inline constexpr auto kPatience =
    std::chrono::milliseconds(40); // for work to end when it is asked to

// What `work(stop)` returns or throws. When a signal's handler raises (KeyboardInterrupt), the work
// is asked to stop and given up at once; it ends in the background. So it may refer to nothing of
// the caller's: captures are copies. Called with the interpreter's lock held.
template <class Work> auto interruptible(Work work) {
    using Answer = std::invoke_result_t<Work, std::stop_token>;
    std::stop_source source;
    auto task = std::make_shared<std::packaged_task<Answer(std::stop_token)>>(std::move(work));
    std::future<Answer> answer = task->get_future();
    std::thread([task, stop = source.get_token()] { (*task)(stop); }).detach();
    const auto ready = [&answer](auto patience) {
        const Unlocked unlocked;
        return answer.wait_for(patience) == std::future_status::ready;
    };
    while (!ready(kLook)) {
        if (PyErr_CheckSignals() != 0) {
            source.request_stop();
            ready(kPatience);
            throw Raised{};
        }
    }
    return answer.get();
}

} // namespace eyeroof::python
