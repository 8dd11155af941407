#include "study/formats/onnx/operators.hpp"

namespace eyeroof::study::onnx {

const Handler* find_handler(const std::string& domain, const std::string& op) {
    static const Handlers handlers = [] {
        Handlers all;
        add_products(all);
        add_recurrent(all);
        add_attention(all);
        add_norms(all);
        add_elementwise(all);
        add_movement(all);
        add_views(all);
        return all;
    }();
    const bool microsoft = domain == "com.microsoft";
    if (!domain.empty() && !microsoft) {
        return nullptr;
    }
    const auto special = microsoft ? handlers.find(domain + "." + op) : handlers.end();
    const auto found = special != handlers.end() ? special : handlers.find(op);
    return found != handlers.end() ? &found->second : nullptr;
}

} // namespace eyeroof::study::onnx
