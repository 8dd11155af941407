// The parts of the ladders of a layer and of a network: their bars and positions.
#pragma once

#include "report/draw/waterfall_scene.hpp"

#include <string>

namespace eyeroof::report {

inline constexpr double kLadderSide = 16.0;  // free left and right of it, pixels
inline constexpr double kLeastLoss = 0.0005; // smaller losses are rounding, not worth a number
inline constexpr const char* kMeasuredName = "unexplained (measured)";

// MACs, or half the operations of a layer without any: what a chain's bounds count.
double macs_of(const analysis::LayerReport& layer);

WaterfallBar all_units(const analysis::Report& report, double units);
// What a time, s, means as a share of the units' peak: the work's time at that peak over it.
WaterfallBar time_bar(double ideal_s, const char* name, double time_s, double before);
std::string lost_text(double before, double after); // "−12.3 %", empty where nothing is lost
// "−2.2 % time": what a measurement takes beside its prediction, as every text says it; empty where
// both are the same. The bars above it say shares of the throughput.
std::string time_change(double unexplained_s, double predicted_s);
std::string unexplained_text(double unexplained_s, double predicted_s);

// An empty scene of a size at which nothing is cut.
WaterfallScene ladder_on(const Canvas& canvas);
// Places titles, bars and legend of a scene that has its bars; names give way to numbers.
void place_ladder(WaterfallScene& scene);

} // namespace eyeroof::report
