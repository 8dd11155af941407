#include "analysis/measured/counter_advice.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace eyeroof::analysis {

namespace {

constexpr double kLeastShare = 0.01;   // of the layer's time that a gain is worth advice from
constexpr double kLowOccupancy = 25.0; // %, below which latencies are hard to hide
constexpr std::size_t kLatencyStep = 7;

// What to do about a counter that is above, or below, its prediction; nothing where that is good.
struct Rule {
    const char* quantity; // how it begins
    bool above;
    const char* advice;
};
constexpr std::array<Rule, 8> kRules = {
    {{"operations in ", false,
      "other units did the work: check the data types, that tensor cores are allowed, and that "
      "rows are aligned to 16 bytes"},
     {"operations", true,
      "more operations than needed: pad the shape to the tile, or choose another algorithm"},
     {"DRAM bytes", true,
      "tensors are read again: fuse with the producer, or order the tiles so that the L2 cache "
      "holds them"},
     {"L2 bytes", true, "tiles are loaded again from the L2 cache: larger tiles"},
     {"L1 bytes", true, "tiles are loaded again from the L1 cache: more reuse in registers"},
     {"clock", false,
      "the clock is below the predicted one: a power or temperature limit; compare at this clock, "
      "or lock it"},
     {"launch gaps", true,
      "the GPU waits for launches: a CUDA graph, fewer kernels, or a larger batch"},
     {"tensor pipe active", false,
      "tensor cores wait: see bytes, clock, and gaps, else more warps or deeper pipelining"}}};

const Rule* rule_of(const Disagreement& d) {
    const bool above = d.measured > d.predicted;
    const auto rule = std::ranges::find_if(kRules, [&](const Rule& r) {
        return d.quantity.starts_with(r.quantity) && r.above == above;
    });
    return rule == kRules.end() ? nullptr : &*rule;
}

std::string amount(double value, const std::string& unit) {
    return unit == "%" ? fmt::format("{:.0f} %", value) : format_si(value, unit, 3);
}

// Fills in what a gain of one execution is of all of them; false where it is too small.
bool take_gain(const LayerReport& layer, double once_s, bool at_most, CounterAdvice& advice) {
    const LayerMeasurement& m = *layer.measured;
    if (!(once_s > kLeastShare * m.time_s) || !(m.time_s > 0.0)) {
        return false;
    }
    const double gain_s = std::min(once_s, 0.99 * m.time_s); // a counter may account for too much
    advice.gain_s = gain_s * static_cast<double>(std::max<Count>(layer.layer.count, 1));
    advice.at_most = at_most;
    advice.speedup = m.time_s / (m.time_s - gain_s);
    return true;
}

void add_disagreements(const LayerReport& layer, std::size_t row, std::vector<CounterAdvice>& all) {
    const LayerMeasurement& m = *layer.measured;
    for (const Disagreement& d : m.disagreements) {
        const Rule* rule = rule_of(d);
        if (rule == nullptr) {
            continue;
        }
        CounterAdvice advice{row, m.kernel, d.step,
                             fmt::format("{} {} {}, {} predicted", d.quantity,
                                         d.quantity.ends_with('s') ? "are" : "is",
                                         amount(d.measured, d.unit), amount(d.predicted, d.unit)),
                             rule->advice};
        if (take_gain(layer, d.accounts_s.value_or(m.remaining_s), !d.accounts_s, advice)) {
            all.push_back(std::move(advice));
        }
    }
}

// Few warps hide little latency: worth a word where time is left that nothing accounts for.
void add_occupancy(const LayerReport& layer, std::size_t row, std::vector<CounterAdvice>& all) {
    const LayerMeasurement& m = *layer.measured;
    if (!m.occupancy_percent || *m.occupancy_percent >= kLowOccupancy) {
        return;
    }
    CounterAdvice advice{row, m.kernel, kLatencyStep,
                         fmt::format("occupancy is {:.0f} %", *m.occupancy_percent),
                         "too few warps to hide latency: fewer registers or less shared memory for "
                         "a block, or more blocks"};
    if (take_gain(layer, m.remaining_s, true, advice)) {
        all.push_back(std::move(advice));
    }
}

} // namespace

std::vector<CounterAdvice> counter_advice(const Report& report) {
    std::vector<CounterAdvice> all;
    for (std::size_t row = 0; row < report.layers.size(); ++row) {
        if (report.layers[row].measured) {
            add_disagreements(report.layers[row], row, all);
            add_occupancy(report.layers[row], row, all);
        }
    }
    std::ranges::stable_sort(all, std::ranges::greater{}, &CounterAdvice::gain_s);
    return all;
}

} // namespace eyeroof::analysis
