// When another GPU pays off. Rented: the cost of a run there and here, over the ratio of hourly
// prices. Bought: the savings over months.
// Made from upgrades; painted by the upgrade view.
#pragma once

#include "analysis/upgrade/upgrade.hpp"
#include "report/draw/drawing.hpp"

#include <vector>

namespace eyeroof::report {

// Cost of a run on a new GPU over its cost on the old one = price ratio / speed-up: a line through
// 0 that crosses 1 where the price ratio is the speed-up. The band is the interval of the chosen
// one's speed-up; a square marks where each GPU's own price ratio lies.
Drawing make_break_even(const std::vector<analysis::Upgrade>& upgrades, std::size_t chosen,
                        const Canvas& canvas);

// Saved after m months = m x (work x speed-up - power) - outlay, over the first 36 months or longer
// where it takes longer; the band is the interval of the chosen one's speed-up. Upgrades without a
// purchase price are left out; without any the drawing says so.
Drawing make_payback(const std::vector<analysis::Upgrade>& upgrades, std::size_t chosen,
                     const Canvas& canvas);

} // namespace eyeroof::report
