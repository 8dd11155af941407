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

    // scores: batch x kv products [m, size] x [size, n]; each row of the softmax is a word's head.
    bool read_attention(Transformer& t) {
        const Layer* previous = nullptr;
        Count softmax_rows = 0;
        Count all = 0; // also those layers that see a window only: attention of other lengths
        for (const Layer& layer : network_.layers) {
            if (const auto* a = std::get_if<model::AttentionShape>(&layer.shape)) {
                all += layer.count;
                t.layers = layer.count;
                t.head_size = a->k;
                softmax_rows = a->batch * a->groups * a->m;
                groups_ = a->batch * a->key_heads();
                sharing_ = a->groups / a->key_heads();
                new_ = a->m;
            } else if (layer.op == Op::bmm && previous == nullptr) {
                previous = &layer;
            } else if (layer.op == Op::softmax && previous != nullptr) {
                all += layer.count;
                if (softmax_rows != 0) {
                    continue;
                }
                const auto& g = std::get<model::GemmShape>(previous->shape);
                t.layers = previous->count;
                t.head_size = g.k;
                groups_ = g.batch;
                sharing_ = g.m % g.n == 0 ? g.m / g.n : 1; // exact where the cache is empty
                new_ = g.m;
                softmax_rows = std::get<model::RowsShape>(layer.shape).rows;
            }
        }
        if (softmax_rows == 0 || softmax_rows % words_ != 0) {
            return false;
        }
        t.heads = softmax_rows / words_;
        t.layers = last_product(t.layers, t.hidden) != nullptr ? t.layers : all;
        t.kv_heads = read_latent(t) ? t.heads : key_heads(t);
        return true;
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
        for (const Layer& layer : network_.layers) {
            if (layer.op == Op::bmm || layer.op == Op::attention) {
                break; // products behind attention may have the same widths
            }
            const auto* g = std::get_if<model::GemmShape>(&layer.shape);
            if (layer.op != Op::gemm || g == nullptr || g->k != t.hidden ||
                layer.count != t.layers || g->n % (2 * t.head_size) != 0 ||
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
        if (queries_wide(t) == 2 && t.heads % 2 == 0 && groups_ % (t.heads / 2) == 0) {
            return t.heads / 2; // queries, and keys and values in one product as wide as they
        }
        return sharing_ > 1 && t.heads % sharing_ == 0 ? t.heads / sharing_ : t.heads;
    }

    // Products before attention that read the embedding's width and are as wide as the queries.
    Count queries_wide(const Transformer& t) const {
        Count found = 0;
        for (const Layer& layer : network_.layers) {
            if (layer.op == Op::bmm || layer.op == Op::attention) {
                break;
            }
            const auto* g = std::get_if<model::GemmShape>(&layer.shape);
            found += layer.op == Op::gemm && g != nullptr && g->k == t.hidden &&
                             layer.count == t.layers && g->n == t.heads * t.head_size
                         ? 1
                         : 0;
        }
        return found;
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
            last = writes_width && layer.parameters && *layer.parameters > 0 &&
                           *layer.parameters % (g->n * g->k) == 0 && layer.count <= t.layers
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
            t.biases = t.biases || (layer.op == Op::gemm && layer.count == t.layers &&
                                    layer.parameters && *layer.parameters > g->n * g->k);
            if (g->n == t.vocabulary && layer.count == 1) {
                t.tied = layer.parameters && *layer.parameters == 0;
            }
        }
        return true;
    }

    // Experts, those beside them that all words pass, and layers that have none.
    void read_experts(Transformer& t, const Layer& down) {
        t.experts = std::max<Count>(*down.parameters / (t.hidden * t.inner), 1);
        t.active = 0;
        const Count without = t.layers - down.count;
        for (const Layer& layer : network_.layers) {
            const auto* e = std::get_if<model::ElementwiseShape>(&layer.shape);
            const bool activates = e != nullptr && layer.count == down.count &&
                                   (e->fn.ends_with("lu") && e->fn != "mulu");
            if (activates && e->cols == t.inner && e->rows % words_ == 0) {
                t.active = std::max(t.active, e->rows / words_);
            }
            const auto* g = std::get_if<model::GemmShape>(&layer.shape);
            if (layer.op != Op::gemm || g == nullptr || g->n != t.hidden) {
                continue;
            }
            if (layer.count == down.count && without > 0 && g->k % t.inner == 0) {
                t.shared = g->k / t.inner;
            } else if (without > 0 && layer.count == without) {
                t.dense_layers = without;
                t.dense_inner = g->k;
            }
        }
        t.active = std::max<Count>(t.active, 1);
    }

    const model::Network& network_;
    Count words_ = 0, groups_ = 0, new_ = 0;
    Count wide_embeddings_ = 0; // of words, positions, segments
    Count sharing_ = 1;         // heads that share a key, as far as their product tells
};

} // namespace

Result<Transformer> transformer_of(const model::Network& network) {
    return Shapes(network).read();
}

} // namespace eyeroof::analysis
