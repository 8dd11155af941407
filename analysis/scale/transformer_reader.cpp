// Reads a decoder's sizes off the shapes of its operators.
#include "analysis/scale/transformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace eyeroof::analysis {

using model::Layer;
using model::Op;

namespace {

// What can be read off the operators, whatever they are called.
class Shapes {
    static constexpr const char* kHint =
        "decoders such as llama-3-8b can be divided and served; `eyeroof scale` without --tensor, "
        "--pipeline, … trains any network data parallel";

  public:
    explicit Shapes(const model::Network& network) : network_(network) {}

    Result<Transformer> read() {
        Transformer t;
        t.name = network_.name;
        if (!read_embedding(t)) {
            return missing("a token embedding");
        }
        if (!read_attention(t)) {
            return missing("attention: two batched products around a softmax, or one kernel");
        }
        if (!read_feed_forward(t)) {
            return missing("products that read and write the embedding's width");
        }
        return check(std::move(t));
    }

    Count length() {
        Transformer t;
        Count most = 0;
        for (const Seen& one : read_seen(t)) {
            most = std::max(most, one.keys);
        }
        return most;
    }

  private:
    static Result<Transformer> missing(const char* what) {
        return Result<Transformer>::failure(
            "no-transformer", std::string("the network is not a decoder: it lacks ") + what, kHint);
    }

    static Result<Transformer> not_modelled(const std::string& what) {
        return Result<Transformer>::failure("no-transformer", what, kHint);
    }

    // Whether what was read is all of the network.
    Result<Transformer> check(Transformer t) const {
        if (wide_embeddings_ > 2 || !writes(t.hidden, t.vocabulary)) {
            return not_modelled("this network is no decoder: it has embeddings of segments, or no "
                                "head that writes the vocabulary, as encoders do");
        }
        const auto totals = model::totals_of(network_);
        if (!totals) {
            return totals.diagnostics();
        }
        const auto own = static_cast<double>(totals->parameters);
        if (std::abs(parameters(t) - own) > 0.01 * own) {
            return not_modelled(
                fmt::format("this network has {:.4g} B parameters, a decoder of its sizes {:.4g} "
                            "B: encoders beside it and layers of several kinds are not modelled",
                            own / 1e9, parameters(t) / 1e9));
        }
        return t;
    }

    bool writes(Count from, Count to) const {
        return std::ranges::any_of(network_.layers, [&](const Layer& layer) {
            const auto* g = std::get_if<model::GemmShape>(&layer.shape);
            return layer.op == Op::gemm && g != nullptr && g->k == from && g->n == to;
        });
    }

    bool read_embedding(Transformer& t) {
        for (const Layer& layer : network_.layers) {
            const auto* rows = std::get_if<model::RowsShape>(&layer.shape);
            if (layer.op != Op::embedding || rows == nullptr || rows->table <= 0) {
                continue;
            }
            wide_embeddings_ += words_ == 0 || rows->cols == t.hidden ? layer.count : 0;
            if (words_ == 0) {
                words_ = rows->rows;
                t.hidden = rows->cols;
                t.vocabulary = rows->table;
            } else if (rows->cols == t.hidden) {
                t.positions = rows->table;
            }
        }
        return words_ > 0;
    }

    // The product of queries and keys that a softmax reads: as many rows, and a column for each key
    // (with a sink one more). nullptr: the softmax is no attention's.
    const Layer* scores_of(std::size_t softmax) const {
        const Layer& layer = network_.layers[softmax];
        const auto& rows = std::get<model::RowsShape>(layer.shape);
        for (std::size_t i = softmax; i-- > 0;) {
            const auto* g = std::get_if<model::GemmShape>(&network_.layers[i].shape);
            if (network_.layers[i].op == Op::bmm && g != nullptr &&
                network_.layers[i].count == layer.count && g->batch * g->m == rows.rows &&
                (g->n == rows.cols || g->n == rows.cols - 1)) {
                return &network_.layers[i];
            }
        }
        return nullptr;
    }

    // Attention of some layers, which see so many keys.
    struct Seen {
        Count layers = 0, keys = 0, window = 0;
    };

    // Of the first attention, and what all of them see. scores: batch x kv products [m, size] x
    // [size, n]; each row of the softmax is a word's head.
    std::vector<Seen> read_seen(Transformer& t) {
        std::vector<Seen> seen;
        for (std::size_t i = 0; i < network_.layers.size(); ++i) {
            const Layer& layer = network_.layers[i];
            if (const auto* a = std::get_if<model::AttentionShape>(&layer.shape)) {
                if (seen.empty()) {
                    first_attention_ = i;
                    t.head_size = a->k;
                    rows_ = a->batch * a->groups * a->m;
                    groups_ = a->batch * a->key_heads();
                    sharing_ = a->groups / a->key_heads();
                }
                seen.push_back({layer.count, a->n, a->window});
            } else if (layer.op == Op::softmax) {
                const Layer* scores = scores_of(i);
                if (scores == nullptr) {
                    continue;
                }
                const auto& g = std::get<model::GemmShape>(scores->shape);
                const auto& rows = std::get<model::RowsShape>(layer.shape);
                if (seen.empty()) {
                    first_attention_ = static_cast<std::size_t>(scores - network_.layers.data());
                    t.head_size = g.k;
                    groups_ = g.batch;
                    sharing_ = g.m % g.n == 0 ? g.m / g.n : 1; // exact where the cache is empty
                    rows_ = rows.rows;
                }
                if (rows.rows == rows_) {
                    seen.push_back({layer.count, g.n, rows.window});
                }
            }
        }
        return seen;
    }

    // Layers that see a window: its size is stated, or they see fewer keys than others.
    bool read_window(Transformer& t, const std::vector<Seen>& all) {
        Count most = 0;
        for (const Seen& one : all) {
            most = std::max(most, one.keys);
        }
        // New tokens of a sequence: all of them over the sequences, which have kv_heads products.
        const Count each = words_ * t.kv_heads / std::max<Count>(groups_, 1);
        for (const Seen& one : all) {
            const Count keys = one.window > 0    ? one.window
                               : one.keys < most ? one.keys - each + 1
                                                 : 0;
            if (keys <= 0) {
                continue;
            }
            if (t.window.keys > 0 && t.window.keys != keys) {
                return false;
            }
            t.window.keys = keys;
            t.window.layers += one.layers;
        }
        return true;
    }

    // Layers that keep a state: a convolution of each channel over a few tokens, and a norm of each
    // head of values, as often.
    void read_states(Transformer& t) const {
        StateLayers states;
        for (const Layer& layer : network_.layers) {
            const auto* c = std::get_if<model::ConvShape>(&layer.shape);
            if (layer.op == Op::conv2d && c != nullptr && c->groups == c->c && c->c == c->k &&
                c->w == 1) {
                states.layers = layer.count;
                states.taps = c->r;
                states.keys = c->c; // of all channels, until the heads are known
            }
        }
        for (const Layer& layer : network_.layers) {
            const auto* r = std::get_if<model::RowsShape>(&layer.shape);
            if (states.layers > 0 && layer.op == Op::layernorm && layer.count == states.layers &&
                layer.parameters == r->cols && r->rows > words_ && r->rows % words_ == 0) {
                states.values = r->rows / words_;
                states.size = r->cols;
            }
        }
        if (states.size > 0 && states.keys % states.size == 0 &&
            states.keys / states.size > states.values) {
            states.keys = (states.keys / states.size - states.values) / 2;
            t.states = states;
        }
    }

    bool read_attention(Transformer& t) {
        const std::vector<Seen> seen = read_seen(t);
        if (rows_ == 0 || rows_ % words_ != 0) {
            return false;
        }
        t.heads = rows_ / words_;
        read_states(t);
        Count all = t.states.layers;
        for (const Seen& one : seen) {
            all += one.layers;
        }
        const bool whole = last_product(all, t.hidden) != nullptr;
        t.layers = whole ? all : seen.front().layers;
        t.states = whole ? t.states : StateLayers{};
        t.kv_heads = read_latent(t) ? t.heads : key_heads(t);
        if (whole && !read_window(t, seen)) {
            return false;
        }
        // Beside the product of keys and values; queries, keys, and values in one may be as wide.
        t.gated_attention = t.kv_heads < t.heads &&
                            before_attention(t, 2 * t.kv_heads * t.head_size) > 0 &&
                            before_attention(t, 2 * t.heads * t.head_size) > 0 &&
                            before_attention(t, t.heads * t.head_size) == 0;
        return true;
    }

    // Products before attention that read the embedding's width and write so much, in each layer
    // that attends.
    Count before_attention(const Transformer& t, Count width) const {
        Count found = 0;
        for (std::size_t i = 0; i < first_attention_; ++i) {
            const Layer& layer = network_.layers[i];
            const auto* g = std::get_if<model::GemmShape>(&layer.shape);
            found += layer.op == Op::gemm && g != nullptr && g->k == t.hidden &&
                             layer.count == t.attention_layers() && g->n == width
                         ? 1
                         : 0;
        }
        return found;
    }

    // Queries made from a latent, keys and values from another one and a rotary key (MLA), whether
    // keys and values are made (prompts) or queries meet the latent (absorbed). With D the widths
    // that the embedding's width is brought down to:
    //   query_rank in D: the product of queries reads it and writes heads x head_size
    //   rank + rotary in D: keys and values, or absorbed queries, are made from or for the rank
    bool read_latent(Transformer& t) const {
        std::vector<Count> down;
        std::vector<model::GemmShape> up;
        std::optional<model::GemmShape> absorbed, output;
        bool before = true; // attention
        for (const Layer& layer : network_.layers) {
            before = before && layer.op != Op::softmax && layer.op != Op::attention;
            const auto* g = std::get_if<model::GemmShape>(&layer.shape);
            if (g == nullptr || layer.count != t.layers) {
                continue;
            }
            if (layer.op == Op::bmm) {
                const bool weights =
                    layer.parameters && *layer.parameters == g->batch * g->n * g->k;
                absorbed = before && weights && g->batch == t.heads ? std::optional(*g) : absorbed;
            } else if (!before) {
                output = !output && g->n == t.hidden ? std::optional(*g) : output;
            } else if (g->k == t.hidden) {
                down.push_back(g->n);
            } else {
                up.push_back(*g);
            }
        }
        if (!output || output->k % t.heads != 0 || down.size() < 2 || up.empty()) {
            return false;
        }
        Latent l;
        l.value = output->k / t.heads;
        Count head = 0, plain = 0;
        for (const model::GemmShape& g : up) {
            if (g.n % t.heads != 0) {
                return false;
            }
            if (std::ranges::find(down, g.k) != down.end()) {
                l.query_rank = g.k;
                head = g.n / t.heads;
            } else {
                l.rank = g.k;
                plain = g.n / t.heads - l.value;
            }
        }
        if (absorbed && l.rank == 0) {
            l.rank = absorbed->n;
            plain = absorbed->k;
        }
        l.rotary = head - plain;
        if (l.query_rank <= 0 || l.rank <= 0 || plain <= 0 || l.rotary < 0 ||
            std::ranges::find(down, l.rank + l.rotary) == down.end()) {
            return false;
        }
        t.head_size = head;
        t.latent = l;
        return true;
    }

    // Queries that share keys are one product: heads / kv x as many rows as words a sequence. Read
    // off the product that makes keys and values; where that is as wide as the queries', off
    // theirs.
    Count key_heads(const Transformer& t) const {
        for (std::size_t i = 0; i < first_attention_;
             ++i) { // those behind may have the same widths
            const Layer& layer = network_.layers[i];
            const auto* g = std::get_if<model::GemmShape>(&layer.shape);
            if (layer.op != Op::gemm || g == nullptr || g->k != t.hidden ||
                layer.count != t.attention_layers() || g->n % (2 * t.head_size) != 0 ||
                g->n == t.heads * t.head_size) {
                continue;
            }
            const Count pairs = g->n / (2 * t.head_size);
            if (g->n == (t.heads + 2 * t.heads) * t.head_size) {
                return t.heads; // queries, keys and values in one
            }
            if (pairs <= t.heads && t.heads % pairs == 0 && groups_ % pairs == 0) {
                return pairs;
            }
        }
        if (before_attention(t, t.heads * t.head_size) == 2 && t.heads % 2 == 0 &&
            groups_ % (t.heads / 2) == 0) {
            return t.heads / 2; // queries, and keys and values in one product as wide as they
        }
        return sharing_ > 1 && t.heads % sharing_ == 0 ? t.heads / sharing_ : t.heads;
    }

    // The last product of a block, of so many, that writes the width.
    const Layer* last_product(Count layers, Count width) const {
        const Layer* last = nullptr;
        for (const Layer& layer : network_.layers) {
            const auto* g = std::get_if<model::GemmShape>(&layer.shape);
            last = g != nullptr && layer.count == layers && g->n == width ? &layer : last;
        }
        return last;
    }

    // The last product of experts' weights that writes the width.
    const Layer* experts_down(const Transformer& t) const {
        const Layer* last = nullptr;
        for (const Layer& layer : network_.layers) {
            const auto* g = std::get_if<model::GemmShape>(&layer.shape);
            const bool writes_width = layer.op == Op::bmm && g != nullptr && g->n == t.hidden;
            const bool learned = layer.parameters && *layer.parameters > 0;
            last = writes_width && learned && layer.count <= t.layers &&
                           (*layer.parameters % (g->n * g->k) == 0 ||
                            *layer.parameters % (g->n * (g->k + 1)) == 0) // with biases
                       ? &layer
                       : last;
        }
        return last;
    }

    bool read_feed_forward(Transformer& t) {
        const Layer* sparse = experts_down(t);
        const Layer* down = sparse != nullptr ? sparse : last_product(t.layers, t.hidden);
        if (down == nullptr) {
            return false;
        }
        t.inner = std::get<model::GemmShape>(down->shape).k;
        if (sparse != nullptr) {
            read_experts(t, *sparse);
        }
        t.gated = false;
        t.biases = false;
        for (const Layer& layer : network_.layers) {
            const auto* g = std::get_if<model::GemmShape>(&layer.shape);
            if (g == nullptr || g->k != t.hidden) {
                continue;
            }
            t.gated = t.gated || (layer.count == down->count && g->n == 2 * t.inner);
            t.biases = t.biases || (layer.op == Op::gemm && layer.count == t.attention_layers() &&
                                    layer.parameters && *layer.parameters > g->n * g->k);
            if (g->n == t.vocabulary && layer.count == 1) {
                t.tied = layer.parameters && *layer.parameters == 0;
            }
        }
        return true;
    }

    // The first product behind attention that writes the width.
    const Layer* attention_output(const Transformer& t) const {
        for (std::size_t i = first_attention_; i < network_.layers.size(); ++i) {
            const Layer& layer = network_.layers[i];
            const auto* g = std::get_if<model::GemmShape>(&layer.shape);
            if (layer.op == Op::gemm && g != nullptr && g->n == t.hidden) {
                return &layer;
            }
        }
        return nullptr;
    }

    // Experts, those beside them that all words pass, and layers that have none.
    void read_experts(Transformer& t, const Layer& down) {
        t.experts = std::max<Count>(*down.parameters / (t.hidden * t.inner), 1);
        t.active = 0;
        const Count without = t.layers - down.count;
        const Layer* output = attention_output(t);
        bool behind = false; // the experts
        for (std::size_t i = first_attention_; i < network_.layers.size(); ++i) {
            const Layer& layer = network_.layers[i];
            behind = behind || &layer == &down;
            const auto* e = std::get_if<model::ElementwiseShape>(&layer.shape);
            const bool activates = e != nullptr && layer.count == down.count &&
                                   (e->fn.ends_with("lu") && e->fn != "mulu");
            if (activates && e->cols == t.inner && e->rows % words_ == 0) {
                t.active = std::max(t.active, e->rows / words_);
            }
            const auto* g = std::get_if<model::GemmShape>(&layer.shape);
            if (layer.op != Op::gemm || g == nullptr || g->n != t.hidden || &layer == output) {
                continue;
            }
            // As many layers with experts as without: those without come first.
            const bool shared = layer.count == down.count && (behind || without != down.count);
            if (shared && g->k % t.inner == 0) {
                t.shared = g->k / t.inner;
            } else if (without > 0 && layer.count == without) {
                t.dense_layers = without;
                t.dense_inner = g->k;
            }
        }
        t.active = std::max<Count>(t.active, 1);
    }

    const model::Network& network_;
    Count words_ = 0, groups_ = 0, rows_ = 0;
    std::size_t first_attention_ = 0; // its scores, or its one kernel
    Count wide_embeddings_ = 0;       // of words, positions, segments
    Count sharing_ = 1;               // heads that share a key, as far as their product tells
};

} // namespace

Result<Transformer> transformer_of(const model::Network& network) {
    return Shapes(network).read();
}

Count length_of(const model::Network& decoder) {
    return Shapes(decoder).length();
}

} // namespace eyeroof::analysis
