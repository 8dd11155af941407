// Keeps the memory of a profile bounded: launches one by one up to a limit, sums beyond it.
#pragma once

#include "profiles/measurement.hpp"

#include <cstddef>
#include <string_view>
#include <unordered_map>

namespace eyeroof::profiles {

// A profile holds at most this many single launches, and this many bytes of them with their
// counters.
inline constexpr std::size_t kMostLaunches = 250'000;
inline constexpr std::size_t kMostLaunchBytes = std::size_t{64} << 20U;
// Kernels of equal launch shape, operator and range that are kept apart; of more the shapes are
// not.
inline constexpr std::size_t kMostSums = 200'000;

// Does a counter grow with every launch, so that of several it is the sum? Rates, shares and
// levels do not.
bool is_amount(std::string_view counter);

// Where launches pass the limit, all of them become sums by source, kernel, operator, range,
// device, grid and block: `calls` launches, their durations added up, without starts, streams and
// numbers of executions. Counters of amounts ("flops.*", "bytes.*", "*.sum", AMD's) are added up,
// of all others the mean is kept. A note of the profile says so.
class LaunchSums {
  public:
    void add(Profile& profile, Launch launch);
    void begin_sums(Profile& profile); // whatever the number
    bool sums() const { return sums_; }

  private:
    struct Key {
        std::uint32_t source, kernel;
        std::int32_t op, leaf, range;
        std::int64_t device;
        Dim3 grid, block;
        bool under_replay;
        bool timed;

        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const;
    };

    void fold(Profile& profile, Launch launch);

    bool sums_ = false;
    std::size_t bytes_ = 0;
    std::unordered_map<Key, std::size_t, Hash> index_; // into the profile's launches
};

} // namespace eyeroof::profiles
