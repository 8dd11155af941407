// Which launches and copies of a trace are one step.
#pragma once

#include "profiles/measurement.hpp"

#include <string>
#include <vector>

namespace eyeroof::formats {

struct TraceStep {
    std::vector<std::size_t> launches; // in order of start
    std::vector<std::size_t> copies;
    std::string name;
    std::vector<std::string> notes; // of other GPUs and other kinds of steps in the trace
};

// Of the GPU with most kernel time.
TraceStep step_of(const profiles::Profile& profile);

} // namespace eyeroof::formats
