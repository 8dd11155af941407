#include "formats/hf/encoder_parts.hpp"
#include "formats/hf/layer_kinds.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::formats::hf {

namespace {

Count heads_of(Config& c, Config::Names names, Count hidden) {
    const Count heads = std::max<Count>(c.need(names), 1);
    if (hidden % heads != 0) {
        c.refuse(*names.begin(), fmt::format("{} does not divide {}", heads, hidden),
                 "heads divide the width");
    }
    return heads;
}

class TextEncoder : public EncoderParts {
  public:
    using EncoderParts::EncoderParts;

    void run() {
        parameters("seq: {default: 128, min: 1, meaning: \"tokens of a sequence\"}");
        built_.names = "words: =batch*seq, new: =seq, seen: =seq";
        text();
    }

  private:
    // Layers of a BERT: queries, keys, and values with biases, two norms behind what they follow.
    EncoderLayer text_layer(Config& c) {
        EncoderLayer l;
        l.hidden = c.need({"hidden_size", "dim"});
        l.heads = l.kv = heads_of(c, {"num_attention_heads", "n_heads"}, l.hidden);
        l.size = l.hidden / l.heads;
        l.inner = c.count_or({"intermediate_size", "hidden_dim"}, 4 * l.hidden);
        return l;
    }

    void text() {
        if (is("modernbert")) {
            return modern_text();
        }
        EncoderLayer l = text_layer(c_);
        l.biases = is("deberta") ? 2 : 3;
        const Count layers = c_.need({"num_hidden_layers", "n_layers"});
        const Count vocabulary = c_.need({"vocab_size"});
        const Count narrow =
            one_of({"electra", "albert"}) ? c_.count_or({"embedding_size"}, 128) : l.hidden;
        const Count types = c_.count_or(
            {"type_vocab_size"}, one_of({"distilbert", "deberta", "deberta-v2", "mpnet"}) ? 0 : 2);
        const bool by_place =
            !one_of({"deberta", "deberta-v2"}) || c_.flag("position_biased_input", true);
        add(embedding_of({}, "embedding", narrow, vocabulary));
        if (by_place) {
            add(embedding_of({}, "positions", narrow,
                             c_.count_or({"max_position_embeddings"}, 512)));
        }
        if (types > 0) {
            add(embedding_of({}, "types", narrow, types));
        }
        add(norm_of({}, "embedding_norm", narrow, 2 * narrow));
        if (narrow != l.hidden || is("albert")) {
            add(gemm_of({}, "embedding_in", l.hidden, narrow, (narrow + 1) * l.hidden));
        }
        add_relative(l, layers);
        if (is("albert")) {
            const Count groups = std::max<Count>(c_.count_or({"num_hidden_groups"}, 1), 1);
            built_.blocks.add(encoder_layer(l), groups);
            if (layers > groups) {
                built_.blocks.add(with_shared_weights(encoder_layer(l)), layers - groups);
            }
        } else {
            built_.blocks.add(encoder_layer(l), layers);
        }
        text_head(l.hidden, narrow, vocabulary);
    }

    // Positions between tokens: of MPNet a table, of DeBERTa keys and queries of their own.
    void add_relative(const EncoderLayer& l, Count layers) {
        if (is("mpnet")) {
            add(values_of("relative_positions",
                          c_.count_or({"relative_attention_num_buckets"}, 32) * l.heads));
        }
        if (!one_of({"deberta", "deberta-v2"}) || !c_.flag("relative_attention")) {
            return;
        }
        const auto near = c_.number("max_relative_positions", -1);
        const Count reach =
            near >= 1.0 ? static_cast<Count>(near) : c_.count_or({"max_position_embeddings"}, 512);
        const auto given = c_.number("position_buckets", -1);
        const Count places =
            2 * (is("deberta-v2") && given > 0.0 ? static_cast<Count>(given) : reach);
        const auto kinds = kinds_of_positions();
        const bool shared = is("deberta-v2") && c_.flag("share_att_key");
        add(values_of("relative_positions", places * l.hidden));
        if (is("deberta-v2") && c_.word("norm_rel_ebd").find("layer_norm") != std::string::npos) {
            add(values_of("relative_norm", 2 * l.hidden));
        }
        if (const Count taps = c_.count_or({"conv_kernel_size"}, 0); is("deberta-v2") && taps > 0) {
            add({"conv",
                 fmt::format("op: conv2d, n: =batch, c: {0}, h: \"=seq+{1}-1\", w: 1, k: {0}, r: "
                             "{1}, s: 1, groups: {2}, bias: 1",
                             l.hidden, taps, std::max<Count>(c_.count_or({"conv_groups"}, 1), 1)),
                 {}});
            add(norm_of({}, "conv_norm", l.hidden, 2 * l.hidden));
        }
        for (const char* kind : {"c2p", "p2c"}) {
            const bool from_keys = std::string_view(kind) == "c2p";
            if (std::ranges::find(kinds, kind) == kinds.end()) {
                continue;
            }
            const Count biased = is("deberta-v2") || !from_keys ? l.hidden : 0;
            built_.blocks.add(
                {{std::string("position_") + (from_keys ? "keys" : "queries"),
                  fmt::format("op: gemm, m: {}, n: {}, k: {}, parameters: {}", places, l.hidden,
                              l.hidden, shared ? 0 : l.hidden * l.hidden + biased),
                  {}},
                 {std::string("position_scores_") + kind,
                  fmt::format("op: bmm, batch: \"=batch*{}\", m: =seq, n: {}, k: {}", l.heads,
                              places, l.size),
                  {}},
                 {std::string("position_gather_") + kind,
                  fmt::format("op: elementwise, rows: \"=batch*{}*seq\", cols: =seq, fn: add",
                              l.heads),
                  {}}},
                layers);
        }
    }

    // "c2p|p2c", or a list.
    std::vector<std::string> kinds_of_positions() {
        if (c_.is_list("pos_att_type")) {
            return c_.words("pos_att_type");
        }
        std::vector<std::string> kinds;
        std::string joined = c_.word("pos_att_type");
        std::ranges::transform(joined, joined.begin(),
                               [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
        for (const char* kind : {"c2p", "p2c"}) {
            if (joined.find(kind) != std::string::npos) {
                kinds.emplace_back(kind);
            }
        }
        return kinds;
    }

    void modern_text() {
        EncoderLayer l = text_layer(c_);
        const bool attention_bias = c_.flag("attention_bias");
        const bool norm_bias = c_.flag("norm_bias");
        l.biases = attention_bias ? 3 : 0;
        l.out_bias = attention_bias;
        l.mlp_bias = c_.flag("mlp_bias");
        l.gated = l.rotary = true;
        l.norm_values = norm_bias ? 2 : 1;
        const Count layers = c_.need({"num_hidden_layers"});
        const Count vocabulary = c_.need({"vocab_size"});
        const Count every = std::max<Count>(c_.count_or({"global_attn_every_n_layers"}, 3), 1);
        const auto kinds = layer_kinds(c_, "modernbert");
        const Count near = c_.count_or({"local_attention", "sliding_window"}, 128);
        const Count values = l.norm_values * l.hidden;
        add(embedding_of({}, "embedding", l.hidden, vocabulary));
        add(norm_of({}, "embedding_norm", l.hidden, values));
        for (Count i = 0; i < layers; ++i) {
            const auto at = static_cast<std::size_t>(i);
            EncoderLayer one = l;
            one.norms = i == 0 ? 1 : 2; // the first has the embedding's
            const bool whole = at < kinds.size() ? kinds[at] == "full_attention" : i % every == 0;
            one.window = whole ? 0 : near + 1;
            built_.blocks.add(encoder_layer(one));
        }
        add(norm_of({}, "last_norm", l.hidden, values));
        const std::string name = architecture_of(c_);
        const bool masked = name.ends_with("ForMaskedLM");
        const bool classes = ends_with_any(name, {"Classification", "MultipleChoice"});
        if (masked || classes || name.ends_with("QuestionAnswering")) {
            const Count bias = c_.flag("classifier_bias") ? l.hidden : 0;
            add(gemm_of({}, "head_transform", l.hidden, l.hidden, l.hidden * l.hidden + bias));
            add(norm_of({}, "head_norm", l.hidden, values));
        }
        if (masked) {
            add(gemm_of({}, "head", vocabulary, l.hidden,
                        c_.flag("decoder_bias", true) ? vocabulary : 0));
        } else if (name.ends_with("QuestionAnswering")) {
            const Count ends = classes_of(c_);
            add(gemm_of({}, "head", ends, l.hidden, ends * (l.hidden + 1)));
        } else if (classes) {
            classifier(l.hidden);
        }
    }

    void text_head(Count hidden, Count narrow, Count vocabulary) {
        const std::string name = architecture_of(c_);
        const bool pooled = one_of({"bert", "albert"});
        const bool words = ends_with_any(name, {"ForMaskedLM", "LMHeadModel", "ForCausalLM"}) ||
                           (name.ends_with("ForPreTraining") && !is("electra"));
        if (words) {
            add(gemm_of({}, "head_transform", narrow, hidden, (hidden + 1) * narrow));
            add(norm_of({}, "head_norm", narrow, 2 * narrow));
            add(gemm_of({}, "head", vocabulary, narrow, vocabulary));
            if (pooled && name.ends_with("ForPreTraining")) {
                pooler(hidden);
                const Count orders = is("albert") ? classes_of(c_) : 2;
                add({"order_head",
                     fmt::format("op: gemm, m: =batch, n: {}, k: {}, bias: 1", orders, hidden),
                     {}});
            }
        } else if (name == "ElectraForPreTraining") {
            add(gemm_of({}, "head_transform", hidden, hidden, (hidden + 1) * hidden));
            add(gemm_of({}, "head", 1, hidden, hidden + 1));
        } else if (ends_with_any(name, {"ForTokenClassification", "ForQuestionAnswering"})) {
            const Count classes = classes_of(c_);
            add(gemm_of({}, "head", classes, hidden, classes * (hidden + 1)));
        } else if (ends_with_any(name, {"ForSequenceClassification", "ForMultipleChoice",
                                        "ForNextSentencePrediction"})) {
            // A pooler, or a matrix of the head's own, which is as large.
            pooler(hidden);
            if (name.ends_with("ForMultipleChoice")) {
                add({"head", fmt::format("op: gemm, m: =batch, n: 1, k: {}, bias: 1", hidden), {}});
            } else {
                classifier(hidden);
            }
        } else if (one_of({"bert", "roberta", "xlm-roberta", "camembert", "albert", "mpnet"})) {
            pooler(hidden);
        }
    }
};

} // namespace

BuiltEncoder build_text_encoder(Config& config, std::string_view type) {
    TextEncoder encoder(config, type);
    encoder.run();
    return encoder.take();
}

} // namespace eyeroof::formats::hf
