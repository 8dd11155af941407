// The nodes of a search that are not searched yet, the one with the least bound first. Taken and
// added by several threads.
#pragma once

#include "mapper/branch_and_bound.hpp"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace eyeroof::mapper {

class OpenNodes {
  public:
    explicit OpenNodes(std::vector<Start> starts);

    // The next node, to be given back with done(); waits while others may still add some. None when
    // all is searched, or end() was called.
    std::optional<Start> next();
    // What is left of the node that next() gave: the nodes below it that are still to be searched,
    // and the least bound of what was given up.
    void done(const std::vector<Start>& below, double left);
    void end();

    std::size_t size() const;
    double least_bound() const; // of what is open and not being searched
    // After the search: least bound of what is open or was given up.
    double left() const;

  private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Start> heap_;
    std::size_t busy_ = 0;
    bool ended_ = false;
    double given_up_ = kNoValue;
};

} // namespace eyeroof::mapper
