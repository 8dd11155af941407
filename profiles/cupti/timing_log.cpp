#include "profiles/cupti/timing_log.hpp"

#include "profiles/collect/collector.hpp"

namespace eyeroof::profiles {

namespace {

constexpr std::size_t kMostLaunches = 20'000'000; // of a process: some GB of file
constexpr std::size_t kMostWaiting = 1'000'000;

} // namespace

TimingLog::TimingLog(const CuptiApi& api, std::ostream& out) : api_(api), writer_(out) {
    built_.profile.run.tool = "eyeroof-cupti";
    built_.source("eyeroof profile");
}

void TimingLog::launch_begins(std::uint32_t correlation, const std::string& range,
                              std::int64_t range_call) {
    if (!range.empty()) {
        const std::lock_guard lock(mutex_);
        if (ranges_.size() >= kMostWaiting) { // of launches whose records never came
            ranges_.erase(ranges_.begin());
        }
        ranges_[correlation] = {range, range_call};
    }
}

// The offsets used here are the same in all versions of the record from Kernel7 (CUDA 11.6) to
// Kernel10 (13.0), and every toolkit since has the declaration of the first.
void TimingLog::add(const CUpti_Activity& record) {
    const auto& kernel =
        reinterpret_cast<const CUpti_ActivityKernel7&>(record); // NOLINT: CUPTI's way
    const std::string name = kernel.name != nullptr ? kernel.name : "(unnamed kernel)";
    Launch launch;
    launch.kernel = built_.kernel(demangled(name), name);
    launch.grid = {kernel.gridX, kernel.gridY, kernel.gridZ};
    launch.block = {kernel.blockX, kernel.blockY, kernel.blockZ};
    launch.stream = kernel.streamId;
    launch.device = kernel.deviceId;
    launch.start_ns = static_cast<std::int64_t>(kernel.start);
    launch.duration_ns =
        kernel.end >= kernel.start ? static_cast<double>(kernel.end - kernel.start) : kUnknown;
    launch.counters["correlation"] = kernel.correlationId;
    if (const auto range = ranges_.find(kernel.correlationId); range != ranges_.end()) {
        launch.range = built_.range(range->second.first);
        launch.range_call = range->second.second;
        ranges_.erase(range);
    }
    built_.profile.launches.push_back(std::move(launch));
}

void TimingLog::take(std::uint8_t* buffer, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (writer_.launches() >= kMostLaunches) {
        return;
    }
    CUpti_Activity* record = nullptr;
    while (api_.cuptiActivityGetNextRecord(buffer, bytes, &record) == CUPTI_SUCCESS) {
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
            record->kind == CUPTI_ACTIVITY_KIND_KERNEL) {
            add(*record);
        }
    }
    if (!any_) {
        writer_.begin(built_.profile.run);
        any_ = true;
    }
    if (writer_.launches() + built_.profile.launches.size() >= kMostLaunches) {
        built_.profile.notes.push_back("collecting stopped: more than 20 million launches");
    }
    writer_.append_and_forget(built_.profile);
}

void TimingLog::finish() {
    const std::lock_guard lock(mutex_);
    if (any_) {
        writer_.finish();
    }
}

} // namespace eyeroof::profiles
