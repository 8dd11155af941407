// The candidates of a purchase as cards: speedup with its 80 % interval on one scale, break-even
// speedup, and published speedups of the same two GPUs.
// Made from an answer; painted by the upgrade view.
#pragma once

#include "analysis/upgrade/purchase.hpp"
#include "report/draw/drawing.hpp"

namespace eyeroof::report {

// Of texts that say it: faint where nothing is decided.
ColourRole role_of(analysis::UpgradeVerdict verdict);

// "pays off", "does not pay off", "undecided", "does not fit", "no prices", "equal".
std::string verdict_word(const analysis::PurchaseAnswer& answer);

// As high as its cards need, whatever the canvas says. `chosen` is framed.
Drawing make_candidates(const analysis::Purchase& purchase, std::size_t chosen,
                        const Canvas& canvas);

} // namespace eyeroof::report
