// A logarithmic axis: the pure functions between a value, its place on the axis and its ticks.
#pragma once

#include <string>
#include <vector>

namespace eyeroof::report {

struct LogRange {
    double min = 1.0; // > 0
    double max = 10.0;

    bool operator==(const LogRange&) const = default;
};

// What any axis may show; zooming and panning stop here.
inline constexpr double kAxisLeast = 1e-15;
inline constexpr double kAxisMost = 1e27;
inline constexpr double kNarrowestSpan = 1.05; // max / min

// Both ends in kAxisLeast … kAxisMost, max / min at least kNarrowestSpan, whatever came in.
LogRange legal(LogRange range);

// 0 at min, 1 at max, outside beyond; -infinity for values that are not positive.
double to_unit(const LogRange& range, double value);
double from_unit(const LogRange& range, double unit);

// The range that shows `factor` times as many decades; the value `at` keeps its place.
LogRange zoomed(const LogRange& range, double at, double factor);
// The range moved by a share of itself: 1 shows what lay just beyond max.
LogRange panned(const LogRange& range, double share);

struct Tick {
    double value = 1.0;
    std::string label; // empty: a line without a number
    bool major = true;

    bool operator==(const Tick&) const = default;
};

// How numbers stand at the ticks: 0.01 and 1000, or 10 m and 1 k; whole: as si, of what is counted,
// and nowhere between two counts.
enum class TickText { plain, si, whole };

// What an axis shows of values between two ends, both > 0: a little around them; of counts as far
// as twice the first at least, so that a single one has another beside it. The usual range where
// least > most: there are none.
LogRange around(double least, double most, TickText text);

// At most `most` numbers (at least two), at powers of ten or, where fewer than two powers are in
// sight, at 1-2-5 steps or even steps; unnumbered lines at 2 … 9 where the decades are wide enough.
std::vector<Tick> ticks_of(const LogRange& range, int most, TickText text);

} // namespace eyeroof::report
