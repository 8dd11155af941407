#include "formats/hf/encoder_parts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::formats::hf {

namespace {

class SequenceEncoder : public EncoderParts {
  public:
    using EncoderParts::EncoderParts;

    void run() { is("whisper") ? sound() : sequence(); }

  private:
    // What the family's decoder and encoder have in common.
    EncoderLayer sequence_layer(bool decoder) {
        EncoderLayer l;
        const bool t5 = one_of({"t5", "mt5", "umt5"});
        l.hidden = c_.need({"d_model"});
        const Count heads = t5        ? c_.need({"num_heads"})
                            : decoder ? c_.count_or({"decoder_attention_heads"}, 16)
                                      : c_.count_or({"encoder_attention_heads"}, 16);
        l.heads = l.kv = std::max<Count>(heads, 1);
        l.size = t5 ? c_.need({"d_kv"}) : std::max<Count>(l.hidden / l.heads, 1);
        l.inner = t5        ? c_.need({"d_ff"})
                  : decoder ? c_.count_or({"decoder_ffn_dim"}, 4 * l.hidden)
                            : c_.count_or({"encoder_ffn_dim"}, 4 * l.hidden);
        l.norms = decoder ? 3 : 2;
        l.reads_encoder = decoder;
        l.tokens = decoder ? Tokens{"words", "new", "seen", "decoder_"}
                           : Tokens{"read", "source", "source", "encoder_"};
        l.read = {"read", "source", "source", {}};
        if (t5) {
            l.biases = 0;
            l.out_bias = l.mlp_bias = false;
            l.norm_values = 1;
            l.gated = c_.word("feed_forward_proj", "relu").starts_with("gated");
        } else if (is("whisper")) {
            l.biases = 2;
        }
        return l;
    }

    Count layers_of(bool decoder) {
        if (one_of({"t5", "mt5", "umt5"})) {
            const Count layers = c_.need({"num_layers"});
            return decoder ? c_.count_or({"num_decoder_layers"}, layers) : layers;
        }
        return decoder ? c_.count_or({"decoder_layers"}, 12) : c_.count_or({"encoder_layers"}, 12);
    }

    void sequence_names(const char* source, const char* fewest) {
        built_.parameters = fmt::format(
            "  source: {{default: {}, min: {}, meaning: \"{}\"}}\n"
            "  new: {{default: 128, min: 1, meaning: \"tokens of a sequence that are written\"}}\n"
            "  context: {{default: 0, min: 0, meaning: \"tokens in the cache before them\"}}\n"
            "  batch: {{default: 1, min: 1, meaning: \"sequences\"}}\n",
            source, fewest,
            is("whisper") ? "tokens of the sound: half of its frames" : "tokens that are read");
        built_.names = "words: =batch*new, seen: =context+new, read: =batch*source";
    }

    void sequence() {
        sequence_names("512", "1");
        const bool t5 = one_of({"t5", "mt5", "umt5"});
        const std::string name = architecture_of(c_);
        const bool reads = !name.ends_with("ForCausalLM");
        const bool writes = !name.ends_with("EncoderModel");
        const Count hidden = c_.need({"d_model"});
        const Count vocabulary = c_.need({"vocab_size"});
        const Count places = t5 || one_of({"m2m_100"})
                                 ? 0
                                 : c_.count_or({"max_position_embeddings"}, 1024) +
                                       (one_of({"bart", "mbart"}) ? 2 : 0);
        const bool learned = places > 0 && !one_of({"marian", "pegasus"});
        add(embedding_of({!writes ? "read"
                          : reads ? "read+words"
                                  : "words",
                          "", "", ""},
                         "embedding", hidden, vocabulary));
        const bool first_norm = one_of({"bart", "mbart"}) || (is("blenderbot-small"));
        const bool last_norm = t5 || one_of({"mbart", "pegasus", "m2m_100", "blenderbot"});
        for (const bool decoder : {false, true}) {
            if ((!decoder && !reads) || (decoder && !writes)) {
                continue;
            }
            const EncoderLayer l = sequence_layer(decoder);
            if (learned || one_of({"marian", "pegasus"})) {
                add(embedding_of(l.tokens, "positions", hidden, places));
            }
            if (first_norm) {
                add(norm_of(l.tokens, "first_norm", hidden, 2 * hidden));
            }
            const Count layers = layers_of(decoder);
            if (t5) {
                const Count table = c_.count_or({"relative_attention_num_buckets"}, 32) * l.heads;
                add(values_of("relative_positions", (is("umt5") ? layers : 1) * table));
            }
            built_.blocks.add(encoder_layer(l), layers);
            if (last_norm) {
                add(norm_of(l.tokens, "last_norm", hidden, l.norm_values * hidden));
            }
        }
        if (name.ends_with("ForSequenceClassification")) {
            pooler(hidden);
            return classifier(hidden);
        }
        if (name.ends_with("Model") && !name.ends_with("LMHeadModel")) {
            return;
        }
        const bool tied =
            is("umt5") || !c_.has("tie_word_embeddings") || c_.flag("tie_word_embeddings", true);
        add(gemm_of({}, "head", vocabulary, hidden, tied ? 0 : vocabulary * hidden));
    }

    void sound() {
        const std::string name = architecture_of(c_);
        const bool reads = !name.ends_with("ForCausalLM");
        sequence_names("1500", "1");
        const Count hidden = c_.need({"d_model"});
        const Count vocabulary = c_.need({"vocab_size"});
        if (reads) {
            const EncoderLayer l = sequence_layer(false);
            const Count mels = c_.count_or({"num_mel_bins"}, 80);
            add({"conv1",
                 fmt::format("op: conv2d, n: =batch, c: {}, h: 1, w: =2*source, k: {}, r: 1, s: 3, "
                             "pad: 0x1, bias: 1",
                             mels, hidden),
                 {}});
            add({"conv2",
                 fmt::format("op: conv2d, n: =batch, c: {0}, h: 1, w: =2*source, k: {0}, r: 1, s: "
                             "3, stride: 1x2, pad: 0x1, bias: 1",
                             hidden),
                 {}});
            add(embedding_of(l.tokens, "positions", hidden,
                             c_.count_or({"max_source_positions"}, 1500)));
            built_.blocks.add(encoder_layer(l), layers_of(false));
            add(norm_of(l.tokens, "last_norm", hidden, 2 * hidden));
        }
        if (name.ends_with("ForAudioClassification")) {
            const Count narrow = c_.count_or({"classifier_proj_size"}, 256);
            if (c_.flag("use_weighted_layer_sum")) {
                add(values_of("layer_weights", layers_of(false) + 1));
            }
            add(gemm_of({"read", "source", "source", {}}, "projector", narrow, hidden,
                        narrow * (hidden + 1)));
            return classifier(narrow);
        }
        const EncoderLayer l = sequence_layer(true);
        add(embedding_of(l.tokens, "embedding", hidden, vocabulary));
        add(embedding_of(l.tokens, "positions", hidden,
                         c_.count_or({"max_target_positions"}, 448)));
        built_.blocks.add(encoder_layer(l), layers_of(true));
        add(norm_of(l.tokens, "last_norm", hidden, 2 * hidden));
        if (!name.ends_with("WhisperModel")) {
            add(gemm_of({}, "head", vocabulary, hidden, 0));
        }
    }
};

} // namespace

BuiltEncoder build_sequence_encoder(Config& config, std::string_view type) {
    SequenceEncoder encoder(config, type);
    encoder.run();
    return encoder.take();
}

} // namespace eyeroof::formats::hf
