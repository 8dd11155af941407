// What a search goes through one after the other: the choices of what each level keeps, the least
// floor first, and the cases of step 7 of each.
// Called by search.cpp. Knows neither splits nor orders.
#pragma once

#include "mapper/arrivals.hpp"
#include "mapper/keep_queue.hpp"

#include <deque>
#include <utility>

namespace eyeroof::mapper {

class CaseQueue {
  public:
    struct Case {
        std::vector<model::OperandSet> keeps;
        Arrivals arrivals;
    };

    // All choices together have about `most` cases, at least one each.
    CaseQueue(const Task& task, std::size_t most)
        : task_(task), keeps_(task), cases_(most / keeps_.choices()) {}

    bool empty() const { return pending_.empty() && keeps_.empty(); }
    // No mapping of the next case, or of one after it, has a lower value.
    double floor() const { return pending_.empty() ? keeps_.floor() : pending_floor_; }
    Case next() {
        if (pending_.empty()) {
            pending_floor_ = keeps_.floor();
            const std::vector<model::OperandSet> keeps = keeps_.next();
            for (const Arrivals& arrivals : arrival_cases(task_, keeps, cases_)) {
                pending_.push_back({keeps, arrivals});
            }
        }
        Case first = std::move(pending_.front());
        pending_.pop_front();
        return first;
    }

  private:
    const Task& task_;
    KeepQueue keeps_;
    std::size_t cases_;
    std::deque<Case> pending_; // of one choice
    double pending_floor_ = 0.0;
};

} // namespace eyeroof::mapper
