// When another GPU pays: what a run costs there against staying, over the ratio of hourly prices,
// with the interval of the prediction.
// Made from an upgrade; painted by the upgrade view.
// Knows no drawing library.
#pragma once

#include "study/scene/drawing.hpp"
#include "study/upgrade.hpp"

namespace eyeroof::study {

// Cost of a run on the new GPU over its cost on the old one = price ratio / speed-up: a line
// through 0 that crosses 1 where the price ratio is the speed-up; the band is the speed-up's
// interval.
Drawing make_break_even(const Upgrade& upgrade, const Canvas& canvas);

} // namespace eyeroof::study
