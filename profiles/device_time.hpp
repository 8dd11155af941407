// Where a device's time goes: at work, with what, and idle, and whether the host is why.
#pragma once

#include "profiles/measurement.hpp"

#include <optional>

namespace eyeroof::profiles {

// Of one device, from the start of its first kernel or copy to the end of the last. Intervals that
// overlap count once: a collective or copy is exposed where nothing computes meanwhile, a copy also
// where no collective runs. Fills of memory count as computation. Seconds:
//   total = computation + exposed_communication + exposed_copies + idle
//   idle  = host_bound + launch_latency + idle whose launch is not known
struct DeviceTime {
    double total_s = 0.0;
    double computation_s = 0.0;
    double communication_s = 0.0, exposed_communication_s = 0.0;
    double copies_s = 0.0, exposed_copies_s = 0.0;
    double idle_s = 0.0;
    double host_bound_s = 0.0;     // idle while the host had not yet launched what came next
    double launch_latency_s = 0.0; // idle from that launch to the start
    std::int64_t gaps = 0;         // idle times of 1 us and more
    double longest_gap_s = 0.0;

    double busy_s() const { return total_s - idle_s; }
    bool operator==(const DeviceTime&) const = default;
};

// Of the device with most time at work. nullopt where starts are not known.
std::optional<DeviceTime> device_time(const Profile& profile);

} // namespace eyeroof::profiles
