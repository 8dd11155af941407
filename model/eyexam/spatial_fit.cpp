#include "model/eyexam/spatial_fit.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::model {

namespace {

constexpr Count kMaxVisits = 20'000; // beyond it the flattened bound is returned

// The smallest tile that needs no more trips than `tile`: all tiles between the two give the same
// trips with more idle units.
Count smallest_alike(Count size, Count tile) {
    return ceil_div(size, ceil_div(size, tile));
}

// Quotient rounded up, forgiving the rounding of the products that led to it: it serves as a lower
// bound and must never be too large.
double ceil_ratio(double work, double units) {
    constexpr double rounding = 1.0 - 1e-12;
    return std::ceil(work / units * rounding);
}

// Depth first over axes, and over the dimensions an axis may carry; it minimises the trips,
// prod_d ceil(size_d / factor_d). A branch is left when even the flattened rest, all trips that may
// still shrink divided by all units that are still free and rounded up once, does not beat the
// best: rounding up per dimension never gives less, because ceil(k * S / n) <= k * ceil(S / n).
class Search {
  public:
    Search(const Extents& bounds, const std::vector<FitAxis>& axes, DimSet whole,
           const FitPredicate& allowed)
        : bounds_(bounds), axes_(axes), whole_(whole), allowed_(allowed), trips_(bounds) {
        current_.assign(axes.size(), kOnes);
        best_.factors = current_;
        room_after_.assign(axes.size() + 1, 1.0);
        dims_after_.assign(axes.size() + 1, DimSet{});
        for (std::size_t a = axes.size(); a-- > 0;) {
            const double useful = axes[a].dims.empty() ? 1.0 : static_cast<double>(axes[a].size);
            room_after_[a] = room_after_[a + 1] * useful;
            dims_after_[a] = dims_after_[a + 1] | axes[a].dims;
        }
        for (const Count size : bounds) {
            best_trips_ *= static_cast<double>(size);
        }
        work_ = best_trips_;
    }

    SpatialFit run() {
        const Count room = axes_.empty() ? 1 : axes_[0].size;
        const double floor = fewest_trips(0, 0, room);
        visit(0, 0, room);
        if (visits_ > kMaxVisits && best_trips_ > floor) {
            best_.exact = false;
            best_trips_ = floor;
        }
        best_.averaged_units = work_ / best_trips_;
        return best_;
    }

  private:
    // A lower bound on the trips of everything below a node, see above. `room`: units left on
    // `axis`.
    double fewest_trips(std::size_t axis, std::size_t dim, Count room) const {
        const bool here = axis < axes_.size() && room > 1;
        const DimSet later = axis < axes_.size() ? dims_after_[axis + 1] : DimSet{};
        double fixed = 1.0;
        double shrinking = 1.0;
        for (std::size_t d = 0; d < kDims; ++d) {
            if (trips_[d] == 1) {
                continue;
            }
            const bool may_shrink = later.contains(kAllDims[d]) ||
                                    (here && d >= dim && axes_[axis].dims.contains(kAllDims[d]));
            (may_shrink ? shrinking : fixed) *= static_cast<double>(trips_[d]);
        }
        const double units =
            axis < axes_.size() ? static_cast<double>(room) * room_after_[axis + 1] : 1.0;
        return fixed * ceil_ratio(shrinking, units);
    }

    bool partly_unrolled() const {
        for (const Dim d : kAllDims) {
            if (whole_.contains(d) && trips_[index(d)] != 1 &&
                trips_[index(d)] != bounds_[index(d)]) {
                return true;
            }
        }
        return false;
    }

    void leaf() {
        double trips = 1.0;
        for (const Count t : trips_) {
            trips *= static_cast<double>(t);
        }
        if (trips >= best_trips_ || partly_unrolled() || (allowed_ && !allowed_(current_))) {
            return;
        }
        best_trips_ = trips;
        best_.factors = current_;
        best_.allocated_units = 1;
        for (const Extents& factors : current_) {
            for (const Count factor : factors) {
                best_.allocated_units *= factor;
            }
        }
    }

    void visit(std::size_t axis, std::size_t dim, Count room) {
        if (fewest_trips(axis, dim, room) >= best_trips_ || ++visits_ > kMaxVisits) {
            return;
        }
        if (axis == axes_.size()) {
            leaf();
            return;
        }
        while (dim < kDims &&
               (room == 1 || trips_[dim] == 1 || !axes_[axis].dims.contains(kAllDims[dim]))) {
            ++dim;
        }
        if (dim == kDims) {
            visit(axis + 1, 0, axis + 1 < axes_.size() ? axes_[axis + 1].size : 1);
            return;
        }
        branch(axis, dim, room);
    }

    void branch(std::size_t axis, std::size_t dim, Count room) {
        const Count before = trips_[dim];
        const Count total = total_[dim];
        for (Count tile = std::min(before, room); tile >= 1; --tile) {
            tile = smallest_alike(before, tile);
            current_[axis][dim] = tile;
            total_[dim] = total * tile;
            trips_[dim] = ceil_div(bounds_[dim], total_[dim]);
            visit(axis, dim + 1, room / tile);
        }
        current_[axis][dim] = 1;
        total_[dim] = total;
        trips_[dim] = before;
    }

    const Extents& bounds_;
    const std::vector<FitAxis>& axes_;
    DimSet whole_;
    const FitPredicate& allowed_;
    std::vector<Extents> current_;
    Extents total_ = kOnes;
    Extents trips_; // ceil(bound / total), per dimension
    std::vector<double> room_after_;
    std::vector<DimSet> dims_after_; // dimensions that this axis or a later one may carry
    double work_ = 1.0;
    double best_trips_ = 1.0;
    SpatialFit best_;
    Count visits_ = 0;
};

} // namespace

std::vector<FitAxis> fit_axes(const Accelerator& accelerator, const Dataflow& dataflow) {
    std::vector<FitAxis> axes;
    for (std::size_t level = 0; level < accelerator.levels.size(); ++level) {
        const auto& fanout = accelerator.levels[level].fanout;
        for (std::size_t a = 0; a < fanout.size(); ++a) {
            FitAxis axis{level, static_cast<std::uint8_t>(a), fanout[a].name, fanout[a].size, {}};
            for (const SpatialRule& rule : dataflow.spatial) {
                if (rule.axis == axis.name) {
                    axis.dims = rule.dims;
                }
            }
            axes.push_back(std::move(axis));
        }
    }
    return axes;
}

namespace {

double averaged_units(const Extents& bounds, const std::vector<Extents>& factors) {
    double work = 1.0;
    double trips = 1.0;
    for (std::size_t d = 0; d < kDims; ++d) {
        Count spread = 1;
        for (const Extents& axis : factors) {
            spread *= axis[d];
        }
        work *= static_cast<double>(bounds[d]);
        trips *= static_cast<double>(ceil_div(bounds[d], spread));
    }
    return work / trips;
}

bool carry_different_dims(const std::vector<FitAxis>& axes) {
    DimSet carried;
    for (const FitAxis& axis : axes) {
        for (const Dim d : kAllDims) {
            if (axis.dims.contains(d) && carried.contains(d)) {
                return false;
            }
        }
        carried = carried | axis.dims;
    }
    return true;
}

} // namespace

SpatialFit SpatialFits::best(const Extents& bounds, const std::vector<FitAxis>& axes,
                             DimSet whole) {
    if (!carry_different_dims(axes)) {
        return Search(bounds, axes, whole, {}).run();
    }
    constexpr std::size_t kMostKnown = 100'000;
    SpatialFit together;
    for (const FitAxis& axis : axes) {
        Extents own = kOnes;
        DimSet own_whole;
        for (const Dim d : kAllDims) {
            if (axis.dims.contains(d)) {
                own[index(d)] = bounds[index(d)];
            }
            if (axis.dims.contains(d) && whole.contains(d)) {
                own_whole.insert(d);
            }
        }
        const Key key(own, axis.size, own_whole.bits());
        auto known = known_.find(key);
        if (known == known_.end()) {
            if (known_.size() >= kMostKnown) {
                known_.clear();
            }
            known = known_.emplace(key, Search(own, {axis}, own_whole, {}).run()).first;
        }
        const SpatialFit& fit = known->second;
        together.factors.push_back(fit.factors.front());
        together.averaged_units *= fit.averaged_units;
        together.allocated_units *= fit.allocated_units;
        together.exact = together.exact && fit.exact;
    }
    if (together.exact) { // one quotient: nothing is rounded twice
        together.averaged_units = averaged_units(bounds, together.factors);
    }
    return together;
}

SpatialFit best_spatial_fit(const Extents& bounds, const std::vector<FitAxis>& axes, DimSet whole,
                            const FitPredicate& allowed) {
    return allowed ? Search(bounds, axes, whole, allowed).run()
                   : SpatialFits().best(bounds, axes, whole);
}

} // namespace eyeroof::model
