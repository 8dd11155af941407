#include "model/eyexam/spatial_fit.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::model {

namespace {

constexpr Count kMaxVisits = 20'000; // beyond it the flattened bound is returned

// Distinct tile sizes that matter for a dimension of `size` with room for `room`: the smallest tile
// for each number of trips. All others give the same number of trips with more idle units.
void useful_tiles(Count size, Count room, std::vector<Count>& tiles) {
    tiles.clear();
    for (Count tile = std::min(size, room); tile >= 1; --tile) {
        tile = ceil_div(size, ceil_div(size, tile));
        tiles.push_back(tile);
    }
}

class Search {
  public:
    Search(const Extents& bounds, const std::vector<FitAxis>& axes, DimSet whole,
           const FitPredicate& allowed)
        : bounds_(bounds), axes_(axes), whole_(whole), allowed_(allowed) {
        current_.assign(axes.size(), kOnes);
        best_.factors = current_;
        room_after_.assign(axes.size() + 1, 1.0);
        for (std::size_t a = axes.size(); a-- > 0;) {
            const double useful = axes[a].dims.empty() ? 1.0 : static_cast<double>(axes[a].size);
            room_after_[a] = room_after_[a + 1] * useful;
        }
        ceiling_ = flattened_bound();
    }

    SpatialFit run() {
        visit(0, 0, axes_.empty() ? 1 : axes_[0].size, 1.0);
        if (visits_ > kMaxVisits && best_.averaged_units < ceiling_) {
            best_.exact = false;
            best_.averaged_units = ceiling_;
        }
        return best_;
    }

  private:
    // D / ceil(D / units) over all dims that any axis may carry: no tiling can do better, because
    // ceil(k * S / n) <= k * ceil(S / n).
    double flattened_bound() const {
        double parallel = 1.0;
        double units = 1.0;
        for (const Dim d : kAllDims) {
            const bool carried = std::any_of(axes_.begin(), axes_.end(), [d](const FitAxis& axis) {
                return axis.dims.contains(d);
            });
            parallel *= carried ? static_cast<double>(bounds_[index(d)]) : 1.0;
        }
        for (const FitAxis& axis : axes_) {
            units *= axis.dims.empty() ? 1.0 : static_cast<double>(axis.size);
        }
        return parallel / std::ceil(parallel / units);
    }

    Count trips_left(Dim d) const { return ceil_div(bounds_[index(d)], total_[index(d)]); }

    void leaf() {
        double averaged = 1.0;
        Count allocated = 1;
        for (const Dim d : kAllDims) {
            const Count factor = total_[index(d)];
            if (whole_.contains(d) && factor != 1 && factor < bounds_[index(d)]) {
                return;
            }
            averaged *= static_cast<double>(bounds_[index(d)]) / static_cast<double>(trips_left(d));
            allocated *= factor;
        }
        constexpr double rounding = 1e-9;
        const bool better = averaged > best_.averaged_units * (1.0 + rounding) ||
                            (averaged > best_.averaged_units * (1.0 - rounding) &&
                             allocated > best_.allocated_units);
        if (better && (!allowed_ || allowed_(current_))) {
            best_.factors = current_;
            best_.averaged_units = averaged;
            best_.allocated_units = allocated;
        }
    }

    // averaged: prod over dims of size / trips so far; room: units left on this axis.
    void visit(std::size_t axis, std::size_t dim, Count room, double averaged) {
        if (done_ || ++visits_ > kMaxVisits) {
            return;
        }
        const double reachable = axis < axes_.size()
                                     ? averaged * static_cast<double>(room) * room_after_[axis + 1]
                                     : averaged;
        if (reachable <= best_.averaged_units * (1.0 - 1e-12)) {
            return;
        }
        if (axis == axes_.size()) {
            leaf();
            done_ = best_.averaged_units >= ceiling_ * (1.0 - 1e-12);
            return;
        }
        if (dim == kDims) {
            visit(axis + 1, 0, axis + 1 < axes_.size() ? axes_[axis + 1].size : 1, averaged);
            return;
        }
        if (!axes_[axis].dims.contains(kAllDims[dim]) || room == 1) {
            visit(axis, room == 1 ? kDims : dim + 1, room, averaged);
            return;
        }
        branch(axis, dim, room, averaged);
    }

    void branch(std::size_t axis, std::size_t dim, Count room, double averaged) {
        const Dim d = kAllDims[dim];
        const Count before_trips = trips_left(d);
        const Count before_total = total_[dim];
        std::vector<Count> tiles;
        useful_tiles(before_trips, room, tiles);
        for (const Count tile : tiles) {
            current_[axis][dim] = tile;
            total_[dim] = before_total * tile;
            const double gain =
                static_cast<double>(before_trips) / static_cast<double>(trips_left(d));
            visit(axis, dim + 1, room / tile, averaged * gain);
        }
        current_[axis][dim] = 1;
        total_[dim] = before_total;
    }

    const Extents& bounds_;
    const std::vector<FitAxis>& axes_;
    DimSet whole_;
    const FitPredicate& allowed_;
    std::vector<Extents> current_;
    Extents total_ = kOnes;
    std::vector<double> room_after_;
    double ceiling_ = 1.0;
    SpatialFit best_;
    Count visits_ = 0;
    bool done_ = false;
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

SpatialFit best_spatial_fit(const Extents& bounds, const std::vector<FitAxis>& axes, DimSet whole,
                            const FitPredicate& allowed) {
    return Search(bounds, axes, whole, allowed).run();
}

} // namespace eyeroof::model
