// Is there a driver, and a GPU? Asked before a program is started under the profiler.
#pragma once

#include "profiles/collect/fault.hpp"

#include <optional>
#include <string>

namespace eyeroof::profiles {

// Nothing when there is a usable GPU. `library` is the driver's, another one in tests.
std::optional<BackendFault> check_device(const std::string& library = "libcuda.so.1");

} // namespace eyeroof::profiles
