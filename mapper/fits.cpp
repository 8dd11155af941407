#include "mapper/fits.hpp"

#include <algorithm>

namespace eyeroof::mapper {

using namespace model;

namespace {

StoreFit without_tiles(const Store& store) {
    StoreFit fit;
    fit.bank = static_cast<double>(store.bank_bytes);
    fit.buffers = store.buffers;
    fit.capacity = static_cast<double>(store.capacity_bytes.value_or(0));
    return fit;
}

// Adds the tiles that a store holds in this space.
void add_tiles(const Space& space, std::size_t level, const Store& store, StoreFit& fit) {
    for (const Operand o : kAllOperands) {
        const std::size_t cost_factor = space.tile[level][index(o)];
        if (cost_factor != 0 && store.operands.contains(o)) {
            const int bits = bits_at(space.task->machine, level, o);
            fit.tiles[fit.count++] = {cost_factor, bits / 8.0};
            fit.whole = fit.whole && bits % 8 == 0 && store.bank_bytes == 1;
        }
    }
}

} // namespace

Fits::Fits(const Space& space) : space_(&space), levels_(space.task->machine.levels.size()) {
    const Task& task = *space.task;
    for (std::size_t i = 0; i < levels_; ++i) {
        fanout_[i] = 1.0;
        for (const Axis& axis : task.machine.levels[i].fanout) {
            fanout_[i] *= static_cast<double>(axis.size);
        }
        for (const Store& store : task.machine.levels[i].stores) {
            StoreFit own = without_tiles(store);
            add_tiles(space, i, store, own);
            if (!store.capacity_bytes || own.count == 0) {
                continue;
            }
            stores_[i].push_back(own);
            StoreFit all = without_tiles(store);
            each_part(task.machine, i, store, [&](std::size_t level, const Store& part) {
                add_tiles(space, level, part, all);
            });
            if (all.count > own.count) {
                in_parts_.push_back(all);
            }
        }
    }
    if (const double least = task.constraints.min_utilization; least != 0.0) {
        const auto macs = static_cast<double>(macs_of(task.problem));
        const auto units = static_cast<double>(mac_units(task.machine));
        most_steps_ = macs * (1.0 + 1e-12) / (units * least);
    }
}

bool Fits::at_level(const double* product, std::size_t level) const {
    const auto& stores = stores_[level];
    return std::all_of(stores.begin(), stores.end(), [&](const StoreFit& fit) {
        return fit.holds([&](std::size_t cost_factor) { return product[cost_factor]; });
    });
}

Fits::Misfit Fits::misfit(const double* product) const {
    for (std::size_t i = 0; i < levels_; ++i) {
        if (product[space_->spatial[i]] > fanout_[i]) {
            return Misfit::fanout;
        }
    }
    for (std::size_t i = 0; i < levels_; ++i) {
        if (!at_level(product, i)) {
            return Misfit::capacity;
        }
    }
    for (const StoreFit& fit : in_parts_) {
        if (!fit.holds([&](std::size_t cost_factor) { return product[cost_factor]; })) {
            return Misfit::capacity;
        }
    }
    return used_enough(product[space_->steps]) ? Misfit::none : Misfit::utilization;
}

} // namespace eyeroof::mapper
