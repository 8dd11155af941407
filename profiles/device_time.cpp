#include "profiles/device_time.hpp"

#include "profiles/operator_layer.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace eyeroof::profiles {

namespace {

enum class Work { computation, communication, copy };

struct Interval {
    double start_ns = 0.0, end_ns = 0.0;
    Work work = Work::computation;
    std::int64_t called_ns = kNone;
};
struct Edge {
    double at_ns = 0.0;
    int change = 0; // 1: begins, -1: ends
    Work work = Work::computation;
    std::int64_t called_ns = kNone; // of a beginning
};

using Intervals = std::vector<Interval>;

// By source and device.
std::map<std::pair<std::uint32_t, std::int64_t>, Intervals> intervals_of(const Profile& profile) {
    std::map<std::pair<std::uint32_t, std::int64_t>, Intervals> devices;
    std::vector<char> communicates;
    communicates.reserve(profile.kernels.size());
    for (const Kernel& kernel : profile.kernels) {
        communicates.push_back(is_collective(kernel.name) ? 1 : 0);
    }
    for (const Launch& launch : profile.launches) {
        if (launch.start_ns == kNone || launch.duration_ns < 0.0 || launch.under_replay ||
            launch.calls != 1) {
            continue;
        }
        const auto start = static_cast<double>(launch.start_ns);
        devices[{launch.source, launch.device}].push_back(
            {start, start + launch.duration_ns,
             communicates[launch.kernel] != 0 ? Work::communication : Work::computation,
             launch.called_ns});
    }
    for (const DeviceCopy& copy : profile.copies) {
        const bool computes = copy.kind == CopyKind::fill;
        const auto start = static_cast<double>(copy.start_ns);
        devices[{copy.source, copy.device}].push_back({start, start + copy.duration_ns,
                                                       computes ? Work::computation : Work::copy,
                                                       copy.called_ns});
    }
    return devices;
}

class Sweep {
  public:
    explicit Sweep(const Intervals& intervals) {
        for (const Interval& interval : intervals) {
            edges_.push_back({interval.start_ns, 1, interval.work, interval.called_ns});
            edges_.push_back({interval.end_ns, -1, interval.work, kNone});
        }
        // Of one moment beginnings come first: what follows without a pause leaves no gap.
        std::ranges::stable_sort(edges_, [](const Edge& a, const Edge& b) {
            return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.change > b.change;
        });
    }

    DeviceTime run() {
        for (std::size_t i = 0; i < edges_.size(); ++i) {
            const Edge& edge = edges_[i];
            if (i > 0) {
                pass(edges_[i - 1].at_ns, edge);
            }
            running_[static_cast<std::size_t>(edge.work)] += edge.change;
        }
        return sum_;
    }

  private:
    bool runs(Work work) const { return running_[static_cast<std::size_t>(work)] > 0; }

    void pass(double from_ns, const Edge& next) {
        constexpr double kNs = 1e-9;
        constexpr double kToldGap_s = 1e-6;
        const double span_s = (next.at_ns - from_ns) * kNs;
        sum_.total_s += span_s;
        sum_.communication_s += runs(Work::communication) ? span_s : 0.0;
        sum_.copies_s += runs(Work::copy) ? span_s : 0.0;
        if (runs(Work::computation)) {
            sum_.computation_s += span_s;
        } else if (runs(Work::communication)) {
            sum_.exposed_communication_s += span_s;
        } else if (runs(Work::copy)) {
            sum_.exposed_copies_s += span_s;
        } else {
            sum_.idle_s += span_s;
            sum_.gaps += span_s >= kToldGap_s ? 1 : 0;
            sum_.longest_gap_s = std::max(sum_.longest_gap_s, span_s);
            if (next.called_ns != kNone) {
                const double late_s = (static_cast<double>(next.called_ns) - from_ns) * kNs;
                const double host_s = std::clamp(late_s, 0.0, span_s);
                sum_.host_bound_s += host_s;
                sum_.launch_latency_s += span_s - host_s;
            }
        }
    }

    std::vector<Edge> edges_;
    std::array<int, 3> running_{};
    DeviceTime sum_;
};

} // namespace

std::optional<DeviceTime> device_time(const Profile& profile) {
    std::optional<DeviceTime> most;
    for (const auto& [device, intervals] : intervals_of(profile)) {
        const DeviceTime time = Sweep(intervals).run();
        if (!most || time.busy_s() > most->busy_s()) {
            most = time;
        }
    }
    return most;
}

} // namespace eyeroof::profiles
