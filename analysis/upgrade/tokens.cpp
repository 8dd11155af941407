#include "analysis/upgrade/tokens.hpp"

#include "analysis/program/lower.hpp"

#include <algorithm>

namespace eyeroof::analysis {

std::optional<double> tokens_of_sample(const model::Network& network) {
    const bool attends =
        std::any_of(network.layers.begin(), network.layers.end(), [](const model::Layer& layer) {
            return layer.op == model::Op::softmax ||
                   std::holds_alternative<model::AttentionShape>(layer.shape);
        });
    const model::RowsShape* words = nullptr;
    for (const model::Layer& layer : network.layers) {
        const auto* rows = std::get_if<model::RowsShape>(&layer.shape);
        if (layer.op == model::Op::embedding && rows != nullptr && rows->table > 0 &&
            (words == nullptr || rows->table > words->table)) {
            words = rows;
        }
    }
    if (!attends || words == nullptr) {
        return std::nullopt;
    }
    return static_cast<double>(words->rows) / static_cast<double>(own_batch(network));
}

} // namespace eyeroof::analysis
