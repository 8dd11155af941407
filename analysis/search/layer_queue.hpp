// The distinct layers of a network in order, each with its share of the time limit.
#pragma once

#include "analysis/search/map_network.hpp"

#include <chrono>
#include <stop_token>
#include <vector>

namespace eyeroof::analysis {

class LayerQueue {
  public:
    // `total_s`: seconds for all layers together; 0: no limit. The references must outlive it.
    LayerQueue(std::vector<LayerTask> tasks, double total_s, const std::stop_token& stop,
               const ProgressCallback& progress)
        : tasks_(std::move(tasks)), total_s_(total_s), stop_(stop), progress_(progress) {}

    // nullptr: that was all, or it was cancelled.
    const LayerTask* next();
    bool cancelled() const { return stop_.stop_requested(); }
    // An equal share of what is left for each layer that is left; 0: no limit.
    double share_s() const;
    // Of the layer that next() gave last.
    ProgressCallback progress() const;

  private:
    using Clock = std::chrono::steady_clock;
    std::vector<LayerTask> tasks_;
    std::size_t at_ = 0;
    double total_s_;
    const std::stop_token& stop_;
    const ProgressCallback& progress_;
    Clock::time_point start_ = Clock::now();
};

// Errors that do not name their layer get its name in front.
Diagnostics of_layer(const std::string& layer, const Diagnostics& found);

} // namespace eyeroof::analysis
