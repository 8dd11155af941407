// Limits beyond which a number of a machine is a slip, not a machine: far outside of what has been
// built or proposed, and near enough that nothing computed from them overflows.
#pragma once

namespace eyeroof {

inline constexpr double kMinClockHz = 1.0; // emulated machines are slow, but they tick
inline constexpr double kMaxClockHz = 1e11;
inline constexpr double kMaxBytes = 0x1p60;
inline constexpr double kMaxBytesPerSecond = 1e18;
inline constexpr double kMaxBytesPerCycle = 1e12;
inline constexpr double kMaxFlopsPerSecond = 1e21;
inline constexpr double kMaxWatts = 1e6;
inline constexpr double kMaxPicojoules = 1e12; // of one access: a joule

} // namespace eyeroof
