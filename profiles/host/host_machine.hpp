// What the operating system says of this processor.
#pragma once

#include <cstddef>
#include <string>

namespace eyeroof::profiles {

std::string host_name();       // "AMD EPYC 7763 64-Core Processor"
int host_threads();            // processors that this process may use
std::size_t available_bytes(); // of memory, as the system tells it; 0 where it does not
std::string host_load();       // "0.3 of 8 processors": running programs, mean of the last minute

} // namespace eyeroof::profiles
