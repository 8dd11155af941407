// What a condition may ask of an examination: the report's totals and layers by the names that
// they have in JSON.
#include "analysis/exam/gate.hpp"

#include <array>

namespace eyeroof::analysis {

namespace {

using Value = std::optional<double>;

// Nothing where no profile was laid over the report.
template <class Of, class Measured> Value of_measured(const Of& of, double Measured::*figure) {
    return of.measured ? Value((*of.measured).*figure) : std::nullopt;
}

struct NetKey {
    std::string_view name;
    Value (*value)(const Report&);
};
constexpr std::array kNetKeys = {
    NetKey{"time_s", [](const Report& r) -> Value { return r.total.time_s; }},
    NetKey{"processing_time_s", [](const Report& r) -> Value { return r.total.processing_time_s; }},
    NetKey{"low_s", [](const Report& r) { return r.total.low_s; }},
    NetKey{"high_s", [](const Report& r) { return r.total.high_s; }},
    NetKey{"utilization", [](const Report& r) -> Value { return r.total.utilization; }},
    NetKey{"energy_j", [](const Report& r) -> Value { return r.total.energy_j; }},
    NetKey{"macs", [](const Report& r) -> Value { return r.total.macs; }},
    NetKey{"flops", [](const Report& r) -> Value { return r.total.flops; }},
    NetKey{"outer_bytes", [](const Report& r) -> Value { return r.total.outer_bytes; }},
    NetKey{"averaged_pes", [](const Report& r) -> Value { return r.total.averaged_units; }},
    NetKey{"measured_s", [](const Report& r) { return of_measured(r, &Measurement::measured_s); }},
    NetKey{"unexplained_s",
           [](const Report& r) { return of_measured(r, &Measurement::unexplained_s); }},
};

struct LayerKey {
    std::string_view name;
    Value (*value)(const LayerReport&);
};
constexpr std::array kLayerKeys = {
    LayerKey{"time_s", [](const LayerReport& l) -> Value { return l.time_s; }},
    LayerKey{"processing_time_s",
             [](const LayerReport& l) -> Value { return l.processing_time_s; }},
    LayerKey{"low_s", [](const LayerReport& l) { return l.low_s; }},
    LayerKey{"high_s", [](const LayerReport& l) { return l.high_s; }},
    LayerKey{"cycles", [](const LayerReport& l) -> Value { return l.cycles; }},
    LayerKey{"utilization", [](const LayerReport& l) -> Value { return l.utilization; }},
    LayerKey{"energy_j", [](const LayerReport& l) -> Value { return l.energy_j; }},
    LayerKey{"macs", [](const LayerReport& l) -> Value { return static_cast<double>(l.macs); }},
    LayerKey{"flops", [](const LayerReport& l) -> Value { return static_cast<double>(l.flops); }},
    LayerKey{"outer_bytes", [](const LayerReport& l) -> Value { return l.outer_bytes; }},
    LayerKey{"limiter_step",
             [](const LayerReport& l) -> Value { return static_cast<double>(l.limiter_step); }},
    LayerKey{"allocated_pes", [](const LayerReport& l) -> Value { return l.active.allocated; }},
    LayerKey{"averaged_pes", [](const LayerReport& l) -> Value { return l.active.averaged; }},
    LayerKey{"measured_s",
             [](const LayerReport& l) { return of_measured(l, &LayerMeasurement::time_s); }},
    LayerKey{"unexplained_s",
             [](const LayerReport& l) { return of_measured(l, &LayerMeasurement::unexplained_s); }},
};

template <class Keys> std::vector<std::string> names_of(const Keys& keys) {
    std::vector<std::string> names;
    for (const auto& key : keys) {
        names.emplace_back(key.name);
    }
    return names;
}

} // namespace

const GateKeys& exam_gate_keys() {
    static const GateKeys keys{names_of(kNetKeys), names_of(kLayerKeys)};
    return keys;
}

GateFigures gate_figures(const Report& report) {
    GateFigures figures{exam_gate_keys(), {}, {}, {}};
    for (const NetKey& key : kNetKeys) {
        figures.net.push_back(key.value(report));
    }
    for (const LayerReport& layer : report.layers) {
        figures.layers.push_back({layer.layer.name, {}});
        for (const LayerKey& key : kLayerKeys) {
            figures.layers.back().values.push_back(key.value(layer));
        }
    }
    figures.why_none = [](const std::string& key) -> std::string {
        return key == "measured_s" || key == "unexplained_s"
                   ? "measured figures need --profile, with kernels of the layer in it"
                   : "the error of these predictions is unknown, so there is no interval";
    };
    return figures;
}

Result<Gate> parse_gate(std::string_view text) {
    return parse_gate(text, exam_gate_keys());
}

Result<Verdict> evaluate(const Gate& gate, const Report& report) {
    return evaluate(gate, gate_figures(report));
}

} // namespace eyeroof::analysis
