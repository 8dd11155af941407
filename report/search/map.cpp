#include "report/search/map.hpp"

#include "analysis/search/map_network.hpp"
#include "base/csv.hpp"
#include "base/figures.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"
#include "report/draw/chart.hpp"
#include "report/search/map_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace eyeroof::report {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

Json mapping_json(const Mapping& mapping, const Accelerator& accelerator) {
    Json levels = Json::array();
    for (std::size_t i = 0; i < mapping.levels.size(); ++i) {
        Json level;
        level["name"] = accelerator.levels[i].name;
        level["keep"] = Json::array();
        for (const Operand o : kAllOperands) {
            if (mapping.levels[i].keeps.contains(o)) {
                level["keep"].push_back(std::string(operand_name(o)));
            }
        }
        level["temporal"] = Json::array();
        for (const TemporalLoop& loop : mapping.levels[i].temporal) {
            level["temporal"].push_back(fmt::format("{}{}", letter(loop.dim), loop.bound));
        }
        level["spatial"] = Json::array();
        for (const SpatialLoop& loop : mapping.levels[i].spatial) {
            level["spatial"].push_back(fmt::format("{}{} {}", letter(loop.dim), loop.bound,
                                                   accelerator.levels[i].fanout[loop.axis].name));
        }
        levels.push_back(std::move(level));
    }
    return levels;
}

// Without what depends on the threads and the moment: two equal runs give the same.
Json certificate_json(const mapper::Certificate& c) {
    Json json;
    json["objective"] = c.objective;
    json["value"] = c.value;
    json["lower_bound"] = c.lower_bound;
    json["gap"] = c.gap;
    json["proved"] = c.proved;
    json["space"] = c.space;
    json["note"] = c.note;
    return json;
}

Json effort_json(const mapper::Certificate& c) {
    return {{"nodes", c.nodes}, {"pruned", c.pruned}, {"time_s", c.time_s}};
}

namespace {

constexpr std::size_t kNameColumns = 24; // of a layer's name, at most
constexpr double kLeastTime_s = 1e-5;    // a logarithmic axis has no zero

const analysis::MappedLayer& source_of(const analysis::MapReport& report,
                                       const analysis::MappedLayer& layer) {
    return layer.same_as ? report.layers[*layer.same_as] : layer;
}

std::string failure_of(const analysis::MappedLayer& layer) {
    std::string text;
    for (const Diagnostic& d : layer.why) {
        text += (text.empty() ? "" : "; ") + d.message;
    }
    return text;
}

Json layer_json(const analysis::MapReport& report, const analysis::MappedLayer& layer,
                const Accelerator& accelerator, bool effort) {
    Json json;
    json["name"] = layer.name;
    json["count"] = layer.count;
    const analysis::MappedLayer& source = source_of(report, layer);
    if (layer.same_as) {
        json["same_as"] = source.name;
    }
    if (!source.found) {
        json["failure"] = failure_of(source);
        return json;
    }
    const MappingCost& cost = source.found->cost;
    json["mapping"] = mapping_json(source.found->mapping, accelerator);
    json["energy_pj"] = cost.energy_pj;
    json["cycles"] = source.found->latency.total_cycles();
    json["cycles_limit"] = source.found->latency.limit;
    json["utilization"] =
        static_cast<double>(cost.macs) / (report.units * source.found->latency.total_cycles());
    json["certificate"] = certificate_json(source.found->certificate);
    if (effort) {
        json["effort"] = effort_json(source.found->certificate);
    }
    if (source.preset_value > 0.0) {
        json["gain_over_dataflow"] = source.preset_value / source.found->certificate.value;
    }
    return json;
}

std::string layer_line(const analysis::MapReport& report, const analysis::MappedLayer& layer,
                       std::size_t width) {
    const analysis::MappedLayer& source = source_of(report, layer);
    if (layer.same_as) {
        return fmt::format("{}  as {}\n", left(masked_controls(layer.name), width),
                           masked_controls(source.name));
    }
    if (!source.found) {
        return fmt::format("{}  no mapping: {}\n", left(masked_controls(layer.name), width),
                           failure_of(source));
    }
    const mapper::Certificate& c = source.found->certificate;
    const MappingCost& cost = source.found->cost;
    const double used =
        static_cast<double>(cost.macs) / (report.units * source.found->latency.total_cycles());
    const std::string gain = source.preset_value > 0.0
                                 ? fmt::format("{:.2f}x", source.preset_value / c.value)
                                 : std::string("-");
    return fmt::format(
        "{}  {:>9}  {:>10}  {:>9.1f} %  {:>9}  {:>6}{}\n", left(masked_controls(layer.name), width),
        format_si(cost.energy_pj * 1e-12, "J"), amount(source.found->latency.total_cycles()),
        100.0 * used, c.proved ? std::string("proven") : fmt::format("≤ {:.2g} %", 100.0 * c.gap),
        gain, layer.count > 1 ? fmt::format("  x{}", layer.count) : "");
}

// What the searches took together, and what they won.
std::string summary_of(const analysis::MapReport& report) {
    std::size_t searches = 0;
    std::vector<double> gains;
    double worst_gap = 0.0;
    std::size_t proved = 0;
    for (const analysis::MappedLayer& layer : report.layers) {
        if (!layer.found) {
            continue;
        }
        const mapper::Certificate& c = layer.found->certificate;
        ++searches;
        worst_gap = std::max(worst_gap, c.gap);
        proved += c.proved ? 1 : 0;
        if (layer.preset_value > 0.0) {
            gains.push_back(layer.preset_value / c.value);
        }
    }
    if (searches < 2) {
        return "";
    }
    std::string text =
        proved == searches
            ? fmt::format("all {} mappings proven optimal among even mappings", searches)
            : fmt::format("{} of {} mappings proven optimal among even mappings; optimality gap at "
                          "most {:.2g} %",
                          proved, searches, 100.0 * worst_gap);
    if (!gains.empty()) {
        text += fmt::format("; gain over the dataflow's own mapping: median {:.2f}x ({:.2f}x to "
                            "{:.2f}x)",
                            median(gains), *std::min_element(gains.begin(), gains.end()),
                            *std::max_element(gains.begin(), gains.end()));
    }
    return wrapped(text, 0, kTextColumns);
}

// What a certificate's bound does not hold for, once for all layers of which it is true.
std::string notes_of(const analysis::MapReport& report) {
    std::map<std::string, std::vector<std::string>> layers_of;
    for (const analysis::MappedLayer& layer : report.layers) {
        if (layer.found && !layer.found->certificate.note.empty()) {
            layers_of[layer.found->certificate.note].push_back(layer.name);
        }
    }
    std::string text;
    for (const auto& [note, layers] : layers_of) {
        constexpr std::size_t most = 6;
        const std::size_t shown = std::min(most, layers.size());
        text += wrapped(
            fmt::format("{}{}: {}",
                        fmt::join(layers.begin(), layers.begin() + static_cast<long>(shown), ", "),
                        layers.size() > shown ? fmt::format(" and {} more", layers.size() - shown)
                                              : "",
                        note),
            0, kTextColumns);
    }
    return text;
}

// "searched 1200 nodes in 0.2 s, pruned by B6 bandwidth 120, orders 8".
std::string effort_line(const mapper::Certificate& c) {
    std::vector<std::string> rules;
    for (const auto& [rule, nodes] : c.pruned) {
        if (nodes > 0) {
            rules.push_back(fmt::format("{} {}", rule, nodes));
        }
    }
    return fmt::format("  searched {} nodes in {:.2f} s{}{}\n", c.nodes, c.time_s,
                       rules.empty() ? "" : ", pruned by ", fmt::join(rules, ", "));
}

} // namespace

std::string map_to_csv(const analysis::MapReport& report) {
    std::string text = "layer,count,same_as,energy_pj,cycles,utilization,objective,value,"
                       "lower_bound,gap,proved,gain_over_dataflow,space,note\n";
    for (const analysis::MappedLayer& layer : report.layers) {
        const analysis::MappedLayer& source = source_of(report, layer);
        text += fmt::format("{},{},{},", csv_quoted(layer.name), layer.count,
                            layer.same_as ? csv_quoted(source.name) : "");
        if (!source.found) {
            text += fmt::format(",,,,,,,,,,{}\n", csv_quoted(failure_of(source)));
            continue;
        }
        const MappingCost& cost = source.found->cost;
        const mapper::Certificate& c = source.found->certificate;
        text += fmt::format(
            "{},{},{},{},{},{},{},{},{},{},{}\n", cost.energy_pj,
            source.found->latency.total_cycles(),
            static_cast<double>(cost.macs) / (report.units * source.found->latency.total_cycles()),
            csv_quoted(c.objective), c.value, c.lower_bound, c.gap, c.proved,
            source.preset_value > 0.0 ? fmt::format("{}", source.preset_value / c.value)
                                      : std::string(),
            csv_quoted(c.space), csv_quoted(c.note));
    }
    return text;
}

std::string map_to_json(const analysis::MapReport& report, const Accelerator& accelerator,
                        bool effort) {
    Json json;
    json["schema"] = "eyeroof/map/1";
    json["network"] = report.network;
    json["machine"] = report.machine;
    json["objective"] = report.objective;
    json["strategy"] = report.strategy;
    json["energy_pj"] = report.energy_pj;
    json["cycles"] = report.cycles;
    json["cancelled"] = report.cancelled;
    json["layers"] = Json::array();
    for (const analysis::MappedLayer& layer : report.layers) {
        json["layers"].push_back(layer_json(report, layer, accelerator, effort));
    }
    return json_document(json);
}

std::string map_to_text(const analysis::MapReport& report, const Accelerator& accelerator,
                        bool details) {
    std::size_t width = 5;
    for (const analysis::MappedLayer& layer : report.layers) {
        width = std::clamp(display_width(layer.name), width, kNameColumns);
    }
    const auto found =
        std::find_if(report.layers.begin(), report.layers.end(),
                     [](const analysis::MappedLayer& l) { return l.found.has_value(); });
    const std::string space =
        found == report.layers.end() ? "" : ", " + found->found->certificate.space;
    std::string text = wrapped_parts(
        {format_si(report.energy_pj * 1e-12, "J"), amount(report.cycles) + " cycles",
         format_si(report.cycles / accelerator.clock_hz, "s"),
         report.cancelled ? "cancelled: of what was mapped" : "one pass of the network"},
        0, kTextColumns);
    text += wrapped(
        fmt::format("{} search for the least {}{}", report.strategy, report.objective, space), 0,
        kTextColumns);
    text += summary_of(report);
    text += fmt::format("\n{}  {:>9}  {:>10}  {:>11}  {:>9}  {:>6}\n", left("layer", width),
                        "energy", "cycles", "utilization", "gap", "gain");
    for (const analysis::MappedLayer& layer : report.layers) {
        text += layer_line(report, layer, width);
        if (details && layer.found) {
            text += effort_line(layer.found->certificate);
            text += to_text(layer.found->mapping, accelerator) + "\n";
        }
    }
    text += "gain: over the dataflow's own mapping\n";
    return text + notes_of(report);
}

std::string convergence_svg(const std::string& layer, const std::vector<Convergence>& runs) {
    Chart chart{"best value found over time, " + layer,
                "seconds",
                "value of the objective",
                {},
                {},
                TickText::si,
                TickText::si};
    double bound = 0.0;
    for (const Convergence& run : runs) {
        const mapper::Certificate& c = run.result.certificate;
        ChartLine line{"", {}, true, false};
        for (const mapper::Improvement& step : run.result.history) {
            line.points.emplace_back(std::max(step.time_s, kLeastTime_s), step.value);
        }
        line.points.emplace_back(std::max(c.time_s, kLeastTime_s), c.value);
        line.label = fmt::format("{} {:.4g}", run.strategy, c.value);
        if (c.proved) {
            bound = std::max(bound, c.lower_bound);
            line.label += ", proved";
        }
        chart.lines.push_back(std::move(line));
    }
    if (bound > 0.0) {
        chart.marks.push_back({bound, fmt::format("proven bound {:.4g}", bound), false});
    }
    return chart_svg(chart);
}

} // namespace eyeroof::report
