// Numbered pieces of work on several threads, each taken by the first free thread. What a piece of
// work throws (memory that is not there) ends the work of all threads and is thrown again by the
// caller's thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace eyeroof {

// 0: as many as the machine has.
inline int thread_count(int asked) {
    return asked > 0 ? asked : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

namespace detail {
inline bool& piece_of_work() {
    thread_local bool inside = false;
    return inside;
}
} // namespace detail

// Whether this thread is one of several that share work: what it does then needs no threads.
inline bool in_piece_of_work() {
    return detail::piece_of_work();
}

// work(own, i) for i = 0 … count - 1, in about this order; `own` is what make() gave the thread.
template <class Make, class Work>
void in_parallel_with(int threads, std::size_t count, Make make, Work work) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::exception_ptr thrown;
    const auto run = [&] {
        const bool outer =
            std::exchange(detail::piece_of_work(), threads > 1 || in_piece_of_work());
        try {
            auto own = make();
            for (std::size_t i = next++; i < count; i = next++) {
                work(own, i);
            }
        } catch (...) {
            const std::lock_guard lock(mutex);
            thrown = thrown ? thrown : std::current_exception();
            next = count;
        }
        detail::piece_of_work() = outer;
    };
    std::vector<std::thread> pool;
    for (int t = 1; t < threads && static_cast<std::size_t>(t) < count; ++t) {
        pool.emplace_back(run);
    }
    run();
    for (std::thread& thread : pool) {
        thread.join();
    }
    if (thrown) {
        std::rethrow_exception(thrown);
    }
}

template <class Work> void in_parallel(int threads, std::size_t count, Work work) {
    in_parallel_with(
        threads, count, [] { return 0; }, [&](int /*own*/, std::size_t i) { work(i); });
}

} // namespace eyeroof
