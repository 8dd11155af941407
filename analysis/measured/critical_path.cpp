#include "analysis/measured/critical_path.hpp"

#include "profiles/operator_layer.hpp"

#include <algorithm>
#include <map>

namespace eyeroof::analysis {

namespace {

using profiles::kNone;

enum class Work { computation, communication, copy };

struct Event {
    double start_ns = 0.0, end_ns = 0.0;
    std::int64_t called_ns = kNone;
    Work work = Work::computation;
    std::uint32_t kernel = 0; // of a launch
    bool is_launch = false;
    std::int64_t stream = kNone;
};

using Device = std::pair<std::uint32_t, std::int64_t>;

// Work of one stream is serial: what overlaps the next of its stream, by a rounded time or a
// programmatic launch, counts until that starts.
void make_serial(std::vector<Event>& events) {
    std::ranges::stable_sort(events, {}, &Event::start_ns);
    std::map<std::int64_t, Event*> last;
    for (Event& event : events) {
        if (event.stream == kNone) {
            continue;
        }
        Event*& before = last[event.stream];
        if (before != nullptr) {
            before->end_ns = std::min(before->end_ns, event.start_ns);
        }
        before = &event;
    }
}

// Of the device with most events, in order of their ends.
std::vector<Event> events_of(const profiles::Profile& step) {
    std::vector<bool> communicates;
    communicates.reserve(step.kernels.size());
    for (const profiles::Kernel& kernel : step.kernels) {
        communicates.push_back(profiles::is_collective(kernel.name));
    }
    std::map<Device, std::vector<Event>> devices;
    for (const profiles::Launch& launch : step.launches) {
        if (launch.start_ns == kNone || launch.duration_ns < 0.0 || launch.calls != 1) {
            return {};
        }
        const auto start = static_cast<double>(launch.start_ns);
        devices[{launch.source, launch.device}].push_back(
            {start, start + launch.duration_ns, launch.called_ns,
             communicates[launch.kernel] ? Work::communication : Work::computation, launch.kernel,
             true, launch.stream});
    }
    for (const profiles::DeviceCopy& copy : step.copies) {
        const auto start = static_cast<double>(copy.start_ns);
        devices[{copy.source, copy.device}].push_back(
            {start, start + copy.duration_ns, copy.called_ns,
             copy.kind == profiles::CopyKind::fill ? Work::computation : Work::copy, 0, false,
             copy.stream});
    }
    const auto most = std::ranges::max_element(
        devices, {}, [](const auto& device) { return device.second.size(); });
    if (most == devices.end()) {
        return {};
    }
    make_serial(most->second);
    std::ranges::stable_sort(most->second, {}, &Event::end_ns);
    return std::move(most->second);
}

class Walk {
  public:
    explicit Walk(const profiles::Profile& step) : step_(step), events_(events_of(step)) {}

    std::optional<CriticalPath> run() {
        if (events_.empty()) {
            return std::nullopt;
        }
        for (const Event& event : events_) {
            path_.kernels_s += event.is_launch ? (event.end_ns - event.start_ns) * kNs : 0.0;
        }
        for (std::size_t at = events_.size(); at > 0;) {
            at = back_from(events_[at - 1], at - 1);
        }
        for (auto& [kernel, sum] : sums_) {
            sum.name = step_.kernels[kernel].name;
            path_.longest.push_back(std::move(sum));
        }
        std::ranges::stable_sort(path_.longest, std::ranges::greater{}, &PathKernel::seconds);
        constexpr std::size_t kMost = 10;
        path_.longest.resize(std::min(kMost, path_.longest.size()));
        return std::move(path_);
    }

  private:
    static constexpr double kNs = 1e-9;

    // The number of events that end before what the path goes on with, that one included.
    std::size_t back_from(const Event& event, std::size_t earlier) {
        const double seconds = (event.end_ns - event.start_ns) * kNs;
        (event.work == Work::computation     ? path_.computation_s
         : event.work == Work::communication ? path_.communication_s
                                             : path_.copies_s) += seconds;
        if (event.is_launch) {
            PathKernel& sum = sums_[event.kernel];
            sum.calls += 1;
            sum.seconds += seconds;
        }
        const auto end = events_.begin() + static_cast<std::ptrdiff_t>(earlier);
        const auto before =
            std::ranges::upper_bound(events_.begin(), end, event.start_ns, {}, &Event::end_ns);
        const auto count = static_cast<std::size_t>(before - events_.begin());
        if (count > 0) {
            add_gap(event, events_[count - 1].end_ns);
        }
        return count;
    }

    void add_gap(const Event& event, double end_ns) {
        const double gap_s = (event.start_ns - end_ns) * kNs;
        const bool late = event.called_ns != kNone && static_cast<double>(event.called_ns) > end_ns;
        if (!late) {
            path_.wait_s += gap_s;
            return;
        }
        const double host_s =
            std::clamp((static_cast<double>(event.called_ns) - end_ns) * kNs, 0.0, gap_s);
        path_.host_s += host_s;
        path_.launch_s += gap_s - host_s;
    }

    const profiles::Profile& step_;
    std::vector<Event> events_;
    CriticalPath path_;
    std::map<std::uint32_t, PathKernel> sums_;
};

} // namespace

std::optional<CriticalPath> critical_path(const profiles::Profile& step) {
    return Walk(step).run();
}

} // namespace eyeroof::analysis
