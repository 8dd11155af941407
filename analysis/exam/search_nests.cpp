#include "analysis/exam/search_nests.hpp"

#include "base/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

namespace eyeroof::analysis {

namespace {

// The searches speak from several threads; the progress callback hears one at a time.
class Announcer {
  public:
    Announcer(const ProgressCallback& progress, std::size_t tasks)
        : progress_(progress), tasks_(tasks) {}

    ProgressCallback of(const std::string& name) {
        if (!progress_) {
            return {};
        }
        return [this, name](const Progress& inner) {
            std::lock_guard lock(mutex_);
            say("mapping " + name, inner.best, inner.gap);
        };
    }
    void done(const std::string& name) {
        std::lock_guard lock(mutex_);
        ++finished_;
        if (progress_) {
            say("mapped " + name, 0.0, -1.0);
        }
    }

  private:
    void say(const std::string& what, double best, double gap) {
        const double fraction = static_cast<double>(finished_) / static_cast<double>(tasks_);
        progress_(
            {fraction, fmt::format("{} ({} of {} done)", what, finished_, tasks_), best, gap});
    }

    const ProgressCallback& progress_;
    std::size_t tasks_;
    std::size_t finished_ = 0;
    std::mutex mutex_;
};

// Divides the time that is left among the tasks that are left.
class Budget {
  public:
    Budget(double total_s, std::size_t at_once)
        : total_s_(total_s), at_once_(static_cast<double>(at_once)) {}

    double share(std::size_t tasks_left, double own_limit_s) const {
        if (total_s_ <= 0.0) {
            return own_limit_s;
        }
        constexpr double least_s = 0.01;
        const std::chrono::duration<double> gone = Clock::now() - start_;
        const double rounds = std::max(1.0, static_cast<double>(tasks_left) / at_once_);
        const double share = std::max(least_s, (total_s_ - gone.count()) / rounds);
        return own_limit_s > 0.0 ? std::min(own_limit_s, share) : share;
    }

  private:
    using Clock = std::chrono::steady_clock;
    double total_s_;
    double at_once_;
    Clock::time_point start_ = Clock::now();
};

} // namespace

bool same_nest(const model::Problem& a, const model::Problem& b) {
    model::Problem renamed = a;
    renamed.name = b.name;
    return renamed == b;
}

std::vector<SearchOutcome> search_nests(const std::vector<mapper::Task>& tasks,
                                        const mapper::SearchOptions& options, double total_s,
                                        const std::stop_token& stop,
                                        const ProgressCallback& progress) {
    std::vector<std::optional<SearchOutcome>> found(tasks.size());
    Announcer announcer(progress, tasks.size());
    const int threads = thread_count(options.threads);
    const int at_once = std::max(1, std::min(threads, static_cast<int>(tasks.size())));
    mapper::SearchOptions inner = options;
    inner.threads = std::max(1, threads / at_once);
    const Budget budget(total_s, static_cast<std::size_t>(at_once));
    in_parallel(at_once, tasks.size(), [&](std::size_t i) {
        const std::string& name = tasks[i].problem.name;
        if (stop.stop_requested()) {
            found[i] = SearchOutcome::failure("cancelled", "cancelled before it was searched");
            return;
        }
        mapper::SearchOptions own = inner;
        own.time_limit_s = budget.share(tasks.size() - i, inner.time_limit_s);
        found[i] = mapper::search(tasks[i], own, stop, announcer.of(name));
        announcer.done(name);
    });
    std::vector<SearchOutcome> outcomes;
    outcomes.reserve(found.size());
    for (auto& outcome : found) {
        outcomes.push_back(*std::move(outcome));
    }
    return outcomes;
}

} // namespace eyeroof::analysis
