// What a demand leaves to chance: lengths, times of arrival, and drafts that pass.
#pragma once

#include "analysis/scale/serving_load.hpp"

#include <cstdint>

namespace eyeroof::analysis::load {

// A number in (0, 1) from a seed: splitmix64 (Steele, Lea, Flood, 2014), the same everywhere.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    double uniform();
    double normal(); // Box and Muller

  private:
    std::uint64_t state_;
};

class Draws {
  public:
    // `room`: tokens that a server's cache holds, which no request exceeds.
    Draws(const Demand& demand, Count room) : demand_(demand), room_(room), random_(demand.seed) {}

    RequestSize size();
    double until_next_s();
    // Steps until an answer is made of its first token and what each step accepts.
    Count steps(Count answer);

  private:
    Count length(Count mean);

    const Demand& demand_;
    Count room_, sized_ = 0;
    Random random_;
};

} // namespace eyeroof::analysis::load
