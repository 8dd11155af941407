#include "analysis/program/gradients.hpp"

namespace eyeroof::analysis {

using model::Direction;
using model::Layer;
using model::Op;

namespace {

bool has_weights(const Layer& layer) {
    return layer.op == Op::gemm || layer.op == Op::conv2d;
}

Layer gradient(const Layer& layer, Direction direction) {
    Layer copy = layer;
    // What is a data gradient forward (a transposed convolution) has a plain product as its own.
    const bool transposed = layer.direction == Direction::bwd_data;
    copy.direction = transposed && direction == Direction::bwd_data ? Direction::fwd : direction;
    copy.name += direction == Direction::bwd_data ? ".bwd_data" : ".bwd_weight";
    return copy;
}

bool has_gradient(const Layer& layer, Direction direction) {
    return model::work_of(gradient(layer, direction)).ok();
}

Layer update_of(const Layer& layer, Count elements, const TrainingOptions& options, Regime states) {
    Layer update;
    update.name = layer.name + ".update";
    update.op = Op::elementwise;
    update.shape = model::ElementwiseShape{1, elements, options.optimizer};
    update.types = layer.types;
    if (keeps_fp32_weights(layer.types.weight) && states != Regime::pure) {
        update.types = {model::DataType::fp32, model::DataType::fp32, model::DataType::fp32};
    }
    update.count = layer.count;
    return update;
}

// What an update of this layer's weights writes. Of an embedding whose table is unknown only the
// lines that were looked up.
Count updated_by(const Layer& layer) {
    if (const auto* rows = std::get_if<model::RowsShape>(&layer.shape);
        layer.op == Op::embedding && rows->table == 0) {
        return checked_mul(rows->rows, rows->cols).value_or(0);
    }
    return model::parameters_of(layer);
}

// A table's gradient is zeros but for the lines that were looked up.
Layer cleared_gradient(const Layer& layer, const TrainingOptions& options) {
    Layer fill = update_of(layer, 1, options, Regime::usual);
    const auto& rows = std::get<model::RowsShape>(layer.shape);
    fill.shape = model::ElementwiseShape{rows.table, rows.cols, "fill"};
    fill.types = layer.types;
    fill.name = layer.name + ".clear";
    return fill;
}

// An update touches at most kMaxDimension elements a row.
void split_rows(Layer& update) {
    auto& shape = std::get<model::ElementwiseShape>(update.shape);
    if (shape.cols > model::kMaxDimension) {
        shape.rows = shape.cols / model::kMaxDimension + 1;
        shape.cols = shape.cols / shape.rows;
    }
}

} // namespace

bool keeps_fp32_weights(model::DataType type) {
    return model::storage_bits(type) < model::storage_bits(model::DataType::fp32);
}

std::vector<Layer> gradients_of(const Layer& layer, const TrainingOptions& options, bool data) {
    std::vector<Layer> gradients;
    if (layer.op == Op::embedding && std::get<model::RowsShape>(layer.shape).table > 0) {
        gradients.push_back(cleared_gradient(layer, options));
    }
    if (has_weights(layer) || layer.op == Op::embedding) {
        gradients.push_back(gradient(layer, Direction::bwd_weight));
    }
    if (data && has_gradient(layer, Direction::bwd_data)) {
        gradients.push_back(gradient(layer, Direction::bwd_data));
    }
    if (layer.op == Op::bmm && has_gradient(layer, Direction::bwd_weight)) {
        gradients.push_back(gradient(layer, Direction::bwd_weight));
    }
    return gradients;
}

std::optional<Update> update_of(const Layer& layer, const TrainingOptions& options, Regime states) {
    const Count weights = updated_by(layer);
    if (weights <= 0) {
        return std::nullopt;
    }
    Update update{update_of(layer, weights, options, states),
                  has_weights(layer) || layer.op == Op::embedding || layer.op == Op::bmm};
    split_rows(update.layer);
    return update;
}

} // namespace eyeroof::analysis
