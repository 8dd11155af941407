// What a search goes through one after the other: the choices of what each level keeps, the least
// lower bound first, and the cases of step 7 of each.
#pragma once

#include "mapper/bypass_queue.hpp"
#include "mapper/prefetch.hpp"

#include <deque>
#include <utility>

namespace eyeroof::mapper {

class CaseQueue {
  public:
    struct Case {
        std::vector<model::OperandSet> keeps;
        PrefetchCase prefetch;
    };

    // All choices together have about `most` cases, at least one each.
    CaseQueue(const Task& task, std::size_t most)
        : task_(task), keeps_(task), cases_(most / keeps_.choices()) {}

    bool empty() const { return pending_.empty() && keeps_.empty(); }
    // No mapping of the next case, or of one after it, has a lower value.
    double lower_bound() const {
        return pending_.empty() ? keeps_.lower_bound() : pending_lower_bound_;
    }
    Case next() {
        if (pending_.empty()) {
            pending_lower_bound_ = keeps_.lower_bound();
            const std::vector<model::OperandSet> keeps = keeps_.next();
            for (const PrefetchCase& prefetch : prefetch_cases(task_, keeps, cases_)) {
                pending_.push_back({keeps, prefetch});
            }
        }
        Case first = std::move(pending_.front());
        pending_.pop_front();
        return first;
    }

  private:
    const Task& task_;
    BypassQueue keeps_;
    std::size_t cases_;
    std::deque<Case> pending_; // of one choice
    double pending_lower_bound_ = 0.0;
};

} // namespace eyeroof::mapper
