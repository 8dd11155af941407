// What the readers of SCALE-Sim's files promise for any text at all.
// Used by the fuzzer and by the test that replays its corpus.
// Must not know what a particular text should mean.
#pragma once

#include "formats/scalesim.hpp"
#include "model/compat/scalesim.hpp"

#include <string>

namespace eyeroof::tests {

// Empty when every promise is kept: a topology that is read has valid layers only, whose cycles are
// positive or refused with a reason; a cfg that is read has an array.
inline std::string broken_promise_scalesim(const std::string& text) {
    const auto config = formats::parse_scalesim_cfg(text, "x.cfg");
    if (config && (config->rows < 1 || config->cols < 1)) {
        return "a cfg without an array";
    }
    const auto network = formats::parse_scalesim_topology(text, "x.csv");
    if (formats::is_scalesim_topology(text) && !network && !network.diagnostics().has_errors()) {
        return "refused without an error";
    }
    for (const Diagnostic& d : network.diagnostics()) {
        if (d.where.file != "x.csv" || d.code.empty() || d.message.empty()) {
            return "a diagnostic lacks place, code or message: " + to_string(d);
        }
    }
    if (!network) {
        return "";
    }
    for (const model::Layer& layer : network->layers) {
        if (!work_of(layer).ok()) {
            return "a layer is not valid: " + layer.name;
        }
        for (const auto dataflow :
             {model::DataflowKind::ws, model::DataflowKind::os, model::DataflowKind::is}) {
            const auto cycles = model::compat::scalesim_compute_cycles(layer, 12, 14, dataflow);
            if (cycles ? *cycles < 1 : !cycles.diagnostics().has_errors()) {
                return "no cycles and no reason: " + layer.name;
            }
        }
    }
    return "";
}

} // namespace eyeroof::tests
