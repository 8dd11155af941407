// Percentiles of a stream of times in a memory that does not grow.
#pragma once

#include "analysis/scale/serving_load.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace eyeroof::analysis {

// Keeps the values while they are few, then counts them by size: 1024 bins from one power of two
// to the next, so that a percentile is off by at most 0.1 %.
class LoadTally {
  public:
    void add(double value);
    Percentiles percentiles(); // sorts

  private:
    void count(double value);
    double at(double share) const; // nearest rank

    static constexpr std::size_t kKept = 65536;
    std::vector<double> kept_;
    std::vector<std::uint64_t> bins_;
    std::uint64_t values_ = 0;
    double sum_ = 0.0;
};

} // namespace eyeroof::analysis
