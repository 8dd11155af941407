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
};

TraceStep step_of(const profiles::Profile& profile);

} // namespace eyeroof::formats
