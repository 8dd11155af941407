// A team of threads that does the same work over and over, timed from a common start to the last
// end. Used by measure_host. Knows nothing of what is measured.
#pragma once

#include <functional>
#include <stop_token>
#include <vector>

namespace eyeroof::profiles {

// work(thread, repeats): does its part `repeats` times. Called on every thread of the team.
using TeamWork = std::function<void(int thread, std::size_t repeats)>;

struct TrialTimes {
    std::vector<double> seconds; // of one repeat, per trial
    std::size_t repeats = 1;     // in each trial

    double best() const;
    double median() const;
    double worst() const;
};

// Runs `trials` trials after a warm-up that finds how many repeats last `trial_s`. Empty when
// stopped. Threads stay the same over all trials, so what they touched first stays near them.
TrialTimes time_team(int threads, int trials, double trial_s, const TeamWork& work,
                     const std::stop_token& stop);

} // namespace eyeroof::profiles
