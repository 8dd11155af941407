#include "analysis/measured/disagree.hpp"

#include "analysis/exam/report_figures.hpp"
#include "analysis/measured/lay_profile.hpp"
#include "base/ascii.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace eyeroof::analysis {

namespace {

enum Step : std::size_t {
    number_of_units = 3,
    physical = 4,
    storage = 5,
    average = 6,
    instant = 7
};

// The predicted time of one execution, in parts that counters speak of.
struct Parts {
    double arithmetic_s = 0.0; // step 5
    double memory_s = 0.0;     // predicted bytes at the outermost bandwidth
    double floor_s = 0.0;      // step 6 where another level than the outermost sets it
    double rest_s = 0.0;       // ramp-up, latency, stalls
    double launch_s = 0.0;

    double time_s() const {
        return std::max({arithmetic_s, memory_s, floor_s}) + rest_s + launch_s;
    }
};

Parts parts_of(const MachineSummary& machine, const LayerReport& layer, bool with_launch) {
    Parts p;
    const double kernel_s = std::max(0.0, layer.time_s - layer.split.overhead_s);
    const double step6_s = std::min(seconds_at(machine, layer, Step::average), kernel_s);
    const bool limited = std::isfinite(machine.outer_bytes_per_s) && machine.outer_bytes_per_s > 0;
    p.arithmetic_s = std::min(seconds_at(machine, layer, Step::storage), step6_s);
    p.memory_s = limited ? std::min(layer.outer_bytes / machine.outer_bytes_per_s, step6_s) : 0.0;
    const double higher_s = std::max(p.arithmetic_s, p.memory_s);
    p.floor_s = step6_s > higher_s * (1.0 + 1e-9) ? step6_s : 0.0;
    p.rest_s = kernel_s - step6_s;
    p.launch_s = with_launch ? layer.split.overhead_s : 0.0;
    return p;
}

bool differs(double measured, double predicted, double share) {
    return std::abs(measured - predicted) > share * std::abs(predicted);
}

// 0: the prediction says nothing of this level.
double predicted_bytes(const LayerReport& layer, const std::string& level) {
    if (same_in_any_case(level, "dram")) {
        return layer.outer_bytes;
    }
    double bytes = 0.0;
    for (const TrafficRow& row : layer.traffic) {
        if (same_in_any_case(row.level, level)) {
            bytes += static_cast<double>(row.read_bytes) + static_cast<double>(row.write_bytes);
        }
    }
    return bytes;
}

std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

class Comparison {
  public:
    Comparison(const MachineSummary& machine, const LayerReport& layer, LayerMeasurement& m)
        : machine_(machine), layer_(layer), m_(m),
          parts_(parts_of(machine, layer, m.gap_s.has_value())) {}

    void run() {
        m_.predicted_s = parts_.time_s();
        m_.unexplained_s = m_.time_s - m_.predicted_s;
        if (layer_.low_s && layer_.high_s && layer_.time_s > 0.0) {
            // Kernel beside kernel: a gap before it is the host's.
            const double scale = (m_.predicted_s - parts_.launch_s) / layer_.time_s;
            m_.in_interval =
                m_.kernel_s >= *layer_.low_s * scale && m_.kernel_s <= *layer_.high_s * scale;
        }
        data_type();
        operations();
        bytes();
        clock();
        gaps();
        m_.remaining_s = m_.time_s - parts_.time_s();
        tensor_pipe();
        std::ranges::stable_sort(m_.disagreements, std::ranges::greater{}, [](const auto& d) {
            constexpr double kForemost = 1e300; // with other units nothing else can be compared
            return d.accounts_s                      ? std::abs(*d.accounts_s)
                   : d.step == Step::number_of_units ? kForemost
                                                     : -1.0;
        });
    }

  private:
    // Puts `changed` in the place of the parts; what the time changes by is accounted for.
    void account(std::size_t step, const std::string& quantity, double predicted, double measured,
                 const char* unit, const Parts& changed) {
        const double accounts_s = changed.time_s() - parts_.time_s();
        m_.disagreements.push_back({step, quantity, predicted, measured, unit, accounts_s});
        parts_ = changed;
    }

    // Other units than the prediction's did the work: fp32 lanes instead of fp16 tensor cores, TF32
    // instead of fp32. Elementwise kernels widen their type freely: only products are looked at.
    void data_type() {
        if (layer_.macs > 0 && m_.type_share && *m_.type_share < 1.0 - kTellQuantity) {
            const std::string type(model::data_type_name(layer_.layer.types.input));
            m_.disagreements.push_back({Step::number_of_units, "operations in " + type, 100.0,
                                        100.0 * *m_.type_share, "%", std::nullopt});
        }
    }

    // More than needed: padding of tiles beyond what step 4 took, or another algorithm. Fewer may
    // be an algorithm that the prediction knows (Winograd): reported without a time.
    void operations() {
        const double macs = static_cast<double>(layer_.macs);
        const double needed = macs > 0.0 ? 2.0 * macs : static_cast<double>(layer_.flops);
        if (!m_.flops) {
            return;
        }
        m_.work_check = profiles::check_work(*m_.flops, needed);
        if (!(needed > 0.0) || !differs(*m_.flops, needed, kTellQuantity)) {
            return;
        }
        if (*m_.flops < needed) {
            m_.disagreements.push_back(
                {Step::physical, "operations", needed, *m_.flops, "FLOP", std::nullopt});
            return;
        }
        Parts changed = parts_;
        changed.arithmetic_s *= *m_.flops / needed;
        account(Step::physical, "operations", needed, *m_.flops, "FLOP", changed);
    }

    void bytes() {
        for (const LevelMeasurement& level : m_.bytes) {
            const double predicted = predicted_bytes(layer_, level.level);
            if (!(predicted > 0.0) || !differs(level.bytes, predicted, kTellQuantity)) {
                continue;
            }
            const std::string quantity = upper(level.level) + " bytes";
            if (!same_in_any_case(level.level, "dram")) {
                m_.disagreements.push_back(
                    {Step::average, quantity, predicted, level.bytes, "B", std::nullopt});
                continue;
            }
            Parts changed = parts_;
            changed.memory_s *= level.bytes / predicted;
            account(Step::average, quantity, predicted, level.bytes, "B", changed);
        }
    }

    // Arithmetic and latencies are counted in cycles; the outermost memory has a clock of its own.
    void clock() {
        const double predicted = layer_.clock_hz > 0.0 ? layer_.clock_hz : machine_.clock_hz;
        if (!m_.clock_hz || !(*m_.clock_hz > 0.0) ||
            !differs(*m_.clock_hz, predicted, kTellClock)) {
            return;
        }
        Parts changed = parts_;
        const double slower = predicted / *m_.clock_hz;
        changed.arithmetic_s *= slower;
        changed.floor_s *= slower;
        changed.rest_s *= slower;
        account(Step::instant, "clock", predicted, *m_.clock_hz, "Hz", changed);
    }

    void gaps() {
        if (!m_.gap_s || !differs(*m_.gap_s, parts_.launch_s, kTellQuantity)) {
            return;
        }
        Parts changed = parts_;
        changed.launch_s = *m_.gap_s;
        account(Step::instant, "launch gaps", parts_.launch_s, *m_.gap_s, "s", changed);
    }

    // How busy the prediction holds the pipe: arithmetic of step 3 over the kernel's time. Less is
    // a symptom of waiting, whose cause the other counters tell.
    void tensor_pipe() {
        const double kernel_s = layer_.time_s - layer_.split.overhead_s;
        const bool on_tensor =
            m_.pipe.ends_with("tensor") || m_.tensor_active_percent.value_or(0) > 0;
        if (!m_.tensor_active_percent || !on_tensor || !(kernel_s > 0.0)) {
            return;
        }
        const double predicted =
            100.0 * std::min(1.0, seconds_at(machine_, layer_, Step::number_of_units) / kernel_s);
        if (differs(*m_.tensor_active_percent, predicted, kTellQuantity)) {
            m_.disagreements.push_back({Step::storage, "tensor pipe active", predicted,
                                        *m_.tensor_active_percent, "%", std::nullopt});
        }
    }

    const MachineSummary& machine_;
    const LayerReport& layer_;
    LayerMeasurement& m_;
    Parts parts_;
};

} // namespace

void compare(const MachineSummary& machine, const LayerReport& layer, LayerMeasurement& m) {
    Comparison(machine, layer, m).run();
}

} // namespace eyeroof::analysis
