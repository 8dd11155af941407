#include "study/tune/model_target.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace eyeroof::study::tune {

namespace {

// Standard normal, by Box and Muller.
double normal_of(std::uint64_t seed, std::uint64_t key) {
    const double u = std::max(unit_of(seed, 2 * key), 1e-12);
    const double v = unit_of(seed, 2 * key + 1);
    return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

class StandIn final : public Target {
  public:
    StandIn(Workload work, const CpuMachine& machine, const Space& space, std::uint64_t seed,
            const Noise& noise)
        : work_(std::move(work)), machine_(machine), space_(space), seed_(seed), noise_(noise) {
        std::uint64_t key = 0;
        for (double* value : {&machine_.loads, &machine_.issue, &machine_.l1_bytes,
                              &machine_.l2_bytes, &machine_.l3_bytes, &machine_.l2_bandwidth,
                              &machine_.l3_bandwidth, &machine_.dram_bandwidth}) {
            *value *= std::pow(1.5, 2.0 * unit_of(seed_, ++key) - 1.0);
        }
    }

    Outcome measure(const Point& point) override {
        const CpuPlan plan = cpu_plan(space_, point);
        const double exact = cpu_chain(work_, plan, machine_).seconds / together(point);
        const auto index = static_cast<std::uint64_t>(space_.index_of(point));
        Outcome outcome;
        outcome.cost = exact * std::exp(noise_.deviation * normal_of(noise_.seed, index));
        outcome.times_s = {outcome.cost};
        return outcome;
    }

  private:
    // Share that is left of the closed form's throughput.
    double together(const Point& point) const {
        const auto hashed = [&](std::uint64_t key, std::initializer_list<std::size_t> knobs) {
            for (const std::size_t knob : knobs) {
                key = mixed(key) ^ point.digit[knob];
            }
            return unit_of(seed_, key);
        };
        return (1.0 - 0.1 * hashed(101, {0, 1})) * (1.0 - 0.1 * hashed(102, {6, 9})) *
               (1.0 - 0.1 * hashed(103, {7, 8, 12}));
    }

    Workload work_;
    CpuMachine machine_;
    Space space_;
    std::uint64_t seed_;
    Noise noise_;
};

} // namespace

std::unique_ptr<Target> stand_in(const Workload& work, const CpuMachine& machine,
                                 const Subject& subject, std::uint64_t machine_seed,
                                 const Noise& noise) {
    return std::make_unique<StandIn>(work, machine, subject.space, machine_seed, noise);
}

} // namespace eyeroof::study::tune
