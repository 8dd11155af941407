// How easy a machine makes things for mappings: the sizes of its arrays and stores, and its rates.
// Of two machines that differ in nothing else, the one where none of these is smaller runs every
// mapping of the other, and at no higher cost.
#pragma once

#include "model/accelerator/accelerator.hpp"

#include <vector>

namespace eyeroof::analysis {

struct Ease {
    std::vector<double> axes;
    std::vector<double> capacities; // of the stores that have one
    std::vector<double> rates;      // B/cycle, of stores and channels

    bool operator==(const Ease&) const = default;
};

Ease ease_of(const model::Accelerator& accelerator);
// Is nothing smaller than in `other`?
bool covers(const Ease& ease, const Ease& other);
bool covers_sizes(const Ease& ease, const Ease& other); // rates apart
// The larger of both in everything.
Ease easier(const Ease& a, const Ease& b);
// The smaller rates of two machines of equal sizes.
Ease slower(Ease a, const Ease& b);
// How many times as fast as `slowest` at most.
double speedup(const Ease& ease, const Ease& slowest);
model::Accelerator with_ease(model::Accelerator accelerator, const Ease& ease);

// The machine without all that Ease holds and costs depend on as it says. Where they do not (units
// that leak in a larger array, tiles that a larger store fetches early), it stays.
model::Accelerator without_ease(model::Accelerator accelerator);

} // namespace eyeroof::analysis
