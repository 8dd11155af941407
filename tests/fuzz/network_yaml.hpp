// What the reader of network YAML promises for any text at all.
// Used by the fuzzer and by the test that replays its corpus.
// Must not know what a particular text should mean.
#pragma once

#include "formats/network_yaml.hpp"

#include <string>

namespace eyeroof::tests {

// Empty when every promise is kept: errors come with a place, a code and a message; a network that
// is read has valid layers only, and written without its parameters is read back the same.
inline std::string broken_promise_network_yaml(const std::string& text) {
    const auto file = formats::parse_network_yaml(text, "x.yaml");
    for (const Diagnostic& d : file.diagnostics()) {
        if (d.where.file != "x.yaml" || d.code.empty() || d.message.empty()) {
            return "a diagnostic lacks place, code or message: " + to_string(d);
        }
    }
    (void)formats::parse_network_head(text, "x.yaml");
    if (!file) {
        return file.diagnostics().has_errors() ? "" : "refused without an error";
    }
    if (file->network.layers.empty()) {
        return "a network without layers";
    }
    for (const model::Layer& layer : file->network.layers) {
        if (!work_of(layer).ok()) {
            return "a layer is not valid: " + layer.name;
        }
    }
    const std::string written = formats::write_network_yaml(file->network);
    const auto again = formats::parse_network_yaml(written, "x.yaml");
    return again && again->network == file->network
               ? ""
               : "written and read back, it differs:\n" + written;
}

} // namespace eyeroof::tests
