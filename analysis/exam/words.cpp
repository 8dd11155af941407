#include "analysis/exam/words.hpp"

#include "analysis/program/lower.hpp"
#include "analysis/program/settled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace eyeroof::analysis {

namespace {

// Types of the arithmetic, or the one that was asked for.
std::string type_words(const Question& question) {
    if (question.scenario.data_type) {
        return std::string(model::data_type_name(*question.scenario.data_type));
    }
    std::set<std::string_view> types;
    for (const model::Layer& layer : question.network.layers) {
        if (model::multiplies(layer.op) || types.empty()) {
            types.insert(model::data_type_name(layer.types.input));
        }
    }
    std::string words;
    for (const std::string_view type : types) {
        words += (words.empty() ? "" : " and ") + std::string(type);
    }
    return words;
}

// Rows that the network looks up first, for one sample: " of 2048 tokens" where a softmax follows,
// as in every decoder and encoder of text, else " of 26 look-ups". Empty without a look-up.
std::string length_words(const model::Network& network) {
    const auto& layers = network.layers;
    const auto first = std::ranges::find(layers, model::Op::embedding, &model::Layer::op);
    const auto* looked =
        first == layers.end() ? nullptr : std::get_if<model::RowsShape>(&first->shape);
    if (looked == nullptr || network.as_it_ran) {
        return {};
    }
    const bool attends = std::ranges::any_of(layers, [](const model::Layer& layer) {
        return layer.op == model::Op::softmax || layer.op == model::Op::attention;
    });
    const Count rows = looked->rows / own_batch(network);
    return fmt::format(" of {} {}{}", rows, attends ? "token" : "look-up", rows == 1 ? "" : "s");
}

std::string what_words(const Question& question, bool lengths) {
    const Scenario& s = question.scenario;
    const std::string step =
        question.network.as_it_ran
            ? "one step as traced"
            : fmt::format("{}, batch {}{}",
                          s.training ? fmt::format("training step with {}", s.training->optimizer)
                                     : "inference",
                          s.batch.value_or(own_batch(question.network)),
                          lengths ? length_words(question.network) : std::string());
    std::string words =
        fmt::format("{}, {}, {}", question.network.name, step, type_words(question));
    if (s.training && s.states != Regime::usual) {
        words += fmt::format(", {} states", regime_name(s.states));
    }
    switch (operators_of(question)) {
    case Operators::all:
        break;
    case Operators::fused:
        words += ", batch norms folded and activations fused";
        break;
    case Operators::products:
        words += ", convolutions and GEMMs alone";
        break;
    }
    if (attention_of(question) == AttentionForm::fused) {
        words += ", fused attention";
    }
    if (!s.density.empty()) {
        words += ", density " + s.density;
    }
    return words + (s.layers ? fmt::format(", layers '{}'", *s.layers) : "");
}

std::string where_words(const Question& question) {
    std::string words = " on " + question.machine.name;
    for (const std::string& change : question.scenario.changes) {
        words += (&change == &question.scenario.changes.front() ? " with " : ", ") + change;
    }
    return words;
}

std::string launch_words(const Question& question) {
    std::string from = question.host_id.empty() ? "" : " from " + question.host_id;
    if (question.scenario.host_speed != 1.0) {
        from += fmt::format(" at {:.3g}x its speed", question.scenario.host_speed);
    }
    switch (question.scenario.launch) {
    case model::Launch::eager:
        return (question.scenario.compiled ? "launches by generated code" : "eager launches") +
               from;
    case model::Launch::stream:
        return "back-to-back launches" + from;
    case model::Launch::graph:
        return "captured graph" + from;
    case model::Launch::none:
        return "kernels alone, no host";
    }
    return "";
}

std::string gpu_words(const Question& question) {
    const Scenario& s = question.scenario;
    const bool host = std::get<model::Gpu>(question.machine.kind).arch == model::GpuArch::host;
    std::string words = host ? "one operator after the other" : launch_words(question);
    const bool convolves =
        std::any_of(question.network.layers.begin(), question.network.layers.end(),
                    [](const model::Layer& l) { return l.op == model::Op::conv2d; });
    if (convolves && !host && !question.network.as_it_ran) {
        words += fmt::format(", {}", model::layout_name(layout_of(question)));
    }
    if (s.compiled && !host) {
        words += ", compiled";
    }
    words += host ? "" : s.library.empty() ? ", current libraries" : ", " + s.library;
    words += s.streams > 1 ? fmt::format(", {} streams", s.streams) : "";
    if (settles(s) && !host) {
        words += ", settled clocks";
    }
    if (s.copies != Copies::none) {
        const bool staged = s.copies == Copies::staged || s.copies == Copies::staged_all;
        const bool all = s.copies == Copies::all || s.copies == Copies::staged_all;
        words +=
            staged ? fmt::format(", {} staged on the device", all ? "inputs and weights" : "inputs")
                   : fmt::format(", {}copies of {}", s.pageable ? "pageable " : "",
                                 all ? "all tensors" : "the batch");
    }
    return words;
}

std::string mapping_words(const Question& question) {
    const Scenario& s = question.scenario;
    const auto& accelerator = std::get<model::Accelerator>(question.machine.kind);
    const std::string dataflow =
        s.free_dataflow ? "no dataflow"
        : s.dataflow    ? std::string(model::dataflow_name(*s.dataflow))
        : accelerator.dataflows.empty()
            ? "no dataflow"
            : std::string(model::dataflow_name(accelerator.dataflows.front().kind));
    std::string words =
        fmt::format("{}, mapping {}", dataflow,
                    s.policy == MappingPolicy::given ? s.mapping_file : policy_name(s.policy));
    words += s.objective ? ", least " + s.objective->name() : "";
    words += s.factors == mapper::Factors::any ? ", any factors" : "";
    return words + (s.counting == model::Counting::timeloop ? ", Timeloop's counting" : "");
}

} // namespace

std::string scenario_words(const Question& question, bool lengths) {
    const bool gpu = std::holds_alternative<model::Gpu>(question.machine.kind);
    const std::string uncosted = model::uncosted_text(question.network);
    return what_words(question, lengths) + where_words(question) + "; " +
           (gpu ? gpu_words(question) : mapping_words(question)) +
           (uncosted.empty() ? "" : "; " + uncosted);
}

} // namespace eyeroof::analysis
