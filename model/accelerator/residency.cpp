#include "model/accelerator/residency.hpp"

#include "model/accelerator/data_width.hpp"

namespace eyeroof::model {

namespace {

bool absent(const Problem& problem, Operand o) {
    return o == Operand::weight && !problem.has_weight;
}

// Does the level keep the operand from layer to layer? Inputs and outputs (and their gradients)
// hand over; weights are read again for every layer unless a schedule says that they stay.
bool keeps(const Level& level, Operand o) {
    return level.scheduled ? level.scheduled->contains(o)
                           : o != Operand::weight && level.keeps_between_layers;
}

bool activations_fit(const Problem& problem, const Accelerator& accelerator, std::size_t level,
                     const Store& store) {
    if (!store.capacity_bytes) {
        return true;
    }
    double bytes = 0.0;
    for (const Operand o : {Operand::input, Operand::output}) {
        if (store.operands.contains(o)) {
            bytes += static_cast<double>(tile_elements(problem, o, problem.bounds)) *
                     stored_width(problem, accelerator, level, o).complete;
        }
    }
    return bytes <= static_cast<double>(*store.capacity_bytes);
}

// Beside nothing else: a mapping may keep this operand alone.
bool holds_all(const Problem& problem, const Accelerator& accelerator, std::size_t level,
               const Store& store, Operand o) {
    return !store.capacity_bytes || static_cast<double>(tile_elements(problem, o, problem.bounds)) *
                                            stored_width(problem, accelerator, level, o).complete <=
                                        static_cast<double>(*store.capacity_bytes);
}

} // namespace

HomeRange home_range(const Problem& problem, const Accelerator& accelerator, Operand o) {
    HomeRange home{accelerator.levels.size(), accelerator.levels.size()};
    for (std::size_t i = 0; i < accelerator.levels.size(); ++i) {
        const Store* store = store_of(accelerator.levels[i], o);
        if (store == nullptr) {
            continue;
        }
        const bool first = home.outermost == accelerator.levels.size();
        const bool stays =
            keeps(accelerator.levels[i], o) && holds_all(problem, accelerator, i, *store, o);
        home.outermost = first ? i : home.outermost;
        home.innermost = first || stays ? i : home.innermost;
    }
    return home;
}

double compulsory_bytes(const Problem& problem, const Accelerator& accelerator, Operand o) {
    if (absent(problem, o) || home_range(problem, accelerator, o).innermost > 0) {
        return 0.0;
    }
    const Channel* channel = channel_of(accelerator.levels.front(), o);
    const DataWidth word = channel == nullptr ? stored_width(problem, accelerator, 0, o)
                                              : sent_width(problem, accelerator, 0, *channel, o);
    return static_cast<double>(tile_elements(problem, o, problem.bounds)) * word.complete;
}

double compulsory_bytes(const Problem& problem, const Accelerator& accelerator) {
    double bytes = 0.0;
    for (const Operand o : kAllOperands) {
        bytes += compulsory_bytes(problem, accelerator, o);
    }
    return bytes;
}

PerOperand<std::size_t> home_levels(const Problem& problem, const Accelerator& accelerator,
                                    bool hand_over) {
    PerOperand<std::size_t> homes{};
    for (const Operand o : kAllOperands) {
        bool found = false;
        for (std::size_t i = 0; i < accelerator.levels.size(); ++i) {
            const Store* store = store_of(accelerator.levels[i], o);
            const bool hands_over =
                hand_over && store != nullptr && keeps(accelerator.levels[i], o) &&
                (o == Operand::weight ? holds_all(problem, accelerator, i, *store, o)
                                      : activations_fit(problem, accelerator, i, *store));
            if (store != nullptr && (!found || hands_over)) {
                homes[index(o)] = i;
                found = true;
            }
        }
    }
    return homes;
}

std::vector<OperandSet> default_keeps(const Problem& problem, const Accelerator& accelerator,
                                      bool hand_over) {
    const PerOperand<std::size_t> homes = home_levels(problem, accelerator, hand_over);
    std::vector<OperandSet> keeps(accelerator.levels.size());
    for (std::size_t i = 0; i < keeps.size(); ++i) {
        for (const Operand o : kAllOperands) {
            if (!absent(problem, o) && i >= homes[index(o)] &&
                store_of(accelerator.levels[i], o) != nullptr) {
                keeps[i].insert(o);
            }
        }
    }
    return keeps;
}

} // namespace eyeroof::model
