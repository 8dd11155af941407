#include "analysis/fuse/members.hpp"

#include "model/accelerator/residency.hpp"

#include <algorithm>

namespace eyeroof::analysis {

using model::Layer;
using model::fuse::Window;

namespace {

bool adds(const Layer& layer) {
    return layer.op == model::Op::elementwise &&
           std::get<model::ElementwiseShape>(layer.shape).fn == "add";
}

std::optional<decltype(ChainMember::what)> member_of(const Layer& layer) {
    if (layer.direction != model::Direction::fwd) {
        return std::nullopt;
    }
    if (const auto window = model::fuse::window_of(layer)) {
        return *window;
    }
    if (const auto* gemm = std::get_if<model::GemmShape>(&layer.shape)) {
        return layer.op == model::Op::gemm
                   ? ProductMember{{gemm->batch * gemm->m, gemm->n, gemm->k}, 1}
                   : ProductMember{{gemm->m, gemm->n, gemm->k}, gemm->batch};
    }
    if (const auto* a = std::get_if<model::AttentionShape>(&layer.shape)) {
        // Heads that share keys and values stand one below the other.
        const Count shared = a->groups / a->key_heads();
        return PairMember{{a->m * shared, a->k, a->n, a->value_size()}, a->batch * a->key_heads()};
    }
    return std::nullopt;
}

// Products in list order are a chain where no attention makes siblings of equal shape (queries,
// keys, and values) likely. A softmax that no product follows is a classifier's.
bool has_attention(const model::Network& network) {
    bool softmax = false;
    return std::any_of(network.layers.begin(), network.layers.end(), [&](const Layer& layer) {
        softmax = softmax || layer.op == model::Op::softmax;
        return layer.op == model::Op::bmm || layer.op == model::Op::attention ||
               (softmax && model::multiplies(layer.op));
    });
}

// `ordered`: a product reads the one before it, whether or not something stands between them.
bool joins(const ChainMember& a, const ChainMember& b, bool ordered) {
    if (const auto* x = std::get_if<Window>(&a.what)) {
        const auto* y = std::get_if<Window>(&b.what);
        return y != nullptr && a.count == 1 && b.count == 1 && x->out == y->in && x->k == y->c &&
               x->images == y->images;
    }
    const auto* x = std::get_if<ProductMember>(&a.what);
    const auto* y = std::get_if<ProductMember>(&b.what);
    return ordered && x != nullptr && y != nullptr && a.count == b.count &&
           x->copies == y->copies && x->product.m == y->product.m && x->product.n == y->product.k;
}

std::optional<model::Problem> nest_of(const Layer& layer) {
    if (layer.op != model::Op::conv2d) {
        return std::nullopt;
    }
    const auto nests = model::problems_of(layer);
    return nests && nests->size() == 1 ? std::optional(nests->front()) : std::nullopt;
}

double word_bytes_of(const Layer& layer, std::optional<int> word_bits) {
    return word_bits ? *word_bits / 8.0
                     : std::max({model::bytes_per_element(layer.types.input),
                                 model::bytes_per_element(layer.types.weight),
                                 model::bytes_per_element(layer.types.output)});
}

// What crosses the outermost memory whatever the mapping where nothing stays between layers, as an
// exam counts it where no zeros are coded.
double each_tensor_once(const Layer& layer, const model::Work& work, const Chip& chip) {
    const auto nests = model::problems_of(layer);
    double bytes = 0.0;
    if (chip.alone && nests && model::multiplies(layer.op)) {
        for (const model::Problem& nest : *nests) {
            bytes += model::compulsory_bytes(nest, *chip.alone);
        }
        return bytes;
    }
    if (!chip.word_bits) {
        return static_cast<double>(work.bytes());
    }
    for (const model::TensorUse& tensor : work.tensors) {
        bytes += static_cast<double>(tensor.elements) * *chip.word_bits / 8.0;
    }
    return bytes;
}

} // namespace

Result<Chains> chains_of(const model::Network& network, const Chip& chip,
                         const std::optional<OnlyReaders>& readers) {
    Chains chains;
    Diagnostics found;
    bool barred = true;  // what stands between the last member and the next keeps them apart
    bool masked = false; // something was added, and no softmax came yet
    bool something_between = false; // and is applied on the way
    bool normed = false;            // a layer norm, which needs whole rows
    const bool ordered = readers.has_value() || !has_attention(network);
    for (const Layer& layer : network.layers) {
        const auto work = model::work_of(layer);
        if (!work) {
            Diagnostics own = work.diagnostics();
            own.place({}, layer.name);
            found.append(own);
            continue;
        }
        auto what = member_of(layer);
        if (!what) {
            // What is added before a softmax is a mask, not another layer's result.
            masked = layer.op == model::Op::softmax ? false : masked || adds(layer);
            normed = normed || layer.op == model::Op::layernorm;
            barred =
                barred || !(applied_on_the_way(layer) || applied_to_rows(layer) || adds(layer));
            something_between = true;
            chains.between.push_back(layer.name);
            continue;
        }
        ChainMember member{layer.name,
                           *std::move(what),
                           layer.count,
                           work->macs,
                           word_bytes_of(layer, chip.word_bits),
                           each_tensor_once(layer, *work, chip),
                           nest_of(layer),
                           false};
        if (!chains.members.empty()) {
            ChainMember& before = chains.members.back();
            const bool product = std::holds_alternative<ProductMember>(before.what);
            before.whole_rows = normed;
            before.joins_next = !barred && !masked && (product || !normed) &&
                                joins(before, member, something_between || ordered) &&
                                (!readers || reads_alone(*readers, before.name, member.name));
        }
        chains.members.push_back(std::move(member));
        barred = masked = something_between = normed = false;
    }
    return found.has_errors() ? Result<Chains>(std::move(found))
                              : Result<Chains>(std::move(chains));
}

} // namespace eyeroof::analysis
