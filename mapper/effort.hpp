// How long a search may go on: until it is stopped, its time is over, counted from when it was
// asked for, or so many nodes were looked at. Asked by everything that may take long, the making of
// the spaces too. A limit of nodes is the same everywhere, one of time is not. Limits effort only,
// never the answer of a search that ends.
#pragma once

#include <algorithm>
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
    // Orders of loops that a climb to a first mapping tried, where each of its steps has thousands.
    void look(std::uint64_t orders) const {
        if (max_nodes_ > 0) {
            looks_->fetch_add(orders, std::memory_order_relaxed);
        }
    }
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }
    bool over() const {
        return stop_.stop_requested() || (limit_s_ > 0.0 && seconds() > limit_s_) ||
               (max_nodes_ > 0 && nodes_->load(std::memory_order_relaxed) >= max_nodes_);
    }
    // Of climbs, which end earlier than the proof that follows: at as many looks, too, where nodes
    // are limited.
    bool climb_over() const {
        return over() || (max_nodes_ > 0 && looks_->load(std::memory_order_relaxed) >=
                                                std::max(kMostLooks, kLooksPerNode * max_nodes_));
    }

  private:
    // Chosen on the layers of llama-3-8b on Trainium, whose climbs took minutes without a limit.
    static constexpr std::uint64_t kMostLooks = 20'000'000;
    static constexpr std::uint64_t kLooksPerNode = 10;
    double limit_s_ = 0.0; // 0: none
    std::stop_token stop_;
    std::uint64_t max_nodes_ = 0; // 0: none
    std::shared_ptr<std::atomic<std::uint64_t>> nodes_ =
        std::make_shared<std::atomic<std::uint64_t>>(0);
    std::shared_ptr<std::atomic<std::uint64_t>> looks_ =
        std::make_shared<std::atomic<std::uint64_t>>(0);
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace eyeroof::mapper
