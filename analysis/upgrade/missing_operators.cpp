#include "analysis/upgrade/missing_operators.hpp"

namespace eyeroof::analysis {

using model::Layer;
using model::Op;

namespace {

bool is_product(const Layer& layer) {
    return layer.op == Op::conv2d || layer.op == Op::gemm || layer.op == Op::bmm ||
           layer.op == Op::attention || layer.op == Op::moe;
}

} // namespace

std::string missing_operators(const step::Graph& program) {
    constexpr int kSeveral = 3; // products of a network, not of an operator under study
    Count products = 0;
    Count others = 0;
    Count updates = 0;
    for (const step::Operator& op : program.operators) {
        if (op.kind == model::Issued::update) {
            ++updates;
        } else {
            ++(is_product(program.layers[op.layer]) ? products : others);
        }
    }
    if (products < kSeveral) {
        return "";
    }
    if (others == 0) {
        return "the network has products alone: no normalisation, activation or sum, which gain as "
               "the memories do and not as the arithmetic: give all operators for a verdict";
    }
    return !program.optimizer.empty() && updates == 0
               ? "the step has no operator that updates the weights: give the optimizer"
               : "";
}

} // namespace eyeroof::analysis
