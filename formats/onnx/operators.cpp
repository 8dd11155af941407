#include "formats/onnx/operators.hpp"

#include <algorithm>
#include <set>

namespace eyeroof::formats::onnx {

namespace {

// ONNX's own operators, those of com.microsoft, and what ONNX Runtime makes of them when it saves
// an optimized model: images in blocks of channels, or with channels last.
bool is_onnx(const std::string& domain) {
    return domain.empty() || domain == "com.microsoft" || domain == "com.microsoft.nchwc" ||
           domain == "com.ms.internal.nhwc" || domain == "ai.onnx.preview";
}

// Operators that consist of multiply-accumulates, of either domain.
const std::set<std::string_view>& products() {
    static const std::set<std::string_view> all = {"Attention",
                                                   "CausalConvWithState",
                                                   "Conv",
                                                   "ConvInteger",
                                                   "ConvTranspose",
                                                   "DecoderAttention",
                                                   "DecoderMaskedMultiHeadAttention",
                                                   "DecoderMaskedSelfAttention",
                                                   "DeformConv",
                                                   "DynamicQuantizeLSTM",
                                                   "DynamicQuantizeMatMul",
                                                   "Einsum",
                                                   "FlexAttention",
                                                   "FusedConv",
                                                   "FusedGemm",
                                                   "FusedMatMul",
                                                   "GRU",
                                                   "Gemm",
                                                   "GemmFastGelu",
                                                   "GroupQueryAttention",
                                                   "LSTM",
                                                   "LinearAttention",
                                                   "LongformerAttention",
                                                   "MatMul",
                                                   "MatMulBnb4",
                                                   "MatMulInteger",
                                                   "MatMulIntegerToFloat",
                                                   "MatMulNBits",
                                                   "MoE",
                                                   "MultiHeadAttention",
                                                   "NhwcConv",
                                                   "NhwcFusedConv",
                                                   "PackedAttention",
                                                   "PackedMultiHeadAttention",
                                                   "PagedAttention",
                                                   "QAttention",
                                                   "QGemm",
                                                   "QLinearConv",
                                                   "QLinearMatMul",
                                                   "QMoE",
                                                   "RNN",
                                                   "SparseAttention",
                                                   "TransposeMatMul"};
    return all;
}

// Operators of ONNX without a cost here that multiply nothing to speak of.
bool only_moves(std::string_view op) {
    static const std::set<std::string_view> all = {"Bernoulli",
                                                   "CenterCropPad",
                                                   "GlobalLpPool",
                                                   "ImageDecoder",
                                                   "IsInf",
                                                   "MaxRoiPool",
                                                   "MaxUnpool",
                                                   "Multinomial",
                                                   "NegativeLogLikelihoodLoss",
                                                   "OptionalHasElement",
                                                   "RegexFullMatch",
                                                   "ReverseSequence",
                                                   "SequenceErase",
                                                   "SoftmaxCrossEntropyLoss",
                                                   "StringConcat",
                                                   "StringNormalizer",
                                                   "StringSplit",
                                                   "TfIdfVectorizer",
                                                   "Unique"};
    return all.contains(op);
}

} // namespace

bool may_multiply(const OnnxNode& node) {
    bool body = false;
    for (const auto& [name, attribute] : node.attributes) {
        const OnnxGraph* graph = attribute.graph.get();
        if (graph != nullptr) {
            body = true;
            if (std::any_of(graph->nodes.begin(), graph->nodes.end(), may_multiply)) {
                return true;
            }
        }
    }
    if (body || node.op == "If" || node.op == "Loop" || node.op == "Scan") {
        return !body; // without a body that was read nothing is known
    }
    if (!is_onnx(node.domain)) {
        return true;
    }
    const bool costed = find_handler(node.domain, node.op) != nullptr;
    return products().contains(node.op) || (!costed && !only_moves(node.op));
}

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
        add_detection(all);
        add_sequences(all);
        add_quantized(all);
        return all;
    }();
    if (!is_onnx(domain)) {
        return nullptr;
    }
    const auto special = domain.empty() ? handlers.end() : handlers.find(domain + "." + op);
    const auto found = special != handlers.end() ? special : handlers.find(op);
    return found != handlers.end() ? &found->second : nullptr;
}

} // namespace eyeroof::formats::onnx
