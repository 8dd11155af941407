#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/cores/cores_answer.hpp"

#include <fmt/format.h>

namespace eyeroof::report {

namespace {

using analysis::CoreKind;
using analysis::HeterogeneousLayer;
using analysis::HeterogeneousReport;
using model::cores::ParallelLayer;

std::vector<std::string> placement_sentences(const HeterogeneousReport& r) {
    const auto& p = r.pipeline;
    return {fmt::format("As a pipeline: one image per {} ({:.4g}/s), latency {}, {} per image; {}",
                        format_si(p.interval_s, "s"), 1.0 / p.interval_s,
                        format_si(p.latency_s, "s"), format_si(r.pipeline_energy_j, "J"),
                        p.proved ? std::string("proven optimal over all placements")
                                 : fmt::format("optimality gap {:.2g} %", 100.0 * p.gap())),
            "Bound by " + r.bottleneck(),
            fmt::format("One image at a time: {} ({:.4g}/s), optimal over all divisions of layers "
                        "into up to {}",
                        format_si(r.parallel.latency_s, "s"), 1.0 / r.parallel.latency_s,
                        counted(r.parts, "part"))};
}

// "one eyeriss-v1 in 2 ms", or "parts: 3 on core 0, 1 on core 2 in 2 ms".
std::string parallel_words(const HeterogeneousReport& r, const ParallelLayer& layer) {
    std::string text = layer.alone ? "one " + r.package.kinds[*layer.alone].machine.id : "";
    for (std::size_t c = 0; c < layer.parts.size(); ++c) {
        if (layer.parts[c] > 0) {
            text +=
                fmt::format("{}{} on core {}", text.empty() ? "parts: " : ", ", layer.parts[c], c);
        }
    }
    return text + " in " + format_si(layer.seconds, "s");
}

struct Placed {
    const HeterogeneousLayer* layer = nullptr;
    const ParallelLayer* together = nullptr;
    std::size_t core = 0;
};

AnswerTable placed_layers(const HeterogeneousReport& r) {
    std::vector<Placed> rows;
    for (std::size_t l = 0; l < r.layers.size(); ++l) {
        rows.push_back({&r.layers[l], &r.parallel.layers[l], r.pipeline.core_of[l]});
    }
    const auto& kinds = r.package.kinds;
    std::vector<Column<Placed>> columns = {
        {"name", "layer", Unit::none, [](const Placed& p) { return p.layer->name; }},
        {"bytes_out", "", Unit::bytes, [](const Placed& p) { return p.layer->bytes_out; }},
        {"time_s", "", Unit::seconds, [](const Placed& p) { return p.layer->seconds; }, kPrograms,
         "by kind of core"},
        {"energy_j", "", Unit::joules, [](const Placed& p) { return p.layer->energy_j; }, kPrograms,
         "by kind of core"}};
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        columns.emplace_back(
            "", kinds[kind].machine.id, Unit::seconds,
            [kind](const Placed& p) { return p.layer->seconds[kind]; }, kPeople);
    }
    columns.emplace_back("pipeline_core", "pipeline's core", Unit::count, &Placed::core);
    columns.emplace_back(
        "parallel.alone_on", "", Unit::none,
        [&](const Placed& p) {
            const auto alone = p.together->alone;
            return alone ? std::optional(kinds[*alone].machine.id) : std::nullopt;
        },
        kPrograms, "kind of the one core that has it all; null: its parts are dealt out");
    columns.emplace_back(
        "parallel.parts", "", Unit::count,
        [](const Placed& p) {
            return std::vector<double>(p.together->parts.begin(), p.together->parts.end());
        },
        kPrograms, "of each core; empty where one core has it all");
    columns.emplace_back("parallel.time_s", "", Unit::seconds,
                         [](const Placed& p) { return p.together->seconds; });
    columns.emplace_back("parallel.crossing_s", "", Unit::seconds,
                         [](const Placed& p) { return p.together->crossing_s; });
    columns.emplace_back(
        "", "one image at a time", Unit::sentence,
        [&](const Placed& p) { return parallel_words(r, *p.together); }, kPeople);
    return make_table("layers", "Layers", rows, columns);
}

// Cores, the link between them, and the memory that they share, in an interval of the pipeline.
struct BusyPart {
    std::string name;
    double share = 0.0;
};

AnswerTable busy_of(const HeterogeneousReport& r) {
    const auto& p = r.pipeline;
    std::vector<BusyPart> rows;
    const std::vector<double> busy = p.interval_s > 0.0 ? r.busy() : std::vector<double>();
    for (std::size_t core = 0; core < busy.size(); ++core) {
        rows.push_back(
            {fmt::format("core {} ({})", core, r.package.kinds[r.kind_of(core)].machine.id),
             busy[core] / p.interval_s});
    }
    if (!rows.empty()) {
        rows.push_back({"link", p.link_busy_s / p.interval_s});
        rows.push_back({"memory", p.memory_busy_s / p.interval_s});
    }
    return make_table<BusyPart>("", "The pipeline", rows,
                                {{"", "busy", Unit::none, &BusyPart::name, kPeople},
                                 {"", "share", Unit::share, &BusyPart::share, kPeople}});
}

std::vector<Figure> placement_figures(const HeterogeneousReport& r) {
    const auto& p = r.pipeline;
    const bool placed = !r.layers.empty();
    return {{"network", "", r.network},
            {"package", "", r.package.name},
            {"link_bytes_per_s", "", r.package.link_bytes_per_s, Unit::bytes_per_s, kPrograms,
             "0: no limit"},
            {"link_s", "", r.package.link_s, Unit::seconds},
            {"memory_bytes_per_s", "", r.package.memory_bytes_per_s, Unit::bytes_per_s, kPrograms,
             "0: no limit but each core's own"},
            {"parts", "", r.parts, Unit::count},
            {"pipeline.interval_s", "", p.interval_s, Unit::seconds},
            {"pipeline.latency_s", "", p.latency_s, Unit::seconds},
            {"pipeline.energy_j", "", r.pipeline_energy_j, Unit::joules},
            {"pipeline.bound_s", "", p.bound_s, Unit::seconds, kPrograms,
             "no placement has a smaller interval"},
            {"pipeline.gap", "", p.gap(), Unit::share},
            {"pipeline.proved", "", p.proved},
            {"pipeline.nodes", "", p.nodes, Unit::count},
            {"pipeline.made_by", "", placed ? r.bottleneck() : std::string(), Unit::none, kPrograms,
             "what makes the interval"},
            {"pipeline.core_busy_s", "", placed ? r.busy() : std::vector<double>(), Unit::seconds},
            {"pipeline.link_busy_s", "", p.link_busy_s, Unit::seconds},
            {"pipeline.memory_busy_s", "", p.memory_busy_s, Unit::seconds},
            {"parallel.latency_s", "", r.parallel.latency_s, Unit::seconds}};
}

} // namespace

Answer placement_answer(const HeterogeneousReport& r) {
    Answer a;
    a.schema = "eyeroof/placement/1";
    a.title = r.network + " on " + r.package.name;
    a.sentences = r.layers.empty() ? std::vector<std::string>() : placement_sentences(r);
    a.figures = placement_figures(r);
    a.tables = {placed_layers(r), busy_of(r),
                make_table<CoreKind>(
                    "cores", "", r.package.kinds,
                    {{"id", "", Unit::none, [](const CoreKind& kind) { return kind.machine.id; }},
                     {"count", "", Unit::count, &CoreKind::count, kPrograms,
                      "cores are numbered kind by kind, from 0"}})};
    return a;
}

} // namespace eyeroof::report
