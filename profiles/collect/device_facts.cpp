#include "profiles/collect/device_facts.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace eyeroof::profiles {

namespace {

class Library {
  public:
    explicit Library(const std::string& name) : handle_(dlopen(name.c_str(), RTLD_NOW)) {}

    template <class Function> Function find(const char* name) const {
        void* symbol = handle_ != nullptr ? dlsym(handle_, name) : nullptr;
        return reinterpret_cast<Function>(symbol); // NOLINT: what dlsym is for
    }

  private:
    void* handle_; // stays open: drivers do not like to be closed
};

// The driver's entry points that are used; int stands for CUresult and CUdevice.
struct Driver {
    explicit Driver(const std::string& name) : library(name) {}

    template <class... Args> bool call(const char* name, Args... args) const {
        using Function = int (*)(Args...);
        const auto function = library.find<Function>(name);
        return function != nullptr && function(args...) == 0;
    }
    Library library;
};

// NVML's device, found by its place on the bus: NVML counts all GPUs, CUDA those it may see.
class Nvml {
  public:
    Nvml(const std::string& name, const std::string& bus_id, int ordinal) : library_(name) {
        if (!call("nvmlInit_v2")) {
            return;
        }
        if (bus_id.empty() || !call("nvmlDeviceGetHandleByPciBusId_v2", bus_id.c_str(), &device_)) {
            call("nvmlDeviceGetHandleByIndex_v2", static_cast<unsigned>(ordinal), &device_);
        }
    }

    bool found() const { return device_ != nullptr; }
    std::string driver_version() const {
        std::array<char, 96> text{};
        return call("nvmlSystemGetDriverVersion", text.data(), static_cast<unsigned>(text.size()))
                   ? text.data()
                   : std::string{};
    }
    // 0 where it is missing.
    double now(const char* name, int which) const {
        unsigned value = 0;
        return found() && call(name, device_, which, &value) ? value : 0.0;
    }
    double now(const char* name) const {
        unsigned value = 0;
        return found() && call(name, device_, &value) ? value : 0.0;
    }
    double busy_percent() const {
        struct Rates {
            unsigned gpu = 0, memory = 0;
        } rates;
        return found() && call("nvmlDeviceGetUtilizationRates", device_, &rates) ? rates.gpu : 0.0;
    }

  private:
    template <class... Args> bool call(const char* name, Args... args) const {
        using Function = int (*)(Args...);
        const auto function = library_.find<Function>(name);
        return function != nullptr && function(args...) == 0;
    }

    Library library_;
    void* device_ = nullptr;
};

constexpr int kSmClock = 1; // NVML_CLOCK_SM
constexpr int kMemoryClock = 2;
constexpr double kMHz = 1e6;
constexpr double kMilli = 1e-3;

std::string bus_id_of(const Driver& driver, int device) {
    std::array<char, 64> text{};
    return driver.call("cuDeviceGetPCIBusId", text.data(), static_cast<int>(text.size()), device)
               ? text.data()
               : std::string{};
}

int device_of(const Driver& driver, int ordinal) {
    int device = 0;
    const bool found = driver.call("cuInit", 0U) && driver.call("cuDeviceGet", &device, ordinal);
    return found ? device : -1;
}

void describe_by_driver(const Driver& driver, int device, RunInfo& run) {
    constexpr int kMultiprocessors = 16, kMajor = 75, kMinor = 76; // CUdevice_attribute
    std::array<char, 256> name{};
    if (driver.call("cuDeviceGetName", name.data(), static_cast<int>(name.size()), device)) {
        run.gpu = name.data();
    }
    int major = 0;
    int minor = 0;
    if (driver.call("cuDeviceGetAttribute", &major, kMajor, device) &&
        driver.call("cuDeviceGetAttribute", &minor, kMinor, device)) {
        run.compute_capability = fmt::format("{}.{}", major, minor);
    }
    int sms = 0;
    if (driver.call("cuDeviceGetAttribute", &sms, kMultiprocessors, device)) {
        run.sm_count = sms;
    }
    int version = 0; // 13000 is 13.0, 12040 is 12.4
    if (driver.call("cuDriverGetVersion", &version) && version > 0) {
        run.cuda = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
    }
}

} // namespace

void describe_device(RunInfo& run, int ordinal, const DeviceLibraries& libraries) {
    const Driver driver(libraries.driver);
    const int device = device_of(driver, ordinal);
    if (device >= 0) {
        describe_by_driver(driver, device, run);
    }
    const Nvml nvml(libraries.nvml, device >= 0 ? bus_id_of(driver, device) : "", ordinal);
    if (!nvml.found()) {
        return;
    }
    const auto take = [](double& field, double value) { field = value > 0.0 ? value : field; };
    if (const std::string version = nvml.driver_version(); !version.empty()) {
        run.driver = version;
    }
    take(run.sm_clock_max_hz, nvml.now("nvmlDeviceGetMaxClockInfo", kSmClock) * kMHz);
    take(run.memory_clock_hz, nvml.now("nvmlDeviceGetMaxClockInfo", kMemoryClock) * kMHz);
    take(run.power_limit_w, nvml.now("nvmlDeviceGetEnforcedPowerLimit") * kMilli);
}

struct DeviceWatch::State {
    State(int ordinal, const DeviceLibraries& libraries)
        : driver(libraries.driver),
          nvml(libraries.nvml, bus_id_of(driver, std::max(0, device_of(driver, ordinal))),
               ordinal) {
        if (nvml.found()) {
            thread = std::jthread([this](const std::stop_token& stop) { watch(stop); });
        }
    }

    void watch(const std::stop_token& stop) {
        constexpr auto kPause = std::chrono::milliseconds(5);
        std::unique_lock lock(mutex);
        while (!stop.stop_requested()) {
            const double clock = nvml.now("nvmlDeviceGetClockInfo", kSmClock) * kMHz;
            if (clock > 0.0) {
                (nvml.busy_percent() > 0.0 ? busy : all).push_back(clock);
            }
            power_w = std::max(power_w, nvml.now("nvmlDeviceGetPowerUsage") * kMilli);
            constexpr int kOfGpu = 0;
            temperature_c = std::max(temperature_c, nvml.now("nvmlDeviceGetTemperature", kOfGpu));
            wake.wait_for(lock, stop, kPause, [] { return false; });
        }
    }

    Driver driver;
    Nvml nvml;
    std::mutex mutex;
    std::condition_variable_any wake;
    std::vector<double> busy, all;
    double power_w = 0.0;
    double temperature_c = 0.0;
    std::jthread thread; // last: stops before what it uses goes
};

DeviceWatch::DeviceWatch(int ordinal, const DeviceLibraries& libraries)
    : state_(std::make_unique<State>(ordinal, libraries)) {}
DeviceWatch::~DeviceWatch() = default;

void DeviceWatch::finish(RunInfo& run) {
    if (state_->thread.joinable()) {
        state_->thread.request_stop();
        state_->thread.join();
    }
    std::vector<double>& clocks = state_->busy.empty() ? state_->all : state_->busy;
    if (!clocks.empty()) {
        std::ranges::sort(clocks);
        run.sm_clock_hz = clocks[clocks.size() / 2];
    }
    run.power_w = std::max(run.power_w, state_->power_w);
    run.temperature_c = std::max(run.temperature_c, state_->temperature_c);
}

} // namespace eyeroof::profiles
