// Intervals of predicted runs of many devices, from published ones that are left out.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// A published run over its prediction, and what it may be left out with.
struct RunRatio {
    double ratio = 1.0;                          // published over predicted
    double low = 1.0, high = 1.0;                // the program's interval, over the prediction
    std::string group;                           // runs that err together: of one model
    std::map<std::string, std::string> left_out; // such as {"GPU", "a100-sxm-80gb"}

    bool operator==(const RunRatio&) const = default;
};

struct RunBand {
    std::string kind;
    int rows = 0;
    double low = 1.0, high = 1.0;           // fitted, over the prediction
    double inside = 0.0;                    // share of the rows inside it
    double shipped = 0.0;                   // share of the rows inside the program's own interval
    std::map<std::string, double> held_out; // share inside, by what was left out

    double width() const { return high / low; }
    bool operator==(const RunBand&) const = default;
};

// Of logarithms x of ratios in groups g with means m_g (one-way random effects):
//   center = mean of m_g,  s^2 = (1 + 1/groups) var(m_g) + mean of the variances in groups
//   interval = center +- k s
// k is the least, in steps of 0.02 up to 4, with which the intervals of all other rows hold 80 % of
// those left out, on average over the ways to leave out (by each key of `left_out`: every value in
// turn). A way with one value, or that leaves one group, is none. k = 1.28 where there is no way.
RunBand fit_band(const std::string& kind, const std::vector<RunRatio>& rows);

} // namespace eyeroof::analysis
