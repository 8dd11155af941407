// The best way to spread a problem's dimensions over the physical axes of an array.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/workload/problem.hpp"

#include <functional>
#include <map>
#include <tuple>
#include <vector>

namespace eyeroof::model {

// One physical axis and what the dataflow may unroll over it.
struct FitAxis {
    std::size_t level = 0; // the fan-out below this level …
    std::uint8_t axis = 0; // … and the axis within it
    std::string name;
    Count size = 1;
    DimSet dims;

    bool operator==(const FitAxis&) const = default;
};

// Axes of the accelerator under a dataflow, outermost first; axes that carry no dimension included.
std::vector<FitAxis> fit_axes(const Accelerator& accelerator, const Dataflow& dataflow);

// factors[a][d]: how many values of dimension d lie along axis a.
struct SpatialFit {
    std::vector<Extents> factors;
    double averaged_units = 1.0; // prod_d size_d / ceil(size_d / factor_d)
    Count allocated_units = 1;   // product of all factors
    bool exact = true; // false: the search was cut off and averaged_units is an upper bound

    bool operator==(const SpatialFit&) const = default;
};

// Says whether an array-wide tile with these factors can be stored.
using FitPredicate = std::function<bool(const std::vector<Extents>&)>;

// Largest averaged_units over all tiles f with prod_d f[a][d] <= size_a; of equal ones the
// first found, which tries large tiles first. Dimensions in `whole` are unrolled entirely (over the
// axes together) or not at all when they fit the axes; `allowed`, if given, prunes placements.
// Source: Eyexam step 4, P4 = max over assignments of the averaged active PEs, per axis.
SpatialFit best_spatial_fit(const Extents& bounds, const std::vector<FitAxis>& axes, DimSet whole,
                            const FitPredicate& allowed = {});

// best_spatial_fit() without `allowed`, for many arrays. Where no two axes may carry the same
// dimension, the trips are a product over axes, prod_a prod_{d in dims_a} ceil(size_d / f[a][d]),
// so that each axis has its best tile whatever the others are; those are kept by axis.
class SpatialFits {
  public:
    SpatialFit best(const Extents& bounds, const std::vector<FitAxis>& axes, DimSet whole);

  private:
    // Bounds of the dimensions that the axis may carry (1 elsewhere), its size, and those to be
    // unrolled entirely.
    using Key = std::tuple<Extents, Count, std::uint8_t>;

    std::map<Key, SpatialFit> known_;
};

} // namespace eyeroof::model
