#include "report/scale/layer_search_answer.hpp"

#include "report/answer/write.hpp"

namespace eyeroof::report {

namespace {

// Layers that cannot be divided so are marked by a time above it.
std::optional<double> possible(double seconds) {
    constexpr double kImpossible_s = 1e299;
    return seconds < kImpossible_s ? std::optional(seconds) : std::nullopt;
}

} // namespace

Answer layer_search_answer(const analysis::LayerSearch& search, const std::string& network) {
    using analysis::LayerWay;
    Answer a;
    a.schema = "eyeroof/layer-search/1";
    a.title = "A strategy for each layer of " + network;
    a.sentences = {network + ": " + value_text(search.time_s, Unit::seconds) + " a step"};
    a.figures = {{"network", "", network},
                 {"step_s", "", search.time_s},
                 {"all_data_s", "all data parallel", search.all_data_s, Unit::seconds},
                 {"all_model_s", "all model parallel", possible(search.all_model_s), Unit::seconds,
                  kAll, "null: a layer cannot be divided so"}};
    a.tables = {make_table<LayerWay>(
        "layers", "", search.layers,
        {{"name", "layer", Unit::none, &LayerWay::name},
         {"way", "way", Unit::none,
          [](const LayerWay& w) { return w.model_parallel ? "model" : "data"; }},
         {"data_s", "data parallel", Unit::seconds, &LayerWay::data_s},
         {"model_s", "model parallel", Unit::seconds,
          [](const LayerWay& w) { return possible(w.model_s); }},
         {"change_s", "moved", Unit::seconds, &LayerWay::change_s, kAll,
          "for moving tensors between the two ways"}})};
    a.notes = {"Proven optimal: the least over all choices for the chain of these layers"};
    return a;
}

} // namespace eyeroof::report
