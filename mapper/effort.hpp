// How long a search may go on: until it is stopped, its time is over, counted from when it was
// asked for, or so many nodes were looked at. Asked by everything that may take long, the making of
// the spaces too. A limit of nodes is the same everywhere, one of time is not. Limits effort only,
// never the answer of a search that ends.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>

namespace eyeroof::mapper {

class Effort {
  public:
    Effort() = default; // without end
    Effort(double limit_s, std::stop_token stop, std::uint64_t max_nodes = 0)
        : limit_s_(limit_s), stop_(std::move(stop)), max_nodes_(max_nodes) {}

    void spend(std::uint64_t nodes) const {
        if (max_nodes_ > 0) {
            nodes_->fetch_add(nodes, std::memory_order_relaxed);
        }
    }
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }
    bool over() const {
        return stop_.stop_requested() || (limit_s_ > 0.0 && seconds() > limit_s_) ||
               (max_nodes_ > 0 && nodes_->load(std::memory_order_relaxed) >= max_nodes_);
    }

  private:
    double limit_s_ = 0.0; // 0: none
    std::stop_token stop_;
    std::uint64_t max_nodes_ = 0; // 0: none
    std::shared_ptr<std::atomic<std::uint64_t>> nodes_ =
        std::make_shared<std::atomic<std::uint64_t>>(0);
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace eyeroof::mapper
