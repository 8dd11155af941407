// What the readers of other tools' machines, AccelForge's workloads and templates promise for any
// text at all.
// Used by the fuzzer and by the test that replays its corpus.
// Must not know what a particular text should mean.
#pragma once

#include "formats/accelforge.hpp"
#include "formats/maestro.hpp"
#include "formats/scalesim.hpp"
#include "formats/stream_system.hpp"
#include "formats/template.hpp"
#include "formats/zigzag_hardware.hpp"

#include <string>

namespace eyeroof::tests {

template <class T> std::string broken_promise_peer(const Result<T>& read) {
    if (!read && !read.diagnostics().has_errors()) {
        return "refused without an error";
    }
    for (const Diagnostic& d : read.diagnostics()) {
        if (d.code.empty() || d.message.empty()) {
            return "a diagnostic lacks code or message: " + to_string(d);
        }
    }
    return "";
}

inline std::string broken_promise_machine(const Result<model::Machine>& machine) {
    const bool valid =
        !machine || !validate(std::get<model::Accelerator>(machine->kind)).has_errors();
    return valid ? broken_promise_peer(machine) : "a machine that is not valid";
}

inline std::string broken_promise_peer_machines(const std::string& text) {
    using namespace formats;
    std::string broken = broken_promise_machine(parse_accelforge_arch(text, "x.yaml"));
    broken += broken_promise_machine(parse_zigzag_hardware(text, "x.yaml"));
    broken += broken_promise_peer(parse_stream_system(text, "x.yaml"));
    broken += broken_promise_machine(parse_scalesim_machine(text, "x.cfg"));
    const auto pes = parse_maestro_hardware(text, "x.m");
    broken += broken_promise_machine(pes);
    broken += broken_promise_peer(parse_maestro_dataflow(text, "x.m", model::Accelerator{}));
    broken += broken_promise_peer(expand_template(text, "x.yaml"));
    const auto workload = parse_accelforge_workload(text, "x.yaml");
    broken += broken_promise_peer(workload);
    if (workload) {
        for (const model::Layer& layer : workload->network.layers) {
            broken += work_of(layer).ok() ? "" : "a layer is not valid: " + layer.name;
        }
    }
    return broken;
}

} // namespace eyeroof::tests
