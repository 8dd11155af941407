// What the readers of Timeloop's files promise for any text at all.
// Used by the fuzzer and by the test that replays its corpus.
// Must not know what a particular text should mean.
#pragma once

#include "formats/timeloop.hpp"

#include <string>

namespace eyeroof::tests {

// A machine of two levels with shared axes and one with axes of its own, for files that need one.
inline model::Accelerator timeloop_machine() {
    model::Accelerator a;
    a.clock_hz = 1e9;
    for (const char* name : {"DRAM", "GLB", "Spad"}) {
        model::Level level;
        level.name = name;
        model::Store store;
        store.operands = {model::Operand::input, model::Operand::weight, model::Operand::output};
        level.stores.push_back(store);
        a.levels.push_back(level);
    }
    a.levels[0].fanout = {{"x", 3}, {"y", 2}};
    a.levels[1].fanout = {{"PE.x", 4}, {"lane", 2}};
    return a;
}

template <class T>
std::string broken_promise_result(const Result<T>& read, const std::string& file) {
    if (!read && !read.diagnostics().has_errors()) {
        return "refused without an error";
    }
    for (const Diagnostic& d : read.diagnostics()) {
        if (d.where.file != file || d.code.empty() || d.message.empty()) {
            return "a diagnostic lacks place, code or message: " + to_string(d);
        }
    }
    return "";
}

// Empty when every promise is kept: what is read is valid, and a mapping that is read is written
// and read back the same.
inline std::string broken_promise_timeloop(const std::string& text) {
    const auto machine = formats::parse_timeloop_architecture(text, "t.yaml");
    std::string broken = broken_promise_result(machine, "t.yaml");
    if (machine && validate(std::get<model::Accelerator>(machine->kind)).has_errors()) {
        return "a machine that is not valid";
    }
    const auto problem = formats::parse_timeloop_problem(text, "t.yaml");
    broken += broken_promise_result(problem, "t.yaml");
    if (problem && !work_of(problem->network.layers.front()).ok()) {
        return "a layer that is not valid";
    }
    const model::Accelerator known = timeloop_machine();
    const auto rules = formats::parse_timeloop_constraints(text, "t.yaml", known);
    broken += broken_promise_result(rules, "t.yaml");
    const auto mapping = formats::parse_timeloop_mapping(text, "t.yaml", known);
    broken += broken_promise_result(mapping, "t.yaml");
    const auto written = mapping ? formats::write_timeloop_mapping(*mapping, known)
                                 : Result<std::string>(mapping.diagnostics());
    if (written) {
        const auto again = formats::parse_timeloop_mapping(*written, "w.yaml", known);
        if (!again) {
            return "what was written is not read: " + to_string(again.diagnostics().items()[0]);
        }
    }
    return broken;
}

} // namespace eyeroof::tests
