#include "model/eyexam/examine.hpp"

#include "model/eyexam/spatial_fit.hpp"
#include "model/eyexam/steps.hpp"

namespace eyeroof::model {

namespace {

DimSet all_dims_of(const std::vector<FitAxis>& axes) {
    DimSet dims;
    for (const FitAxis& axis : axes) {
        dims = dims | axis.dims;
    }
    return dims;
}

std::vector<FitAxis> axes_of(const Accelerator& accelerator, const Mapping& mapping) {
    std::vector<FitAxis> axes;
    for (std::size_t level = 0; level < accelerator.levels.size(); ++level) {
        const auto& fanout = accelerator.levels[level].fanout;
        for (std::size_t a = 0; a < fanout.size(); ++a) {
            FitAxis axis{level, static_cast<std::uint8_t>(a), fanout[a].name, fanout[a].size, {}};
            for (const SpatialLoop& loop : mapping.levels[level].spatial) {
                if (loop.axis == a && loop.bound > 1) {
                    axis.dims.insert(loop.dim);
                }
            }
            axes.push_back(std::move(axis));
        }
    }
    return axes;
}

// The kinds of steps 1 to 5 are the steps themselves; those of 6 and 7 are passed in.
void set_kinds(Chain& chain, Limit moving, Limit last) {
    constexpr std::array<Limit, 5> own = {Limit::workload, Limit::dataflow, Limit::units,
                                          Limit::dimensions, Limit::storage};
    for (std::size_t i = 0; i < own.size(); ++i) {
        chain[i].kind = own[i];
    }
    chain[5].kind = moving;
    chain[6].kind = last;
}

} // namespace

Chain machine_chain(const Problem& problem, const Accelerator& accelerator,
                    const Dataflow& dataflow, Counting counting) {
    const std::vector<FitAxis> axes = fit_axes(accelerator, dataflow);
    const SpatialFit fit = best_spatial_fit(problem.bounds, axes, dataflow.whole);
    Chain chain;
    chain[0] = eyexam::workload(problem);
    chain[1] = eyexam::dataflow(problem, all_dims_of(axes));
    chain[2] = eyexam::units(chain[1], mac_units(accelerator));
    chain[3] = eyexam::dimensions(axes, fit);
    chain[4] = eyexam::storage(problem, accelerator, axes, dataflow.whole, fit);
    chain[5] = eyexam::average_bandwidth(problem, accelerator, chain[4], counting);
    chain[6] = counting == Counting::timeloop
                   ? chain[5]
                   : eyexam::instantaneous_bandwidth(problem, accelerator, chain[4], chain[5]);
    set_kinds(chain, Limit::outer_memory, Limit::latency);
    return chain;
}

Chain mapping_chain(const Problem& problem, const Accelerator& accelerator,
                    const Dataflow& dataflow, const Mapping& mapping, const MappingCost& cost,
                    const Latency& latency) {
    const std::vector<FitAxis> axes = axes_of(accelerator, mapping);
    const SpatialFit fit = best_spatial_fit(problem.bounds, axes, {});
    Chain chain;
    chain[0] = eyexam::workload(problem);
    chain[1] = eyexam::dataflow(problem, all_dims_of(fit_axes(accelerator, dataflow)));
    chain[2] = eyexam::units(chain[1], mac_units(accelerator));
    chain[3] = eyexam::dimensions(axes, fit);
    chain[4] = eyexam::storage_of(cost, chain[3]);
    chain[5] = eyexam::average_bandwidth_of(cost, chain[4]);
    chain[6] = eyexam::instantaneous_bandwidth_of(latency, cost);
    set_kinds(chain, cost.moving_level == 0 ? Limit::outer_memory : Limit::on_chip,
              latency.outer_stall_cycles > latency.on_chip_stall_cycles ? Limit::outer_memory
                                                                        : Limit::latency);
    return chain;
}

Dataflow unrestricted_dataflow(const Accelerator& accelerator) {
    Dataflow free;
    DimSet all;
    for (const Dim d : kAllDims) {
        all.insert(d);
    }
    for (const Level& level : accelerator.levels) {
        for (const Axis& axis : level.fanout) {
            free.spatial.push_back({axis.name, all});
        }
    }
    return free;
}

} // namespace eyeroof::model
