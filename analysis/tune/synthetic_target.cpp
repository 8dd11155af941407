#include "analysis/tune/model_target.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace eyeroof::analysis::tune {

namespace {

// Standard normal, by Box and Muller.
double normal_of(std::uint64_t seed, std::uint64_t key) {
    const double u = std::max(unit_of(seed, 2 * key), 1e-12);
    const double v = unit_of(seed, 2 * key + 1);
    return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

// Off by up to a factor of 1.5 either way.
class Off {
  public:
    explicit Off(std::uint64_t seed) : seed_(seed) {}
    double operator()(double value) {
        return value * std::pow(1.5, 2.0 * unit_of(seed_, ++key_) - 1.0);
    }

  private:
    std::uint64_t seed_, key_ = 0;
};

// Groups of knobs that win or lose together.
using Together = std::array<std::vector<std::size_t>, 3>;

class SyntheticTarget final : public Target {
  public:
    SyntheticTarget(std::function<double(const Point&)> exact, Space space, Together together,
                    std::uint64_t seed, const Noise& noise)
        : exact_(std::move(exact)), space_(std::move(space)), together_(std::move(together)),
          seed_(seed), noise_(noise) {}

    Outcome measure(const Point& point) override {
        const auto index = static_cast<std::uint64_t>(space_.index_of(point));
        Outcome outcome;
        outcome.cost = exact_(point) / left(point) *
                       std::exp(noise_.deviation * normal_of(noise_.seed, index));
        outcome.times_s = {outcome.cost};
        return outcome;
    }

  private:
    // Share that is left of the closed form's throughput.
    double left(const Point& point) const {
        double share = 1.0;
        for (std::size_t group = 0; group < together_.size(); ++group) {
            std::uint64_t key = 101 + group;
            for (const std::size_t knob : together_[group]) {
                key = mixed(key) ^ point.digit[knob];
            }
            share *= 1.0 - 0.1 * unit_of(seed_, key);
        }
        return share;
    }

    std::function<double(const Point&)> exact_;
    Space space_;
    Together together_;
    std::uint64_t seed_;
    Noise noise_;
};

} // namespace

std::unique_ptr<Target> synthetic_target(const Workload& work, const CpuMachine& machine,
                                         const SearchTask& search_task, std::uint64_t machine_seed,
                                         const Noise& noise) {
    CpuMachine other = machine;
    Off off(machine_seed);
    for (double* value :
         {&other.loads, &other.issue, &other.l1_bytes, &other.l2_bytes, &other.l3_bytes,
          &other.l2_bandwidth, &other.l3_bandwidth, &other.dram_bandwidth}) {
        *value = off(*value);
    }
    const Space space = search_task.space;
    return std::make_unique<SyntheticTarget>(
        [=](const Point& point) { return cpu_chain(work, cpu_plan(space, point), other).seconds; },
        space, Together{{{0, 1}, {6, 9}, {7, 8, 12}}}, machine_seed, noise);
}

std::unique_ptr<Target> synthetic_target(const Workload& work, const GpuMachine& machine,
                                         const SearchTask& search_task, std::uint64_t machine_seed,
                                         const Noise& noise) {
    GpuMachine other = machine;
    Off off(machine_seed);
    other.l2_bytes_per_s = off(other.l2_bytes_per_s);
    other.dram_bytes_per_s = off(other.dram_bytes_per_s);
    other.clock_hz = off(other.clock_hz); // and with it what memory takes in cycles
    const Space space = search_task.space;
    return std::make_unique<SyntheticTarget>(
        [=](const Point& point) {
            // as the plan is for the machine, and as the other one runs it
            return gpu_chain(work, gpu_plan(space, point, work, machine), other).seconds;
        },
        space, Together{{{5, 6}, {2, 7}, {11, 12, 13}}}, machine_seed, noise);
}

} // namespace eyeroof::analysis::tune
