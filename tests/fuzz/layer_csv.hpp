// What the reader of layer tables promises for any text at all.
// Used by the fuzzer and by the test that replays its corpus.
// Must not know what a particular text should mean.
#pragma once

#include "formats/layer_csv.hpp"

#include <string>

namespace eyeroof::tests {

// Empty when every promise is kept: errors come with a place, a code and a limit; a table that is
// read has valid layers only and is read back the same when it is written.
inline std::string broken_promise_layer_csv(const std::string& text) {
    const auto table = formats::parse_layer_csv(text, "x.csv");
    for (const Diagnostic& d : table.diagnostics()) {
        if (d.where.file != "x.csv" || d.code.empty() || d.message.empty()) {
            return "a diagnostic lacks place, code or message: " + to_string(d);
        }
    }
    if (table.diagnostics().size() > 2 * Diagnostics::kMost) {
        return "too many diagnostics";
    }
    if (!table) {
        return table.diagnostics().has_errors() ? "" : "refused without an error";
    }
    const std::size_t rows = table->layers.size();
    if (rows == 0 || table->rows.size() != rows || table->extras.size() != rows ||
        table->lines.size() != rows) {
        return "the parts of the table differ in length";
    }
    for (const model::Layer& layer : table->layers) {
        if (!work_of(layer).ok()) {
            return "a layer is not valid: " + layer.name;
        }
    }
    const auto again = formats::parse_layer_csv(formats::write_layer_csv(table->layers), "y.csv");
    return again && again->layers == table->layers ? "" : "written and read back, layers differ";
}

} // namespace eyeroof::tests
