#include "analysis/cores/heterogeneous.hpp"

#include "analysis/cores/layer_bytes.hpp"
#include "analysis/exam/examine.hpp"
#include "analysis/exam/word_types.hpp"
#include "analysis/program/lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace eyeroof::analysis {

using model::Layer;
using model::cores::HeterogeneousCores;
using model::cores::OnKind;
using model::cores::PlacedLayer;

namespace {

constexpr Count kMostPlaced = 2000; // of layers

// The most pieces, up to `most`, into which the layer divides.
std::size_t pieces_of(const Layer& layer, std::size_t most) {
    for (std::size_t parts = most; parts > 1; --parts) {
        if (first_parts(layer, 1, static_cast<Count>(parts))) {
            return parts;
        }
    }
    return 1;
}

// Every layer, and behind each its pieces: 1, 2 … of all.
struct Pieces {
    model::Network network;
    std::vector<std::size_t> first, parts; // of each layer of the whole
};

Pieces pieces_of(const model::Network& whole, std::size_t most) {
    Pieces pieces{{whole.id, whole.name, whole.source, {}}, {}, {}};
    for (const Layer& layer : whole.layers) {
        const std::size_t parts = pieces_of(layer, most);
        pieces.first.push_back(pieces.network.layers.size());
        pieces.parts.push_back(parts);
        for (std::size_t n = 1; n < parts; ++n) {
            pieces.network.layers.push_back(
                *first_parts(layer, static_cast<Count>(n), static_cast<Count>(parts)));
        }
        pieces.network.layers.push_back(layer);
    }
    for (Layer& one : pieces.network.layers) {
        one.count = 1;
    }
    return pieces;
}

OnKind on_kind(const LayerReport& layer) {
    return {layer.time_s, layer.outer_bytes};
}

// The layer and its pieces on each kind, from the kinds' examinations.
PlacedLayer placed_layer(const Pieces& pieces, std::size_t i, const std::vector<Report>& exams) {
    PlacedLayer placed;
    const std::size_t last = pieces.first[i] + pieces.parts[i] - 1;
    placed.bytes_out = bytes_out_of(pieces.network.layers[last]);
    for (const Report& exam : exams) {
        placed.whole.push_back(on_kind(exam.layers[last]));
        if (pieces.parts[i] > 1) {
            placed.parts.emplace_back();
            for (std::size_t n = pieces.first[i]; n <= last; ++n) {
                placed.parts.back().push_back(on_kind(exam.layers[n]));
            }
        }
    }
    return placed;
}

// A core is never quicker than the memory that all share.
double seconds_of(const LayerReport& layer, const CorePackage& package) {
    return package.memory_bytes_per_s > 0.0
               ? std::max(layer.time_s, layer.outer_bytes / package.memory_bytes_per_s)
               : layer.time_s;
}

HeterogeneousLayer reported_layer(const Pieces& pieces, std::size_t i,
                                  const std::vector<Report>& exams, const CorePackage& package) {
    const std::size_t last = pieces.first[i] + pieces.parts[i] - 1;
    const Layer& layer = pieces.network.layers[last];
    HeterogeneousLayer reported{layer.name, bytes_out_of(layer), {}, {}};
    for (const Report& exam : exams) {
        reported.seconds.push_back(seconds_of(exam.layers[last], package));
        reported.energy_j.push_back(exam.layers[last].energy_j);
    }
    return reported;
}

// Of the whole network: pieces would be counted as layers of their own.
void add_of_kind(Diagnostics& all, const Diagnostics& of_pieces, const model::Network& whole,
                 const model::Machine& machine, std::optional<model::DataType> asked) {
    all.append(check_types(whole, machine, std::get<model::Accelerator>(machine.kind), asked));
    for (const Diagnostic& d : of_pieces) {
        if (d.code != "other-words" && d.code != "max-filter") {
            all.add(d);
        }
    }
}

Result<std::vector<Report>> examined(const Question& pieces, const model::Network& whole,
                                     const CorePackage& package,
                                     std::optional<model::DataType> asked,
                                     const std::stop_token& stop,
                                     const ProgressCallback& progress) {
    std::vector<Report> exams;
    Diagnostics found;
    for (const CoreKind& kind : package.kinds) {
        Question on_kind = pieces;
        on_kind.machine = kind.machine;
        auto exam = run(on_kind, stop, progress);
        add_of_kind(found, exam.diagnostics(), whole, kind.machine, asked);
        if (exam) {
            exams.push_back(*std::move(exam));
        }
    }
    return found.has_errors() ? Result<std::vector<Report>>(std::move(found))
                              : Result<std::vector<Report>>(std::move(exams), std::move(found));
}

} // namespace

std::optional<Layer> first_parts(const Layer& layer, Count some, Count parts) {
    Layer part = layer;
    const auto share = [&](Count& size) {
        const bool divides = size % parts == 0;
        size = size / parts * some;
        return divides;
    };
    bool divides = false;
    if (auto* conv = std::get_if<model::ConvShape>(&part.shape)) {
        divides = share(conv->k);
        if (conv->groups > 1) { // whole groups, with their inputs
            divides = divides && share(conv->groups) && share(conv->c);
        }
    } else if (auto* gemm = std::get_if<model::GemmShape>(&part.shape)) {
        divides = share(gemm->n);
    } else if (auto* pool = std::get_if<model::PoolShape>(&part.shape)) {
        divides = share(pool->c);
    }
    return divides ? std::optional(part) : std::nullopt;
}

std::vector<double> HeterogeneousReport::busy() const {
    std::size_t cores = 0;
    for (const CoreKind& kind : package.kinds) {
        cores += kind.count;
    }
    std::vector<double> busy(cores, 0.0);
    for (std::size_t l = 0; l < layers.size(); ++l) {
        const std::size_t core = pipeline.core_of[l];
        busy[core] += layers[l].seconds[kind_of(core)];
    }
    return busy;
}

std::size_t HeterogeneousReport::kind_of(std::size_t core) const {
    std::size_t kind = 0;
    for (; core >= package.kinds[kind].count; ++kind) {
        core -= package.kinds[kind].count;
    }
    return kind;
}

std::string HeterogeneousReport::bottleneck() const {
    const double most = pipeline.interval_s * (1.0 - 1e-9);
    if (pipeline.memory_busy_s >= most) {
        return "step 6, the memory that all share";
    }
    if (pipeline.link_busy_s >= most) {
        return "step 6, the link between cores";
    }
    const std::vector<double> work = busy();
    const auto fullest = std::max_element(work.begin(), work.end());
    const auto core = static_cast<std::size_t>(fullest - work.begin());
    return fmt::format("core {} ({})", core, package.kinds[kind_of(core)].machine.id);
}

Result<HeterogeneousReport> heterogeneous_report(const Question& question,
                                                 const CorePackage& package,
                                                 const PlacementOptions& mixed,
                                                 std::stop_token stop,
                                                 const ProgressCallback& progress) {
    Question first = question;
    first.machine = package.kinds.front().machine;
    const auto whole = lowered_network(first);
    if (!whole) {
        return Result<HeterogeneousReport>(whole.diagnostics());
    }
    Count runs = 0;
    for (const Layer& layer : whole->layers) {
        runs += layer.count;
    }
    if (runs > kMostPlaced) {
        return Result<HeterogeneousReport>::failure(
            "too-many-layers", fmt::format("{} layers are too many to place", runs),
            fmt::format("choose at most {} with --layers", kMostPlaced));
    }
    const Pieces pieces = pieces_of(*whole, mixed.parts);
    auto exams = examined(question_of_lowered(first, pieces.network), *whole, package,
                          question.scenario.data_type, stop, progress);
    if (!exams) {
        return Result<HeterogeneousReport>(exams.diagnostics());
    }
    HeterogeneousReport report{question.network.name, package, mixed.parts, {}, {}, {}, 0.0};
    HeterogeneousCores cores{
        {}, package.link_bytes_per_s, package.link_s, package.memory_bytes_per_s};
    for (const CoreKind& kind : package.kinds) {
        cores.counts.push_back(kind.count);
    }
    std::vector<PlacedLayer> layers;
    for (std::size_t i = 0; i < whole->layers.size(); ++i) {
        const auto times = static_cast<std::size_t>(whole->layers[i].count);
        layers.insert(layers.end(), times, placed_layer(pieces, i, *exams));
        report.layers.insert(report.layers.end(), times,
                             reported_layer(pieces, i, *exams, package));
    }
    // Every layer runs on every kind: the examination says so.
    report.pipeline = *place_pipelined(layers, cores, mixed.max_nodes);
    report.parallel = *place_parallel(layers, cores);
    for (std::size_t l = 0; l < layers.size(); ++l) {
        report.pipeline_energy_j +=
            report.layers[l].energy_j[report.kind_of(report.pipeline.core_of[l])];
    }
    return Result<HeterogeneousReport>(std::move(report), exams.diagnostics());
}

} // namespace eyeroof::analysis
