#include "mapper/problem_space.hpp"

#include "model/cost/leakage.hpp"

#include <fmt/format.h>

#include <cmath>

namespace eyeroof::mapper {

using namespace model;

double Objective::value(double energy_pj, double cycles) const {
    const auto power = [](double base, double exponent) {
        return exponent == 0.0 ? 1.0 : exponent == 1.0 ? base : std::pow(base, exponent);
    };
    return power(energy_pj, energy_power) * power(cycles, delay_power);
}

std::string Objective::name() const {
    if (*this == latency()) {
        return "latency";
    }
    if (*this == energy()) {
        return "energy";
    }
    return *this == edp() ? "edp" : fmt::format("energy^{}*delay^{}", energy_power, delay_power);
}

bool Constraints::allow(double energy_pj, double cycles, double slack) const {
    return (!max_energy_pj || energy_pj <= *max_energy_pj * (1.0 + slack)) &&
           (!max_cycles || cycles <= *max_cycles * (1.0 + slack));
}

bool Task::time_matters() const {
    const bool energy = objective.energy_power != 0.0 || constraints.max_energy_pj;
    return objective.delay_power != 0.0 || constraints.max_cycles || (energy && leaks(machine));
}

namespace {

std::vector<DimSet> axis_rules(const Level& level, const Dataflow& dataflow) {
    std::vector<DimSet> rules;
    for (const Axis& axis : level.fanout) {
        DimSet dims;
        for (const SpatialRule& rule : dataflow.spatial) {
            for (const Dim d : kAllDims) {
                if (rule.axis == axis.name && rule.dims.contains(d)) {
                    dims.insert(d);
                }
            }
        }
        rules.push_back(dims);
    }
    return rules;
}

} // namespace

Constraints constraints_of(const Accelerator& machine, const Dataflow* dataflow,
                           const Constraints& user) {
    Constraints result = user;
    result.levels.resize(machine.levels.size());
    for (std::size_t i = 0; i < machine.levels.size(); ++i) {
        LevelConstraint& level = result.levels[i];
        if (dataflow != nullptr && !level.axis_dims) {
            level.axis_dims = axis_rules(machine.levels[i], *dataflow);
        }
        if (level.where.empty()) {
            level.where = machine.levels[i].name;
        }
    }
    if (dataflow != nullptr) {
        for (const Dim d : kAllDims) {
            if (dataflow->whole.contains(d)) {
                result.whole.insert(d);
            }
        }
    }
    return result;
}

} // namespace eyeroof::mapper
