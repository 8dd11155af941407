// What driver and NVML say of a GPU: name, driver, clocks, power, temperature; once, and while
// something runs on it. Both libraries are opened at run time, without CUDA headers. What is not
// known is left as it is.
#pragma once

#include "profiles/measurement.hpp"

#include <memory>
#include <string>

namespace eyeroof::profiles {

struct DeviceLibraries {
    std::string driver = "libcuda.so.1";
    std::string nvml = "libnvidia-ml.so.1";
};

// Name, compute capability, SMs, driver, CUDA version, highest SM clock, memory clock, power limit
// of the device that CUDA calls `ordinal` in this process's environment. Makes no context.
void describe_device(RunInfo& run, int ordinal, const DeviceLibraries& libraries = {});

// Samples SM clock, power and temperature every few milliseconds from its making until finish().
class DeviceWatch {
  public:
    explicit DeviceWatch(int ordinal, const DeviceLibraries& libraries = {});
    DeviceWatch(const DeviceWatch&) = delete;
    DeviceWatch& operator=(const DeviceWatch&) = delete;
    ~DeviceWatch();

    // Median SM clock of the samples with the GPU at work (of all, when it never was), highest
    // power and temperature.
    void finish(RunInfo& run);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace eyeroof::profiles
