// The search behind step 4 against a walk over every tiling.
#include "model/eyexam/spatial_fit.hpp"
#include "tests/model/random_cases.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using eyeroof::tests::near;

namespace eyeroof::model::test_spatial_fit {
namespace {

FitAxis axis_of(const char* name, Count size, DimSet dims) {
    return {0, 0, name, size, dims};
}

// Every factor of every allowed dimension on every axis, without a bound.
class Walk {
  public:
    Walk(const Extents& bounds, const std::vector<FitAxis>& axes, DimSet whole,
         const FitPredicate& allowed)
        : bounds_(bounds), axes_(axes), whole_(whole), allowed_(allowed),
          factors_(axes.size(), kOnes) {}

    double most_averaged_units() {
        if (!axes_.empty()) {
            place(0, 0, axes_[0].size);
        }
        return best_;
    }

  private:
    void place(std::size_t axis, std::size_t dim, Count room) {
        if (axis == axes_.size()) {
            judge();
        } else if (dim == kDims) {
            place(axis + 1, 0, axis + 1 < axes_.size() ? axes_[axis + 1].size : 1);
        } else {
            const Count most = axes_[axis].dims.contains(kAllDims[dim]) ? room : 1;
            for (Count f = 1; f <= std::min(most, bounds_[dim]); ++f) {
                factors_[axis][dim] = f;
                place(axis, dim + 1, room / f);
            }
            factors_[axis][dim] = 1;
        }
    }

    void judge() {
        double averaged = 1.0;
        for (std::size_t d = 0; d < kDims; ++d) {
            Count together = 1;
            for (const Extents& factors : factors_) {
                together *= factors[d];
            }
            if (whole_.contains(kAllDims[d]) && together > 1 && together < bounds_[d]) {
                return;
            }
            averaged *= static_cast<double>(bounds_[d]) /
                        static_cast<double>(ceil_div(bounds_[d], together));
        }
        if (averaged > best_ && (!allowed_ || allowed_(factors_))) {
            best_ = averaged;
        }
    }

    const Extents& bounds_;
    const std::vector<FitAxis>& axes_;
    DimSet whole_;
    const FitPredicate& allowed_;
    std::vector<Extents> factors_;
    double best_ = 1.0;
};

DimSet random_dims(test::Random& r) {
    DimSet dims;
    for (const Dim d : kAllDims) {
        if (r.chance(40)) {
            dims.insert(d);
        }
    }
    return dims;
}

} // namespace

TEST_CASE("the best layout of step 4 equals a walk over every layout") {
    test::Random r(4);
    for (int i = 0; i < 400; ++i) {
        Extents bounds = kOnes;
        for (Count& b : bounds) {
            b = r.chance(50) ? 1 : r.between(2, 13);
        }
        std::vector<FitAxis> axes;
        for (Count a = r.between(1, 2); a > 0; --a) {
            axes.push_back(axis_of("axis", r.between(1, 12), random_dims(r)));
        }
        const DimSet whole = r.chance(30) ? random_dims(r) : DimSet{};
        FitPredicate allowed;
        if (r.chance(30)) { // a store for some of the output
            const Count capacity = r.between(1, 12);
            allowed = [capacity](const std::vector<Extents>& factors) {
                Count words = 1;
                for (const Extents& f : factors) {
                    words *= f[index(Dim::K)] * f[index(Dim::P)];
                }
                return words <= capacity;
            };
        }
        const SpatialFit fit = best_spatial_fit(bounds, axes, whole, allowed);
        CHECK(fit.exact);
        CHECK(fit.averaged_units == near(Walk(bounds, axes, whole, allowed).most_averaged_units()));
    }
}

TEST_CASE("layouts that are kept axis by axis are those of a search of the whole array") {
    test::Random r(11);
    SpatialFits kept;
    for (int i = 0; i < 2000; ++i) {
        Extents bounds = kOnes;
        for (Count& b : bounds) {
            b = r.chance(40) ? 1 : r.between(2, 40);
        }
        DimSet first;
        DimSet second;
        for (const Dim d : kAllDims) { // no dimension may lie on both
            if (r.chance(70)) {
                (r.chance(50) ? first : second).insert(d);
            }
        }
        const std::vector<FitAxis> axes = {axis_of("y", r.between(1, 20), first),
                                           axis_of("x", r.between(1, 20), second)};
        const DimSet whole = r.chance(30) ? random_dims(r) : DimSet{};
        const SpatialFit fit = kept.best(bounds, axes, whole);
        const FitPredicate any = [](const std::vector<Extents>&) { return true; };
        CHECK(fit == best_spatial_fit(bounds, axes, whole, any)); // searches both axes at once
    }
}

TEST_CASE("the layout that is returned fits its axes and is worth what it claims") {
    const Extents bounds = {1, 1, 96, 3, 55, 55, 11, 11};
    const std::vector<FitAxis> axes = {axis_of("y", 12, {Dim::K, Dim::C, Dim::R}),
                                       axis_of("x", 14, {Dim::K, Dim::Q, Dim::P})};
    const SpatialFit fit = best_spatial_fit(bounds, axes, {});
    Count allocated = 1;
    double averaged = 1.0;
    for (std::size_t d = 0; d < kDims; ++d) {
        const Count together = fit.factors[0][d] * fit.factors[1][d];
        averaged *=
            static_cast<double>(bounds[d]) / static_cast<double>(ceil_div(bounds[d], together));
        allocated *= together;
    }
    CHECK(fit.averaged_units == near(averaged));
    CHECK(fit.allocated_units == allocated);
    CHECK(allocated <= 12 * 14);
}

TEST_CASE("dimensions of a million and axes of thousands stay quick and bounded") {
    const Extents bounds = {1, 1, 999'983, 1'000'003, 7, 7, 3, 3};
    DimSet all;
    for (const Dim d : kAllDims) {
        all.insert(d);
    }
    const SpatialFit fit =
        best_spatial_fit(bounds, {axis_of("y", 4096, all), axis_of("x", 4095, all)}, {});
    CHECK(fit.averaged_units <= 4096.0 * 4095.0);
    CHECK(fit.averaged_units > 0.99 * 4096.0 * 4095.0);
}

} // namespace eyeroof::model::test_spatial_fit
