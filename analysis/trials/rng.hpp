// Random numbers that are the same on every platform: the library's distributions are not.
#pragma once

#include <cstdint>
#include <random>

namespace eyeroof::analysis::tune {

// SplitMix64's finaliser: a number to a number, each bit depending on all (Steele et al., OOPSLA
// 2014).
constexpr std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
}

class Rng {
  public:
    explicit Rng(std::uint64_t seed) : engine_(mixed(seed)) {}

    std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : engine_() % n; }
    double unit() { return static_cast<double>(engine_() >> 11U) * 0x1.0p-53; } // 0 … 1, not 1
    bool with_chance(double share) { return unit() < share; }

  private:
    std::mt19937_64 engine_;
};

// A number in 0 … 1 that belongs to these two.
constexpr double unit_of(std::uint64_t seed, std::uint64_t key) {
    return static_cast<double>(mixed(mixed(seed) ^ key) >> 11U) * 0x1.0p-53;
}

} // namespace eyeroof::analysis::tune
