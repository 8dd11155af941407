// Comparison of strategies: trials to a share of the best known result, over layers and seeds.
#pragma once

#include "analysis/tune/tuner.hpp"

namespace eyeroof::analysis::tune {

// A layer on which strategies are compared.
struct Arena {
    SearchTask search_task;
    std::unique_ptr<Target> target; // the same answer for every strategy, whenever asked
    std::function<std::unique_ptr<Target>(std::uint64_t seed)>
        fresh;                   // of a synthetic target; else none
    double best_known = kNoCost; // 0 … not known yet: the best of all runs
    bool proved = false;         // best_known is a proved optimum
    std::vector<Point> points;   // of a pool …
    std::vector<double> costs;   // … kNoCost: failed
    Workload work;
};

// Of each shape and machine in logs, what was measured: strategies choose from these points alone.
// Pools of fewer than 32 points are left out.
std::vector<Arena> pools_of(const std::vector<TrialLine>& lines);
// Stand-ins of these layers.
std::vector<Arena> synthetic_tasks_of(const std::vector<Workload>& layers,
                                      const TuneOptions& options);
// The same on a GPU.
std::vector<Arena> synthetic_tasks_of(const std::vector<Workload>& layers,
                                      const GpuMachine& machine, const TuneOptions& options);

struct Contender {
    std::string name;
    StrategyOptions strategy;
    bool transfer = false; // from all other layers' pools that have another shape
};

// The usual ones: every strategy, the learned one's losses and makers, and with transfer.
std::vector<Contender> usual_contenders(bool with_transfer);
// The learned one with each set of features, and by the closed form's residual.
std::vector<Contender> feature_contenders(bool with_transfer);

struct Score3 { // of one contender on one layer
    // Trials to 90, 95, 99 % of the best known, median over seeds; nothing: the median run did not
    // come there within its trials.
    std::array<std::optional<double>, 3> trials;
    std::array<int, 3> censored{}; // runs that did not
    int runs = 0;
    double reached = 0.0;         // median share of the best known after all trials
    std::vector<double> share_at; // median share of the best known after 8, 16, 32, … trials
    bool operator==(const Score3&) const = default;
};

struct Comparison {
    std::vector<std::string> contenders;
    std::vector<std::string> layers;
    std::vector<std::vector<Score3>> scores; // [contender][layer]
    std::vector<std::size_t> pool;           // points of each layer; empty without pools
    bool recorded = false;                   // searches as they ran, nothing replayed
    std::vector<bool> proved;                // of each layer
    int seeds = 0;
    std::size_t trials = 0;
    // Spearman's correlation of the score from all other layers with what was measured, by
    // features ("knobs", "loops", "steps", "loops+steps", "all", "closed form"); of pools only.
    std::vector<std::pair<std::string, std::vector<double>>> held_out;
    bool stopped = false;
};

// runs: costs of each in the order of trials, kNoCost: failed; best: the best known.
Score3 scored(const std::vector<std::vector<double>>& runs, double best, std::size_t trials);

// How many times fewer trials to 90, 95 or 99 % (share 0, 1, 2) of the best known one contender
// needs than another: the geometric mean over layers with runs of both, and where the middle 90 %
// of 1000 bootstrapped sets of layers lie. A median run that never came there counts as all its
// trials.
struct Saving {
    double ratio = 1.0, low = 1.0, high = 1.0;
    std::size_t layers = 0;
};
Saving saving(const Comparison& all, std::size_t base, std::size_t contender, std::size_t share);

// Searches that logs hold, as they ran: contenders are what the logs call the search, runs its
// seeds; the best known is the best of all trials of a shape on a machine. No run counts beyond
// `trials`.
Comparison compare_recorded(const std::vector<TrialLine>& lines, std::size_t trials);

// The same answer for any number of jobs.
Comparison compare(std::vector<Arena>& arenas, const std::vector<Contender>& contenders, int seeds,
                   std::size_t trials, int jobs, std::stop_token stop = {},
                   const ProgressCallback& progress = {});
// Fills in Comparison::held_out.
void hold_out(const std::vector<Arena>& pools, const TreeOptions& trees, Comparison& comparison,
              const std::stop_token& stop);

} // namespace eyeroof::analysis::tune
