#include "analysis/tune/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace eyeroof::analysis::tune {

namespace {

class Search {
  public:
    Search(const SearchTask& search_task, Target& target, const SearchPlan& plan, const Keep& keep,
           const Recall& recall, std::stop_token stop, const ProgressCallback& progress)
        : search_task_(search_task), target_(target), plan_(plan), keep_(keep), recall_(recall),
          stop_(std::move(stop)), progress_(progress), history_(search_task.space) {}

    SearchEnd run() {
        const auto strategy = make_strategy(search_task_, plan_.strategy, stop_);
        while (history_.size() < plan_.trials && !over()) {
            const std::size_t wanted = history_.size() < plan_.strategy.first
                                           ? plan_.strategy.first
                                           : plan_.strategy.batch;
            // The whole batch even where the trials end inside it: with more trials the search
            // would have gone the same way.
            const auto batch = strategy->propose(std::max<std::size_t>(wanted, 1), history_);
            if (batch.empty()) {
                end_.exhausted = !over();
                break;
            }
            for (const Proposal& proposal : batch) {
                if (history_.size() >= plan_.trials || over() || !try_one(proposal)) {
                    break;
                }
            }
            ++round_;
        }
        end_.trials = history_.trials();
        return std::move(end_);
    }

  private:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }
    bool over() {
        end_.stopped = end_.stopped || stop_.stop_requested() ||
                       (plan_.limit_s > 0.0 && seconds() > plan_.limit_s);
        return end_.stopped || end_.unkept;
    }

    bool try_one(const Proposal& proposal) {
        std::optional<Outcome> known;
        if (recall_) {
            known = recall_(proposal.point, history_.size());
        }
        end_.recalled += known ? 1 : 0;
        Trial trial{proposal.point, known ? *known : target_.measure(proposal.point), round_,
                    proposal.score, plan_.timed ? seconds() : 0.0};
        if (trial.outcome.error == "stopped") {
            end_.stopped = true;
            return false;
        }
        if (!known && keep_ && !keep_(trial)) {
            end_.unkept = true;
        }
        best_ = trial.outcome.ok() ? std::min(best_, trial.outcome.cost) : best_;
        history_.add(std::move(trial));
        tell();
        return true;
    }

    void tell() const {
        if (!progress_) {
            return;
        }
        const auto done = static_cast<double>(history_.size());
        const auto all = static_cast<double>(plan_.trials);
        const double fresh = static_cast<double>(history_.size() - end_.recalled);
        const double rate = fresh / std::max(seconds(), 1e-9);
        const bool timed = search_task_.flops > 0.0;
        const double best = best_ == kNoCost ? 0.0
                            : timed          ? search_task_.flops / best_ / 1e9
                                             : best_;
        progress_({done / all,
                   fmt::format("{}: trial {:.0f} of {:.0f}, {:.3g} a second, {:.0f} s left{}",
                               search_task_.name, done, all, rate,
                               (all - done) / std::max(rate, 1e-9), timed ? ", GFLOP/s" : ""),
                   best});
    }

    const SearchTask& search_task_;
    Target& target_;
    const SearchPlan& plan_;
    const Keep& keep_;
    const Recall& recall_;
    std::stop_token stop_;
    const ProgressCallback& progress_;
    History history_;
    SearchEnd end_;
    double best_ = kNoCost;
    int round_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace

SearchEnd run_search(const SearchTask& search_task, Target& target, const SearchPlan& plan,
                     const Keep& keep, const Recall& recall, std::stop_token stop,
                     const ProgressCallback& progress) {
    return Search(search_task, target, plan, keep, recall, std::move(stop), progress).run();
}

} // namespace eyeroof::analysis::tune
