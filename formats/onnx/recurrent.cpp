// LSTM, GRU and RNN: the input's product over the whole sequence, the recurrent
// one step after step, and a kernel a step for gates and cell. Dynamically quantized ones multiply
// whole numbers of 8 bits: inputs and states are quantized before each product.
#include "formats/onnx/operators.hpp"

namespace eyeroof::formats::onnx {

namespace {

// `turned`: weights are [directions, input, gates hidden], not [directions, gates hidden, input].
void recurrent(Step& step, std::int64_t gates, const std::string& cell, bool turned = false) {
    const Value& x = step.in(0);
    const Value& w = step.in(1);
    const bool batch_first = step.integer("layout", 0) == 1;
    const std::size_t wide = turned ? 2 : 1; // axis of gates and hidden states
    if (x.rank() != 3 || w.rank() != 3 || (*w.dims)[wide] % gates != 0) {
        return step.fail("the sizes of its input or weights are not known");
    }
    const std::int64_t steps = (*x.dims)[batch_first ? 1 : 0];
    const std::int64_t batch = (*x.dims)[batch_first ? 0 : 1];
    const std::int64_t directions = (*w.dims)[0];
    const std::int64_t hidden = (*w.dims)[wide] / gates;
    step.give(batch_first ? Dims{batch, steps, directions, hidden}
                          : Dims{steps, directions, batch, hidden});
    for (std::size_t i = 1; i < step.outputs.size(); ++i) {
        step.outputs[i].dims =
            batch_first ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden};
        step.outputs[i].element = x.element;
    }
    if (steps < 1 || batch < 1 || hidden < 1 || directions < 1) {
        return step.fail("one of its sizes is 0");
    }
    constexpr std::size_t peepholes = 7;
    const std::int64_t input =
        step.learned(1, 2) + step.learned(3, 4) + step.learned(peepholes, peepholes + 1);
    const std::int64_t again = step.learned(2, 3);
    step.add(model::Op::gemm, model::GemmShape{1, steps * batch, gates * hidden, (*x.dims)[2]},
             input / directions, ".input", directions);
    step.add(model::Op::gemm, model::GemmShape{1, batch, gates * hidden, hidden},
             again / directions, ".recurrent", directions);
    if (steps > 1) {
        step.add(model::Op::gemm, model::GemmShape{1, batch, gates * hidden, hidden}, 0,
                 ".recurrent_more", directions * (steps - 1));
    }
    step.add(model::Op::elementwise, model::ElementwiseShape{batch, hidden, cell}, 0, ".cell",
             directions * steps);
}

// com.microsoft: weights of 8 bits with their scales behind the operands of LSTM.
void quantized_lstm(Step& step) {
    recurrent(step, 4, "lstm_cell", true);
    const model::DataType weight = data_type_of(step.in(1).element);
    for (model::Layer& layer : step.layers) {
        if (layer.op == model::Op::gemm) {
            layer.types.input = layer.types.weight = weight;
        }
    }
    const auto all = step.in(0).elements();
    if (step.outcome == Outcome::costed && all) {
        const std::int64_t cols = step.in(0).dims->back();
        step.add(model::Op::elementwise, model::ElementwiseShape{*all / cols, cols, "cast"}, 0,
                 ".quantize");
    }
}

} // namespace

void add_recurrent(Handlers& handlers) {
    handlers["LSTM"] = [](Step& s) { recurrent(s, 4, "lstm_cell"); };
    handlers["GRU"] = [](Step& s) { recurrent(s, 3, "gru_cell"); };
    handlers["com.microsoft.DynamicQuantizeLSTM"] = quantized_lstm;
    handlers["RNN"] = [](Step& s) { recurrent(s, 1, "add"); };
}

} // namespace eyeroof::formats::onnx
