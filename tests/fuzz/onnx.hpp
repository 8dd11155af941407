// What the reader of ONNX models promises for any bytes at all.
// Used by the fuzzer and by tests that break models.
// Must not know what particular bytes should mean.
#pragma once

#include "formats/onnx/convert.hpp"

#include <string>

namespace eyeroof::tests {

// Empty when every promise is kept: errors come with a place, a code and a message; a model that is
// read has layers, all of them valid, and every node of it is counted once.
inline std::string broken_promise_onnx(const std::string& bytes,
                                       const formats::onnx::Sizes& sizes) {
    const auto model = formats::onnx::parse_onnx(bytes, "x.onnx", sizes);
    for (const Diagnostic& d : model.diagnostics()) {
        if (d.where.file != "x.onnx" || d.code.empty() || d.message.empty()) {
            return "a diagnostic lacks place, code or message: " + to_string(d);
        }
    }
    if (!model) {
        return model.diagnostics().has_errors() ? "" : "refused without an error";
    }
    if (model->network.layers.empty()) {
        return "a network without layers";
    }
    for (const model::Layer& layer : model->network.layers) {
        if (!work_of(layer).ok()) {
            return "a layer is not valid: " + layer.name;
        }
    }
    return "";
}

// With all sizes fixed, and with those that the models of tests/data leave open.
inline std::string broken_promise_onnx(const std::string& bytes) {
    const std::string broken = broken_promise_onnx(bytes, {});
    return broken.empty() ? broken_promise_onnx(bytes, {{"batch", 2}, {"seq", 16}}) : broken;
}

} // namespace eyeroof::tests
