#include "analysis/exam/words.hpp"

#include "analysis/program/fusion.hpp"
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

// The least and the most keys that a query meets; 0 without attention. Products before a softmax of
// their size are attention, the softmax of a router of experts is none.
std::pair<Count, Count> keys_of(const model::Network& network) {
    std::pair<Count, Count> keys{0, 0};
    const auto add = [&keys](Count n) {
        keys = {keys.first == 0 ? n : std::min(keys.first, n), std::max(keys.second, n)};
    };
    const model::GemmShape* scores = nullptr; // the last product of activations
    for (const model::Layer& layer : network.layers) {
        if (const auto* fused = std::get_if<model::AttentionShape>(&layer.shape)) {
            add(fused->n);
        }
        if (layer.op == model::Op::bmm) {
            scores = std::get_if<model::GemmShape>(&layer.shape);
        }
        const auto* rows = std::get_if<model::RowsShape>(&layer.shape);
        if (layer.op == model::Op::softmax && rows != nullptr && scores != nullptr &&
            scores->batch * scores->m == rows->rows &&
            (scores->n == rows->cols || scores->n + 1 == rows->cols)) { // with a sink
            add(scores->n);
        }
    }
    return keys;
}

// What a sample is made of, for networks that begin with a look-up: the tokens that are computed
// and those before them in the cache, or the rows of the first product, as in recommenders.
struct SampleWords {
    std::string phase;   // of a decoder: " (prefill)" or " (decoding)"
    std::string size;    // " of 2048 tokens", " of 1 token after 2047"
    Count sequences = 1; // that the layers' sizes are for
};

SampleWords sample_words(const model::Network& network) {
    const auto& layers = network.layers;
    const auto first = std::ranges::find(layers, model::Op::embedding, &model::Layer::op);
    const auto* looked =
        first == layers.end() ? nullptr : std::get_if<model::RowsShape>(&first->shape);
    if (looked == nullptr || network.as_it_ran) {
        return {};
    }
    const auto counted = [](Count n, std::string_view what) {
        return fmt::format(" of {} {}{}", n, what, n == 1 ? "" : "s");
    };
    const Count tokens = looked->rows / own_batch(network);
    const auto [least, most] = keys_of(network);
    const bool head_of_last = std::ranges::any_of(
        layers, [](const model::Layer& layer) { return layer.in_training > 1; });
    const auto has = [&layers](model::Op op) {
        return std::ranges::find(layers, op, &model::Layer::op) != layers.end();
    };
    const bool text = most > 0 || head_of_last || has(model::Op::layernorm) ||
                      (has(model::Op::bmm) && has(model::Op::softmax));
    if (!text) {
        const auto product = std::ranges::find(layers, model::Op::gemm, &model::Layer::op);
        const auto* rows =
            product == layers.end() ? nullptr : std::get_if<model::GemmShape>(&product->shape);
        return {"", rows == nullptr ? counted(tokens, "look-up")
                                    : counted(rows->m / own_batch(network), "sample")};
    }
    const bool decodes = least > tokens;
    // A decoder's last product is of one token a sequence.
    const auto head = std::find_if(layers.rbegin(), layers.rend(), [](const model::Layer& layer) {
        return layer.op == model::Op::gemm;
    });
    const Count last =
        head == layers.rend() ? 1 : std::get<model::GemmShape>(head->shape).m / own_batch(network);
    const bool known = (decodes || head_of_last) && last > 0 && tokens % last == 0;
    const Count sequences = known ? last : 1;
    const Count own = tokens / sequences;
    return {decodes        ? " (decoding)"
            : head_of_last ? " (prefill)"
                           : "",
            counted(own, "token") + (decodes ? fmt::format(" after {}", most - own) : ""),
            sequences};
}

std::string what_words(const Question& question, bool lengths) {
    const Scenario& s = question.scenario;
    const SampleWords sample = lengths ? sample_words(question.network) : SampleWords{};
    const std::string step =
        question.network.as_it_ran
            ? "one step as traced"
            : fmt::format("{}, batch {}{}",
                          s.training ? fmt::format("training step with {}", s.training->optimizer)
                                     : "inference" + sample.phase,
                          sample.sequences * s.batch.value_or(own_batch(question.network)),
                          sample.size);
    const auto& layers = question.network.layers;
    const bool fused =
        attention_of(question) == AttentionForm::fused &&
        (std::ranges::find(layers, model::Op::attention, &model::Layer::op) != layers.end() ||
         step::with_attention(question.network, question.edges).replaced > 0);
    std::string words = fmt::format("{}, {}{}, {}", question.network.name, step,
                                    fused ? ", fused attention" : "", type_words(question));
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
    if (settles(s, question.machine) && !host) {
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
    std::string uncosted = model::uncosted_text(question.network);
    uncosted.resize(std::min(uncosted.size(), uncosted.find(':'))); // the warning names them
    return what_words(question, lengths) + where_words(question) + "; " +
           (gpu ? gpu_words(question) : mapping_words(question)) +
           (uncosted.empty() ? "" : "; " + uncosted);
}

} // namespace eyeroof::analysis
