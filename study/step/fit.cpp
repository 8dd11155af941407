#include "study/step/fit.hpp"

namespace eyeroof::study::step {

namespace {

using model::Count;

constexpr std::size_t kSearched = 20'000; // operators: a larger graph is not built thirty times
constexpr Count kMostTimes = 1 << 20;

model::Result<Graph> graph_at(const FitQuestion& question, Count batch) {
    const auto network = model::with_batch(question.network, batch);
    if (!network) {
        return network.diagnostics();
    }
    GraphOptions options = question.options;
    options.batch *= batch;
    return make_graph(*network, question.wiring, options);
}

Memory memory_in(const FitQuestion& question, const Graph& graph, const model::Gpu& gpu) {
    const auto beside =
        question.workspaces ? workspaces_of(graph, gpu) : std::vector<model::Count>{};
    return memory_of(graph, beside);
}

} // namespace

model::Result<Memory> memory_at(const FitQuestion& question, const model::Gpu& gpu, Count batch) {
    const auto graph = graph_at(question, batch);
    return graph ? model::Result<Memory>(memory_in(question, *graph, gpu))
                 : model::Result<Memory>(graph.diagnostics());
}

std::optional<Count> largest_fitting_batch(const FitQuestion& question, const model::Gpu& gpu,
                                           Count limit, const std::stop_token& stop) {
    const auto own = graph_at(question, 1);
    if (!own || own->operators.size() > kSearched) {
        return std::nullopt;
    }
    const Count found = largest_batch(limit, kMostTimes, [&](Count batch) -> std::optional<Count> {
        const auto graph = graph_at(question, batch);
        return graph && !stop.stop_requested()
                   ? std::optional(memory_in(question, *graph, gpu).peak)
                   : std::nullopt;
    });
    return stop.stop_requested() ? std::nullopt : std::optional(found);
}

model::Result<Fit> fit_of(const FitQuestion& question, const model::Gpu& gpu, Count batch,
                          const std::stop_token& stop) {
    const auto graph = graph_at(question, batch);
    if (!graph) {
        return graph.diagnostics();
    }
    Fit fit{memory_in(question, *graph, gpu).peak, capacity_of(gpu), std::nullopt,
            graph->chain && question.network.layers.size() > 1};
    fit.largest_batch = largest_fitting_batch(question, gpu, fit.limit, stop);
    return fit;
}

} // namespace eyeroof::study::step
