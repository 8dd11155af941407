// What the reader of mappings promises for any text at all.
// Used by the fuzzer and by the test that replays its corpus.
// Must not know what a particular text should mean.
#pragma once

#include "formats/mapping_yaml.hpp"
#include "tests/fuzz/timeloop.hpp"

#include <string>

namespace eyeroof::tests {

// A mapping that is read is written and read back the same.
inline std::string broken_promise_mapping_yaml(const std::string& text) {
    const model::Accelerator machine = timeloop_machine();
    const auto mapping = formats::parse_mapping_yaml(text, "t.yaml", machine);
    if (mapping) {
        const auto again = formats::parse_mapping_yaml(
            formats::write_mapping_yaml(*mapping, machine), "w.yaml", machine);
        return again && *again == *mapping ? "" : "what was written is read as something else";
    }
    return broken_promise_result(mapping, "t.yaml");
}

} // namespace eyeroof::tests
