#include "profiles/host/host_team.hpp"

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
    if (seconds.empty()) {
        return 0.0;
    }
    std::vector<double> sorted = seconds;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
}

namespace {

using Clock = std::chrono::steady_clock;

// The threads wait at the start line, work, and meet at the end line; repeats == 0 sends them home.
class Team {
  public:
    Team(int threads, const TeamWork& work) : start_(threads + 1), end_(threads + 1) {
        for (int i = 0; i < threads; ++i) {
            members_.emplace_back([this, &work, i] { serve(work, i); });
        }
    }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;
    ~Team() {
        repeats_ = 0;
        start_.arrive_and_wait();
    }

    double seconds_for(std::size_t repeats) {
        repeats_ = repeats;
        start_.arrive_and_wait();
        const auto begin = Clock::now();
        end_.arrive_and_wait();
        return std::chrono::duration<double>(Clock::now() - begin).count();
    }

  private:
    void serve(const TeamWork& work, int thread) {
        for (;;) {
            start_.arrive_and_wait();
            const std::size_t repeats = repeats_;
            if (repeats == 0) {
                return;
            }
            work(thread, repeats);
            end_.arrive_and_wait();
        }
    }

    std::barrier<> start_, end_;
    std::atomic<std::size_t> repeats_{0};
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
    for (int trial = 0; trial < trials && !stop.stop_requested(); ++trial) {
        times.seconds.push_back(team.seconds_for(times.repeats) /
                                static_cast<double>(times.repeats));
    }
    if (stop.stop_requested()) {
        times.seconds.clear();
    }
    return times;
}

} // namespace eyeroof::profiles
