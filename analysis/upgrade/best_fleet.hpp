// The cheapest mix of machines for several workloads under limits of cost and power: an integer
// program, solved exactly.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct FleetType {
    std::string name;
    double cost = 0.0;  // of one device
    double power = 0.0; // the same
};

// Each device serves one workload. Minimize sum x_ij c_j over whole x_ij >= 0, so that
//   sum over j of rate_ij x_ij >= demand_i,  sum x_ij c_j <= budget,  sum x_ij p_j <= power.
// A rate of 0: the type does not serve that workload.
struct FleetProblem {
    std::vector<FleetType> types;
    std::vector<double> demand;            // of each workload
    std::vector<std::vector<double>> rate; // workload x type
    std::optional<double> budget, power;
};

struct FleetPlan {
    std::vector<std::vector<int>> counts; // workload x type
    double cost = 0.0, power = 0.0;
    double gap = 0.0; // of the cost: no plan is cheaper than (1 - gap) cost

    bool operator==(const FleetPlan&) const = default;
};

// nullopt: no plan keeps the limits, or a workload has no type. Exact (gap 0) unless a workload has
// more than kFleetNodes partial plans to visit. Branch and bound for each workload's cheapest and
// least-power plans (those that no other beats in both), whose sums are then combined.
inline constexpr int kFleetNodes = 150'000;
std::optional<FleetPlan> best_fleet(const FleetProblem& problem);

} // namespace eyeroof::analysis
