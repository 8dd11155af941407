#include "model/accelerator/data_width.hpp"
#include "model/eyexam/steps.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::model::eyexam {

namespace {

// Extents of what one instance of `level` works on when nothing but the units below it is spread.
Extents spread_below(const std::vector<FitAxis>& axes, const std::vector<Extents>& factors,
                     std::size_t level) {
    Extents tile = kOnes;
    for (std::size_t a = 0; a < axes.size(); ++a) {
        for (std::size_t d = 0; d < kDims && axes[a].level >= level; ++d) {
            tile[d] *= factors[a][d];
        }
    }
    return tile;
}

bool fits(const Problem& problem, const Accelerator& accelerator, std::size_t level,
          const Store& store, const Extents& tile) {
    if (store.may_bypass || !store.capacity_bytes) {
        return true;
    }
    const auto bytes =
        held_bytes(problem, accelerator, level, store, store.operands, tile, Counting::eyeroof);
    return bytes && *bytes <= *store.capacity_bytes;
}

// The first store that a tiling overflows; nullptr when it fits everywhere.
const Level* overflowing_level(const Problem& problem, const Accelerator& accelerator,
                               const std::vector<FitAxis>& axes,
                               const std::vector<Extents>& factors) {
    for (std::size_t level = 0; level < accelerator.levels.size(); ++level) {
        Extents tile = spread_below(axes, factors, level);
        for (std::size_t d = 0; d < kDims; ++d) {
            tile[d] = std::min(tile[d], problem.bounds[d]);
        }
        for (const Store& store : accelerator.levels[level].stores) {
            if (!fits(problem, accelerator, level, store, tile)) {
                return &accelerator.levels[level];
            }
        }
    }
    return nullptr;
}

} // namespace

StepBound storage(const Problem& problem, const Accelerator& accelerator,
                  const std::vector<FitAxis>& axes, DimSet whole, const SpatialFit& unconstrained) {
    const double before = unconstrained.averaged_units;
    const Level* full = unconstrained.exact
                            ? overflowing_level(problem, accelerator, axes, unconstrained.factors)
                            : nullptr;
    if (full == nullptr) {
        return {before, "nothing", "the smallest tiles of the best layout fit every store"};
    }
    const SpatialFit fit =
        best_spatial_fit(problem.bounds, axes, whole, [&](const std::vector<Extents>& factors) {
            return overflowing_level(problem, accelerator, axes, factors) == nullptr;
        });
    return {std::min(before, fit.averaged_units), full->name,
            fmt::format(
                FMT_COMPILE(
                    "the best layout overflows {}; the largest that fits keeps {:.2f} units busy"),
                full->name, fit.averaged_units)};
}

StepBound storage_of(const MappingCost& cost, const StepBound& before) {
    const double active = cost.averaged_mac_units;
    if (active >= before.macs_per_cycle * (1.0 - 1e-9)) {
        return {active, "nothing", "the tiles fit and keep as many units busy as the axes allow"};
    }
    return {active, "tile sizes",
            fmt::format(
                FMT_COMPILE(
                    "the tiles that were chosen keep {:.2f} units busy on average, {} allocated"),
                active, cost.allocated_macs_units)};
}

} // namespace eyeroof::model::eyexam
