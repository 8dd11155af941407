// How long a search may go on: until it is stopped or its time is over, counted from when it was
// asked for. Asked by everything that may take long, the making of the spaces too.
// Limits effort only, never the answer of a search that ends.
#pragma once

#include <algorithm>
#include <chrono>
#include <stop_token>
#include <utility>

namespace eyeroof::mapper {

class Effort {
  public:
    Effort() = default; // without end
    Effort(double limit_s, std::stop_token stop) : limit_s_(limit_s), stop_(std::move(stop)) {}

    // No longer than this share of the time that is left, from now on.
    Effort part(double share) const {
        constexpr double kLeast_s = 1e-3; // 0 would be without end
        return {limit_s_ > 0.0 ? std::max(share * (limit_s_ - seconds()), kLeast_s) : 0.0, stop_};
    }

    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }
    bool over() const { return stop_.stop_requested() || (limit_s_ > 0.0 && seconds() > limit_s_); }

  private:
    double limit_s_ = 0.0; // 0: none
    std::stop_token stop_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace eyeroof::mapper
