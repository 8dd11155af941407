// Time that each part of a comparison adds or saves, as bars to both sides of a line.
#pragma once

#include "report/draw/drawing.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

struct AddedTime {
    std::string name;
    double seconds = 0.0;
    std::string tip = {}; // for a pointer over the bar
};

// At most `most` bars, the longest first; the subtitle states the remainder.
Drawing added_bars(std::vector<AddedTime> added, const std::string& title, std::size_t most = 24);

} // namespace eyeroof::report
