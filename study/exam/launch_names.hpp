// Launch modes by the names that command lines, sessions and the window use.
// Knows no meaning of them: run.hpp does.
#pragma once

#include "study/exam/run.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace eyeroof::study {

inline constexpr std::array<std::pair<const char*, LaunchMode>, 5> kLaunchNames = {
    {{"eager", LaunchMode::eager},
     {"stream", LaunchMode::stream},
     {"kernel", LaunchMode::kernel},
     {"graph", LaunchMode::graph},
     {"compiled", LaunchMode::compiled}}};

inline std::string_view launch_name(LaunchMode launch) {
    for (const auto& [name, mode] : kLaunchNames) {
        if (mode == launch) {
            return name;
        }
    }
    return "stream";
}

// stream where there is no such name.
inline LaunchMode launch_named(std::string_view wanted) {
    for (const auto& [name, mode] : kLaunchNames) {
        if (name == wanted) {
            return mode;
        }
    }
    return LaunchMode::stream;
}

} // namespace eyeroof::study
