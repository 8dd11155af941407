// What must hold for any text that is given as a machine description.
// Used by the fuzz target and by the test that replays its corpus.
#pragma once

#include "hwdb/accelerator_reader.hpp"

#include <string>

namespace eyeroof::tests {

// "" when all is well: the text is refused with errors, or it is a machine that survives being
// written out and read again.
inline std::string broken_promise_machine_yaml(const std::string& text) {
    auto document = hwdb::parse_yaml(text, "fuzz.yaml");
    if (!document) {
        return document.diagnostics().has_errors() ? "" : "refused without an error";
    }
    const auto file = hwdb::read_accelerator(*document, "fuzz");
    if (!file) {
        return file.diagnostics().has_errors() ? "" : "refused without an error";
    }
    const std::string written = hwdb::write_accelerator(file->machine);
    auto again = hwdb::parse_yaml(written, "again.yaml");
    if (!again) {
        return "what was written is not YAML:\n" + written +
               to_string(*again.diagnostics().begin());
    }
    const auto same = hwdb::read_accelerator(*again, "fuzz");
    if (!same) {
        return "what was written is refused:\n" + written + to_string(*same.diagnostics().begin());
    }
    return same->machine.kind == file->machine.kind ? "" : "written and read again, it differs";
}

} // namespace eyeroof::tests
