#include "study/upgrade/missing_operators.hpp"

#include "study/exam/network_step.hpp"

namespace eyeroof::study {

using model::Layer;
using model::Op;

namespace {

bool is_product(const Layer& layer) {
    return layer.op == Op::conv2d || layer.op == Op::gemm || layer.op == Op::bmm ||
           layer.op == Op::attention || layer.op == Op::moe;
}

} // namespace

std::string missing_operators(const model::Network& network, bool training) {
    constexpr int kSeveral = 3; // products of a network, not of an operator under study
    model::Count products = 0;
    model::Count others = 0;
    model::Count updates = 0;
    for (const Layer& layer : network.layers) {
        if (issued_as(layer) == model::Issued::update) {
            updates += layer.count;
        } else {
            (is_product(layer) ? products : others) += layer.count;
        }
    }
    if (products < kSeveral) {
        return "";
    }
    if (others == 0) {
        return "the network has products alone: no normalisation, activation or sum, which gain as "
               "the memories do and not as the arithmetic: give all operators for a verdict";
    }
    return training && updates == 0
               ? "the step has no operator that updates the weights: give the optimizer"
               : "";
}

} // namespace eyeroof::study
