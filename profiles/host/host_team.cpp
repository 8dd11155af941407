#include "profiles/host/host_team.hpp"

#include "base/statistics.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <thread>

namespace eyeroof::profiles {

double TrialTimes::best() const {
    return seconds.empty() ? 0.0 : std::ranges::min(seconds);
}
double TrialTimes::worst() const {
    return seconds.empty() ? 0.0 : std::ranges::max(seconds);
}
double TrialTimes::median() const {
    return eyeroof::median(seconds);
}

double TrialTimes::confirmed() const {
    constexpr double kNear = 1.05;
    std::vector<double> sorted = seconds;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
        if (sorted[i + 1] <= kNear * sorted[i]) {
            return sorted[i];
        }
    }
    return best();
}
bool TrialTimes::is_confirmed() const {
    return seconds.size() < 2 || confirmed() <= best();
}

namespace {

using Clock = std::chrono::steady_clock;

// The threads wait at the start line, work, and meet at the end line; repeats == 0 sends them home.
class Team {
  public:
    Team(int threads, const TeamWork& work)
        : start_(threads + 1), end_(threads + 1), spans_(static_cast<std::size_t>(threads)) {
        for (int i = 0; i < threads; ++i) {
            members_.emplace_back([this, &work, i] {
                stay_on(i);
                serve(work, i);
            });
        }
    }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;
    ~Team() {
        repeats_ = 0;
        start_.arrive_and_wait();
    }

    // From the first member's start to the last one's end, by their own clocks: this thread may be
    // put aside at either line.
    double seconds_for(std::size_t repeats) {
        repeats_ = repeats;
        start_.arrive_and_wait();
        end_.arrive_and_wait();
        const auto first = std::ranges::min_element(spans_, {}, &Span::begin)->begin;
        const auto last = std::ranges::max_element(spans_, {}, &Span::end)->end;
        return std::chrono::duration<double>(last - first).count();
    }

  private:
    struct Span {
        Clock::time_point begin, end;
    };

    // Threads that wander between processors leave their caches and their memory behind. Does
    // nothing where there are more threads than processors.
    static void stay_on(int thread) {
        cpu_set_t allowed;
        CPU_ZERO(&allowed);
        if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
            return;
        }
        int position = 0;
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (CPU_ISSET(cpu, &allowed) && position++ == thread) {
                cpu_set_t one;
                CPU_ZERO(&one);
                CPU_SET(cpu, &one);
                sched_setaffinity(0, sizeof(one), &one); // of the calling thread
                return;
            }
        }
    }

    void serve(const TeamWork& work, int thread) {
        for (;;) {
            start_.arrive_and_wait();
            const std::size_t repeats = repeats_;
            if (repeats == 0) {
                return;
            }
            Span span;
            span.begin = Clock::now();
            work(thread, repeats);
            span.end = Clock::now();
            spans_[static_cast<std::size_t>(thread)] = span;
            end_.arrive_and_wait();
        }
    }

    std::barrier<> start_, end_;
    std::atomic<std::size_t> repeats_{0};
    std::vector<Span> spans_;
    std::vector<std::jthread> members_; // joined before the barriers go
};

} // namespace

TrialTimes time_team(int threads, int trials, double trial_s, const TeamWork& work,
                     const std::stop_token& stop) {
    constexpr std::size_t kMostRepeats = std::size_t{1} << 32U;
    Team team(threads, work);
    TrialTimes times;
    team.seconds_for(1); // touches memory, wakes clocks
    double seconds = team.seconds_for(1);
    while (seconds < trial_s && times.repeats < kMostRepeats && !stop.stop_requested()) {
        const double growth = std::clamp(1.2 * trial_s / std::max(seconds, 1e-9), 2.0, 64.0);
        times.repeats =
            static_cast<std::size_t>(std::ceil(static_cast<double>(times.repeats) * growth));
        seconds = team.seconds_for(times.repeats);
    }
    constexpr int kPatience = 4;
    constexpr std::chrono::seconds kLongestWait{2}; // beyond the trials that were asked for
    Clock::time_point asked_for_end;
    for (int trial = 0; trial < kPatience * trials && !stop.stop_requested(); ++trial) {
        asked_for_end = trial <= trials ? Clock::now() : asked_for_end;
        if (trial >= trials &&
            (times.is_confirmed() || Clock::now() - asked_for_end > kLongestWait)) {
            break;
        }
        times.seconds.push_back(team.seconds_for(times.repeats) /
                                static_cast<double>(times.repeats));
    }
    if (stop.stop_requested()) {
        times.seconds.clear();
    }
    return times;
}

} // namespace eyeroof::profiles
