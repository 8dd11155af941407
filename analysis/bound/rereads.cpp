#include "analysis/bound/rereads.hpp"

#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

namespace eyeroof::analysis::bound {

using model::Layer;
using model::Op;
using step::TensorId;

namespace {

// Results along a dimension whose window's tap over `pad` lies inside: each has an input of its
// own.
Count inside(Count size, Count results, Count taps, Count stride, Count pad, Count dilation) {
    const Count shift = (pad + dilation - 1) / dilation * dilation - pad;
    const bool held = shift + pad <= dilation * (taps - 1) && shift < size;
    return held ? std::min(results, (size - 1 - shift) / stride + 1) : 0;
}

// Results of a product that have an operand of their own each, which no other of them needs.
double own_operands(const Layer& layer) {
    const auto at = [](Count a, Count b) { return static_cast<double>(std::min(a, b)); };
    if (const auto* g = std::get_if<model::GemmShape>(&layer.shape)) {
        return static_cast<double>(g->batch) * static_cast<double>(g->m) * at(g->k, g->n);
    }
    const auto* c = std::get_if<model::ConvShape>(&layer.shape);
    if (c == nullptr || c->depth != 1 || c->groups != 1) {
        return 0.0;
    }
    return static_cast<double>(c->n) * at(c->c, c->k) *
           static_cast<double>(inside(c->h, c->p(), c->r, c->stride.h, c->pad.h, c->dilation.h)) *
           static_cast<double>(inside(c->w, c->q(), c->s, c->stride.w, c->pad.w, c->dilation.w));
}

// Does every result depend on an element of each operand that no other result needs?
bool of_own_elements(const Layer& layer) {
    constexpr std::array<std::string_view, 7> others = {"permute", "transpose", "copy", "concat",
                                                        "pick",    "dropout",   "where"};
    const auto* e = std::get_if<model::ElementwiseShape>(&layer.shape);
    const auto* r = std::get_if<model::RowsShape>(&layer.shape);
    return e != nullptr ? std::find(others.begin(), others.end(), e->fn) == others.end()
                        : layer.op == Op::batchnorm && r != nullptr && r->images == 0;
}
// Readings of the program's inputs that the chip's size forces however operators are fused, and
// whatever is computed again: see bound.hpp.
class Rereads {
  public:
    Rereads(const step::Graph& graph, double chip_bytes)
        : graph_(graph), chip_bytes_(chip_bytes), flows_(graph.tensors.size()),
          waits_(graph.tensors.size(), step::kNone) {
        for (const step::Operator& op : graph.operators) {
            if (!graph.fused.contains(op.layer)) {
                pass(op);
            }
        }
    }

    double bytes() const {
        double sum = 0.0;
        for (const auto& [input, again] : again_) {
            sum += again;
        }
        return sum;
    }

  private:
    // Bytes of a tensor that depend on as many of one input, each on its own.
    struct Flow {
        TensorId input = step::kNone;
        double bytes = 0.0;
        bool mixed = false; // by a product: its rows share what they are made of
    };

    double bytes_of(TensorId t) const { return static_cast<double>(graph_.tensors[t].bytes); }

    Flow flow_of(TensorId t) const {
        return graph_.tensors[t].producer == step::kNone ? Flow{t, bytes_of(t)} : flows_[t];
    }

    // Not of a part of the tensor, nor of one that is repeated.
    bool covers(const Rows& rows, TensorId t) const {
        return std::abs(rows.count * rows.bytes - bytes_of(t)) < 1e-3 * bytes_of(t);
    }

    void pass(const step::Operator& op) {
        const Layer& layer = graph_.layers[op.layer];
        const auto reads = graph_.reads_of(op);
        const auto writes = graph_.writes_of(op);
        if (reads.empty() || writes.empty() || layer.direction != model::Direction::fwd) {
            return;
        }
        const Rows rows = rows_of(layer);
        Flow flow = flow_of(reads[0]);
        TensorId waited = step::kNone;
        if (layer.op == Op::gemm || layer.op == Op::conv2d) {
            flow.bytes = std::min(flow.bytes, own_operands(layer) *
                                                  model::bytes_per_element(layer.types.input));
            flow.input = flow.mixed ? step::kNone : flow.input;
            flow.mixed = true;
        } else if (layer.op == Op::avgpool && rows.count == 1.0 && covers(rows, reads[0]) &&
                   !flow.mixed) {
            waited = flow.input;
            flow = {};
        } else if (rows.count > 0.0 && covers(rows, reads[0])) {
            add_norm(layer.op, flow, rows);
        } else if (of_own_elements(layer)) {
            waited = combined(reads, flow);
        } else {
            flow = {};
        }
        for (const TensorId t : writes) {
            waits_[t] = waited;
            flows_[t] = {flow.input, std::min(flow.bytes, bytes_of(t)), flow.mixed};
        }
    }

    // A norm reads its rows twice. Where a product made them, only a batch's statistics need all
    // that it read.
    void add_norm(Op op, const Flow& flow, const Rows& rows) {
        if (flow.input == step::kNone) {
            return;
        }
        if (!flow.mixed && covers(rows, flow.input)) {
            add(flow.input, rows.again(chip_bytes_));
        } else if (flow.mixed && op == Op::batchnorm) {
            add(flow.input, Rows{1.0, flow.bytes}.again(chip_bytes_));
        }
    }

    // Whatever of a tensor is combined with a sum over all of it waits for its last element.
    TensorId combined(std::span<const TensorId> reads, Flow& flow) {
        TensorId waited = step::kNone;
        for (const TensorId t : reads) {
            waited = waits_[t] != step::kNone ? waits_[t] : waited;
            const Flow other = flow_of(t);
            flow = other.bytes > flow.bytes ? other : flow;
        }
        const bool whole = waited != step::kNone && waited == flow.input && !flow.mixed &&
                           covers({1.0, flow.bytes}, waited);
        if (whole) {
            add(waited, Rows{1.0, flow.bytes}.again(chip_bytes_));
        }
        return waited;
    }

    void add(TensorId input, double again) {
        if (input != step::kNone) {
            again_[input] = std::max(again_[input], again);
        }
    }

    const step::Graph& graph_;
    double chip_bytes_ = 0.0;
    std::vector<Flow> flows_;
    std::vector<TensorId> waits_; // for the sum over this input
    std::map<TensorId, double> again_;
};

} // namespace

Rows rows_of(const Layer& layer) {
    const double width = model::bytes_per_element(layer.types.input);
    const auto* rows = std::get_if<model::RowsShape>(&layer.shape);
    const bool statistics = layer.op == Op::softmax || layer.op == Op::layernorm ||
                            (layer.op == Op::batchnorm && rows != nullptr && rows->images > 0);
    if (rows != nullptr && statistics && layer.direction == model::Direction::fwd) {
        return {static_cast<double>(rows->rows), width * static_cast<double>(rows->cols)};
    }
    const auto* pool = std::get_if<model::PoolShape>(&layer.shape);
    const bool whole = pool != nullptr && pool->p() == 1 && pool->q() == 1 && pool->pad.h == 0 &&
                       pool->pad.w == 0 && pool->r == pool->h && pool->s == pool->w;
    return whole ? Rows{static_cast<double>(pool->n) * static_cast<double>(pool->c),
                        width * static_cast<double>(pool->h) * static_cast<double>(pool->w)}
                 : Rows{};
}

double reread_bytes(const step::Graph& graph, double chip_bytes) {
    return Rereads(graph, chip_bytes).bytes();
}

} // namespace eyeroof::analysis::bound
