// What the readers of MAESTRO's and ZigZag's layers promise for any text at all.
// Used by the fuzzers and by the test that replays their corpora.
// Must not know what a particular text should mean.
#pragma once

#include "formats/maestro.hpp"
#include "formats/zigzag.hpp"

#include <string>

namespace eyeroof::tests {

inline std::string broken_promise_network(const Result<model::Network>& network) {
    if (!network && !network.diagnostics().has_errors()) {
        return "refused without an error";
    }
    for (const Diagnostic& d : network.diagnostics()) {
        if (d.where.file != "x" || d.where.line < 1 || d.code.empty() || d.message.empty()) {
            return "a diagnostic lacks place, code or message: " + to_string(d);
        }
    }
    if (network) {
        for (const model::Layer& layer : network->layers) {
            if (!work_of(layer).ok()) {
                return "a layer is not valid: " + layer.name;
            }
        }
    }
    return "";
}

inline std::string broken_promise_maestro(const std::string& text) {
    (void)formats::is_maestro(text);
    return broken_promise_network(formats::parse_maestro(text, "x"));
}

inline std::string broken_promise_zigzag(const std::string& text) {
    (void)formats::is_zigzag(text);
    return broken_promise_network(formats::parse_zigzag(text, "x"));
}

} // namespace eyeroof::tests
