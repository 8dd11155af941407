#include "analysis/bound/gap.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis::bound {

namespace {

constexpr double kNegligible = 1e-9;

// What kernels take above their operators' bounds, by what they do meanwhile.
struct Excess {
    double arithmetic_s = 0.0, traffic_s = 0.0, on_chip_s = 0.0, start_s = 0.0;

    void add(const LayerReport& row, const Bound& bound) {
        const auto runs = static_cast<double>(row.layer.count);
        TimeSplit left = row.split;
        double spent = bound.time_s; // by the bound's own wall first
        const auto spend = [&](double& from) {
            const double taken = std::min(from, spent);
            from -= taken;
            spent -= taken;
        };
        if (bound.wall == Wall::arithmetic) {
            spend(left.compute_s);
        }
        if (bound.wall == Wall::start) {
            spend(left.on_chip_stall_s);
        }
        spend(left.dram_stall_s);
        spend(left.on_chip_stall_s);
        spend(left.compute_s);
        spend(left.overhead_s);
        arithmetic_s += runs * left.compute_s;
        traffic_s += runs * left.dram_stall_s;
        on_chip_s += runs * left.on_chip_stall_s;
        start_s += runs * left.overhead_s;
    }
};

Excess excess_of(const std::vector<Bound>& of_layer, const Report& report) {
    Excess excess;
    for (std::size_t i = 0; i < report.layers.size(); ++i) {
        excess.add(report.layers[i], of_layer[i]);
    }
    return excess;
}

// What all kernels or mappings take above their bounds, by what they do meanwhile. Where kernels
// run beside each other, their excess shrinks alike.
void add_kernels(const Excess& excess, double above_s, std::vector<GapPart>& parts) {
    const double all = excess.arithmetic_s + excess.traffic_s + excess.on_chip_s + excess.start_s;
    const double scale = all > 0.0 ? above_s / all : 0.0;
    parts.push_back({"arithmetic", scale * excess.arithmetic_s,
                     "below peak rates: tensor cores unused, clocks, multiplications of direct "
                     "convolution"});
    parts.push_back({"traffic", scale * excess.traffic_s,
                     "memory above compulsory bytes, and below the data sheet's bandwidth"});
    parts.push_back({"tails and stalls", all > 0.0 ? scale * excess.on_chip_s : above_s,
                     "partial waves, low occupancy, operand loads, dependent steps"});
    parts.push_back(
        {"kernel starts", scale * excess.start_s, "filling and draining an empty device"});
}

void add_mappings(const Excess& excess, double above_s, std::vector<GapPart>& parts) {
    const double all = excess.arithmetic_s + excess.traffic_s + excess.on_chip_s;
    const double scale = all > 0.0 ? above_s / all : 0.0;
    parts.push_back(
        {"arithmetic", scale * excess.arithmetic_s, "more idle PEs than the best mapping leaves"});
    parts.push_back({"traffic", scale * excess.traffic_s,
                     "outermost memory above compulsory bytes, and transfers that do not overlap"});
    parts.push_back({"on-chip stalls", all > 0.0 ? scale * excess.on_chip_s : above_s,
                     "networks and stores on the chip, array fill, and array drain"});
}

// Seconds that at least one kernel runs.
double busy_s(const Report& report) {
    return report.machine.kind == "accelerator" ? report.total.time_s : report.timeline.busy_s;
}

// A measurement below the prediction: its parts above the bound are that much shorter.
void scale_to(const BoundReport& made, std::vector<GapPart>& parts) {
    const double bound_s = std::min(made.fused.time_s, *made.measured_s);
    const double above_s = made.predicted_s - made.fused.time_s;
    const double scale = above_s > 0.0 ? (*made.measured_s - bound_s) / above_s : 0.0;
    parts.front().seconds = bound_s;
    for (std::size_t i = 1; i < parts.size(); ++i) {
        parts[i].seconds *= scale;
    }
}

} // namespace

std::vector<GapPart> gap_of(const BoundReport& made, const std::vector<Bound>& of_layer,
                            const Report& report) {
    std::vector<GapPart> parts;
    const double busy = busy_s(report);
    parts.push_back({"speed of light", made.fused.time_s,
                     fmt::format("time for inputs, weights, and outputs, bound by {}",
                                 wall_text(made.fused.wall))});
    const double apart_s = made.unfused.time_s - made.fused.time_s;
    const double traffic_s = std::clamp(made.unfused.memory_s - made.fused.memory_s, 0.0, apart_s);
    parts.push_back(
        {"unfused traffic", traffic_s, "tensors between operators, each written and read again"});
    parts.push_back({"one after the other", apart_s - traffic_s,
                     "operators in turn: the arithmetic of one hides no traffic of another"});
    const Excess excess = excess_of(of_layer, report);
    const double above_s = std::max(busy - made.unfused.time_s, 0.0);
    if (report.machine.kind == "accelerator") {
        add_mappings(excess, above_s, parts);
    } else {
        add_kernels(excess, above_s, parts);
        parts.push_back({"launch", std::max(made.predicted_s - busy, 0.0),
                         "the device waits for the host or for copies"});
    }
    for (GapPart& part : parts) { // what rounding leaves
        part.seconds = part.seconds < kNegligible * made.predicted_s ? 0.0 : part.seconds;
    }
    if (!made.measured_s) {
        return parts;
    }
    const bool within = made.low_s && made.high_s && *made.measured_s >= *made.low_s &&
                        *made.measured_s <= *made.high_s;
    const std::string interval =
        within ? "within the prediction's interval" : "outside of the prediction's interval";
    const double unexplained_s = *made.measured_s - made.predicted_s;
    if (unexplained_s < 0.0) {
        scale_to(made, parts);
    }
    parts.push_back({"unexplained", std::max(unexplained_s, 0.0),
                     unexplained_s >= 0.0
                         ? interval
                         : fmt::format("the prediction is {} above the measurement, {}; the parts "
                                       "above the bound are scaled to it",
                                       format_si(-unexplained_s, "s"), interval)});
    return parts;
}

} // namespace eyeroof::analysis::bound
