#include "report/cores/heterogeneous_write.hpp"

#include "analysis/cores/heterogeneous.hpp"
#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace eyeroof::report {

using Json = nlohmann::ordered_json;

namespace {

std::string title(const analysis::HeterogeneousReport& r) {
    std::string text = masked_controls(r.network) + " on " + masked_controls(r.package.name) + ":";
    std::size_t core = 0;
    for (const analysis::CoreKind& kind : r.package.kinds) {
        text += fmt::format("{} {} x {} (core{} {})", core == 0 ? "" : ",", kind.count,
                            masked_controls(kind.machine.name), kind.count > 1 ? "s" : "",
                            kind.count > 1 ? fmt::format("{}-{}", core, core + kind.count - 1)
                                           : fmt::to_string(core));
        core += kind.count;
    }
    return wrapped(text, 0, kTextColumns);
}

// "alone on eyeriss-v1", or "parts 3 1 on cores 0 2".
std::string parallel_words(const analysis::HeterogeneousReport& r,
                           const model::cores::ParallelLayer& layer) {
    if (layer.alone) {
        return "one " + r.package.kinds[*layer.alone].machine.id;
    }
    std::string text;
    for (std::size_t c = 0; c < layer.parts.size(); ++c) {
        if (layer.parts[c] > 0) {
            text +=
                fmt::format("{}{} on core {}", text.empty() ? "parts: " : ", ", layer.parts[c], c);
        }
    }
    return text;
}

std::string layer_lines(const analysis::HeterogeneousReport& r) {
    std::string text = fmt::format("\n{}", left("layer", 20));
    for (const analysis::CoreKind& kind : r.package.kinds) {
        const std::string id = masked_controls(kind.machine.id);
        text += " " + (display_width(id) > 13 ? left(id, 13) : right(id, 13));
    }
    text += "  pipeline  one image at a time\n";
    for (std::size_t l = 0; l < r.layers.size(); ++l) {
        text += left(masked_controls(r.layers[l].name), 20);
        for (const double seconds : r.layers[l].seconds) {
            text += " " + right(format_si(seconds, "s"), 13);
        }
        const auto& together = r.parallel.layers[l];
        text += fmt::format("  core {:<3}  {} in {}\n", r.pipeline.core_of[l],
                            parallel_words(r, together), format_si(together.seconds, "s"));
    }
    return text;
}

std::string pipeline_lines(const analysis::HeterogeneousReport& r) {
    const auto& p = r.pipeline;
    return wrapped(fmt::format("pipeline: one image per {} ({:.4g}/s), latency {}, {} per image; "
                               "{}",
                               format_si(p.interval_s, "s"), 1.0 / p.interval_s,
                               format_si(p.latency_s, "s"), format_si(r.pipeline_energy_j, "J"),
                               p.proved ? std::string("proven optimal over all placements")
                                        : fmt::format("optimality gap {:.2g} %", 100.0 * p.gap())),
                   0, kTextColumns) +
           wrapped("bound by " + r.bottleneck(), 0, kTextColumns);
}

std::string busy_lines(const analysis::HeterogeneousReport& r) {
    const auto& p = r.pipeline;
    const auto busy = r.busy();
    std::string text = "busy:";
    for (std::size_t c = 0; c < busy.size(); ++c) {
        text += fmt::format("{} core {} {:.0f} %", c == 0 ? "" : ",", c,
                            100.0 * busy[c] / p.interval_s);
    }
    text += fmt::format(", link {:.0f} %, memory {:.0f} %", 100.0 * p.link_busy_s / p.interval_s,
                        100.0 * p.memory_busy_s / p.interval_s);
    return wrapped(text, 0, kTextColumns);
}

Json layer_json(const analysis::HeterogeneousReport& r, std::size_t l) {
    const auto& together = r.parallel.layers[l];
    return {{"name", r.layers[l].name},
            {"bytes_out", r.layers[l].bytes_out},
            {"time_s", r.layers[l].seconds},
            {"energy_j", r.layers[l].energy_j},
            {"pipeline_core", r.pipeline.core_of[l]},
            {"parallel",
             {{"alone_on",
               together.alone ? Json(r.package.kinds[*together.alone].machine.id) : Json(nullptr)},
              {"parts", together.parts},
              {"time_s", together.seconds},
              {"crossing_s", together.crossing_s}}}};
}

} // namespace

std::string heterogeneous_text(const analysis::HeterogeneousReport& r) {
    return pipeline_lines(r) +
           wrapped(fmt::format("one image at a time: {} ({:.4g}/s), optimal over all divisions of "
                               "layers into up to {}",
                               format_si(r.parallel.latency_s, "s"), 1.0 / r.parallel.latency_s,
                               counted(r.parts, "part")),
                   0, kTextColumns) +
           "\n" + title(r) + busy_lines(r) + layer_lines(r);
}

std::string heterogeneous_json(const analysis::HeterogeneousReport& r) {
    Json kinds = Json::array(), layers = Json::array();
    for (const analysis::CoreKind& kind : r.package.kinds) {
        kinds.push_back({{"id", kind.machine.id}, {"count", kind.count}});
    }
    for (std::size_t l = 0; l < r.layers.size(); ++l) {
        layers.push_back(layer_json(r, l));
    }
    const auto& p = r.pipeline;
    const Json document = {{"schema", "eyeroof/placement/1"},
                           {"network", r.network},
                           {"package", r.package.name},
                           {"cores", std::move(kinds)},
                           {"link_bytes_per_s", r.package.link_bytes_per_s},
                           {"link_s", r.package.link_s},
                           {"memory_bytes_per_s", r.package.memory_bytes_per_s},
                           {"parts", r.parts},
                           {"layers", std::move(layers)},
                           {"pipeline",
                            {{"interval_s", p.interval_s},
                             {"latency_s", p.latency_s},
                             {"energy_j", r.pipeline_energy_j},
                             {"bound_s", p.bound_s},
                             {"gap", p.gap()},
                             {"proved", p.proved},
                             {"nodes", p.nodes},
                             {"made_by", r.bottleneck()},
                             {"core_busy_s", r.busy()},
                             {"link_busy_s", p.link_busy_s},
                             {"memory_busy_s", p.memory_busy_s}}},
                           {"parallel", {{"latency_s", r.parallel.latency_s}}}};
    return json_document(document);
}

std::string heterogeneous_csv(const analysis::HeterogeneousReport& r) {
    std::string text = "layer,bytes_out";
    for (const analysis::CoreKind& kind : r.package.kinds) {
        text += "," + csv_quoted(kind.machine.id + "_s");
    }
    text += ",pipeline_core,parallel,parallel_s,crossing_s\n";
    for (std::size_t l = 0; l < r.layers.size(); ++l) {
        text += fmt::format("{},{}", csv_quoted(r.layers[l].name), r.layers[l].bytes_out);
        for (const double seconds : r.layers[l].seconds) {
            text += fmt::format(",{}", seconds);
        }
        const auto& together = r.parallel.layers[l];
        text += fmt::format(",{},{},{},{}\n", r.pipeline.core_of[l],
                            csv_quoted(parallel_words(r, together)), together.seconds,
                            together.crossing_s);
    }
    return text;
}

} // namespace eyeroof::report
