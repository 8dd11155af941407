// A team of threads that does the same work over and over, timed from a common start to the last
// end.
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
    // The fastest trial that another one comes within 5 % of: a single one may be a fault of the
    // clock. The fastest of all where none is confirmed.
    double confirmed() const;
    bool is_confirmed() const;
};

// Runs `trials` trials after a warm-up that finds how many repeats last `trial_s`, and up to three
// times as many more, for two seconds at most, while the fastest is not confirmed (another program
// was running). Empty when
// stopped. Each thread keeps to one processor, so what it touched first stays near it.
TrialTimes time_team(int threads, int trials, double trial_s, const TeamWork& work,
                     const std::stop_token& stop);

} // namespace eyeroof::profiles
