#include "model/workload/operands.hpp"

#include <initializer_list>

namespace eyeroof::model {

namespace {

// 0 where the product does not fit: problems_of() reports that.
Count product(std::initializer_list<Count> factors) {
    return checked_product(factors).value_or(0);
}

struct OperandsOf {
    const Layer& layer;

    Operands operator()(const ConvShape& s) const {
        const Count in = product({s.n, s.c, s.h, s.w});
        const Count out = product({s.n, s.k, s.p(), s.q()});
        return layer.direction == Direction::bwd_data ? Operands{{out}, in} : Operands{{in}, out};
    }
    Operands operator()(const GemmShape& s) const {
        const Count in = product({s.batch, s.m, s.k});
        const Count out = product({s.batch, s.m, s.n});
        if (layer.op == Op::gemm) {
            return {{in}, out};
        }
        const bool learned = parameters_of(layer) > 0; // experts
        return learned ? Operands{{in}, out} : Operands{{in, product({s.batch, s.k, s.n})}, out};
    }
    Operands operator()(const PoolShape& s) const {
        return {{product({s.n, s.c, s.h, s.w})}, product({s.n, s.c, s.p(), s.q()})};
    }
    Operands operator()(const RowsShape& s) const {
        const Count all = product({s.rows, s.cols});
        return layer.op == Op::embedding ? Operands{{}, all} : Operands{{all}, all};
    }
    Operands operator()(const ElementwiseShape& s) const {
        const Count all = product({s.rows, s.cols});
        return {std::vector<Count>(static_cast<std::size_t>(tensors_read(s.fn).value_or(1)), all),
                all};
    }
    Operands operator()(const AttentionShape& s) const {
        const Count query = product({s.batch, s.groups, s.m, s.k});
        const Count keys = product({s.batch, s.key_heads(), s.n});
        return {{query, product({keys, s.k}), product({keys, s.value_size()})},
                product({s.batch, s.groups, s.m, s.value_size()})};
    }
    Operands operator()(const MoeShape& s) const {
        return {{product({s.m, s.n})}, product({s.m, s.n})};
    }
};

} // namespace

Operands operands_of(const Layer& layer) {
    return std::visit(OperandsOf{layer}, layer.shape);
}

} // namespace eyeroof::model
