#include "report/search/trade_offs.hpp"

#include "analysis/search/trade_offs.hpp"
#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/draw/chart.hpp"
#include "report/search/map_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::report {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

std::string complete_text(bool complete, const char* all) {
    return complete ? all : "the time limit came first: there may be more points";
}

// "conv2 (and 3 layers like it)"
std::string titled(const std::string& layer, const std::vector<std::string>& equals) {
    return equals.empty() ? layer : fmt::format("{} (and {} like it)", layer, equals.size());
}

std::string points_text(std::size_t points) {
    return fmt::format("{} point{}", points, points == 1 ? "" : "s");
}

std::string cancelled_text(bool cancelled) {
    return cancelled ? "\ncancelled: layers are missing or not complete\n" : "";
}

double used_of(const analysis::FrontReport& report, const mapper::SearchResult& point) {
    return static_cast<double>(point.cost.macs) / (report.units * point.latency.total_cycles());
}

std::string bytes(double value) {
    return format_si(value, "B", 4);
}

std::string front_text(const analysis::FrontReport& report, const analysis::LayerFront& layer,
                       const Accelerator& accelerator, bool nests) {
    std::string text =
        fmt::format("{} on {}: {} from least energy to least latency\n",
                    titled(layer.layer, layer.equals), report.machine,
                    counted(layer.front.points.size(), "mapping")) +
        complete_text(layer.front.complete,
                      "complete front: no other mapping improves both latency and energy") +
        "\n\n";
    text += fmt::format("{:>10}  {:>10}  {:>7}  {:>12}  {:>7}\n", "cycles", "energy", "util.",
                        "EDP, J cycle", "gap");
    for (const mapper::SearchResult& point : layer.front.points) {
        text += fmt::format(
            "{:>10}  {:>10}  {:>5.1f} %  {:>12}  {:>7}\n",
            format_si(point.latency.total_cycles(), "", 4),
            format_si(1e-12 * point.cost.energy_pj, "J", 4), 100.0 * used_of(report, point),
            format_si(1e-12 * point.latency.total_cycles() * point.cost.energy_pj, "", 4),
            point.certificate.proved ? std::string("proven")
                                     : fmt::format("{:.2f} %", 100.0 * point.certificate.gap));
        if (nests) {
            text += to_text(point.mapping, accelerator) + "\n";
        }
    }
    if (nests) {
        text += fmt::format("\n{} nodes in {:.2f} s\n", layer.front.nodes, layer.front.time_s);
    }
    return text;
}

Json front_json(const analysis::FrontReport& report, const analysis::LayerFront& layer,
                const Accelerator& accelerator) {
    Json json;
    json["layer"] = layer.layer;
    json["equals"] = layer.equals;
    json["complete"] = layer.front.complete;
    json["points"] = Json::array();
    for (const mapper::SearchResult& point : layer.front.points) {
        Json one;
        one["cycles"] = point.latency.total_cycles();
        one["energy_pj"] = point.cost.energy_pj;
        one["utilization"] = used_of(report, point);
        one["mapping"] = mapping_json(point.mapping, accelerator);
        one["certificate"] = certificate_json(point.certificate);
        json["points"].push_back(std::move(one));
    }
    return json;
}

std::string curve_text(const analysis::CurveReport& report, const analysis::LayerCurve& layer) {
    std::string text = fmt::format("{}: minimum memory traffic by buffer capacity\n\n",
                                   titled(layer.layer, layer.equals));
    text += fmt::format("{:>11}  {:>11}  {:>11}  {:>9}  {:>10} {:>10} {:>10}\n", "capacity",
                        "traffic", "compulsory", "gap", "input", "weight", "output");
    for (const mapper::CapacityPoint& p : layer.curve.points) {
        text += fmt::format("{:>11}  {:>11}  {:>10.3f}x  {:>7.2f} %",
                            bytes(static_cast<double>(p.capacity_bytes)), bytes(p.traffic_bytes),
                            p.traffic_bytes / layer.compulsory_bytes, 100.0 * p.certificate.gap);
        for (const Operand o : kAllOperands) {
            text += fmt::format(" {:>10}", p.buffer_words[index(o)] == 0
                                               ? "bypassed"
                                               : fmt::format("{} w", p.buffer_words[index(o)]));
        }
        text += '\n';
    }
    text += fmt::format("\n{}; {}\n", points_text(layer.curve.points.size()),
                        complete_text(layer.curve.complete, "no buffer does better"));
    text += fmt::format("compulsory (each tensor once): {}", bytes(layer.compulsory_bytes));
    const double padding = layer.curve.compulsory_bytes - layer.compulsory_bytes;
    text +=
        padding > 0.0 ? fmt::format("; mappings also read {} of padding\n", bytes(padding)) : "\n";
    if (!report.level.empty()) {
        text += fmt::format("{} of {} holds {}: {}\n", report.level, report.machine,
                            bytes(static_cast<double>(report.capacity_bytes)),
                            layer.traffic_bytes
                                ? bytes(*layer.traffic_bytes) + " at the least cross its border"
                                : "less than the smallest tiles need");
    }
    return text;
}

Json curve_json(const analysis::LayerCurve& layer) {
    Json json;
    json["layer"] = layer.layer;
    json["equals"] = layer.equals;
    json["compulsory_bytes"] = layer.compulsory_bytes;
    json["complete"] = layer.curve.complete;
    if (layer.traffic_bytes) {
        json["level_traffic_bytes"] = *layer.traffic_bytes;
    }
    json["points"] = Json::array();
    for (const mapper::CapacityPoint& p : layer.curve.points) {
        Json one = {{"capacity_bytes", p.capacity_bytes}, {"traffic_bytes", p.traffic_bytes}};
        for (const Operand o : kAllOperands) {
            one["buffer_words"][std::string(operand_name(o))] = p.buffer_words[index(o)];
            one["traffic_words"][std::string(operand_name(o))] = p.traffic_words[index(o)];
        }
        one["certificate"] = certificate_json(p.certificate);
        json["points"].push_back(std::move(one));
    }
    return json;
}

// What a chart is of: its one layer, or the network and how many of its layers.
template <class Layers> std::string subject(const std::string& network, const Layers& layers) {
    return layers.size() == 1 ? layers.front().layer
                              : fmt::format("{} layers of {}", layers.size(), network);
}

} // namespace

std::string front_to_text(const analysis::FrontReport& report, const Accelerator& accelerator,
                          bool nests) {
    std::string text;
    for (const analysis::LayerFront& layer : report.layers) {
        text += (text.empty() ? "" : "\n") + front_text(report, layer, accelerator, nests);
    }
    return text + cancelled_text(report.cancelled);
}

std::string front_to_json(const analysis::FrontReport& report, const Accelerator& accelerator) {
    Json json;
    json["schema"] = "eyeroof/front/1";
    json["network"] = report.network;
    json["machine"] = report.machine;
    json["cancelled"] = report.cancelled;
    json["layers"] = Json::array();
    for (const analysis::LayerFront& layer : report.layers) {
        json["layers"].push_back(front_json(report, layer, accelerator));
    }
    return json_document(json);
}

std::string front_to_csv(const analysis::FrontReport& report) {
    std::string text = "layer,cycles,energy_pj,utilization,lower_bound_pj,gap,proved\n";
    for (const analysis::LayerFront& layer : report.layers) {
        for (const mapper::SearchResult& point : layer.front.points) {
            text += fmt::format("{},{},{},{},{},{},{}\n", csv_quoted(layer.layer),
                                point.latency.total_cycles(), point.cost.energy_pj,
                                used_of(report, point), point.certificate.lower_bound,
                                point.certificate.gap, point.certificate.proved);
        }
    }
    return text;
}

std::string front_to_svg(const analysis::FrontReport& report) {
    Chart chart{fmt::format("{} on {}: what speed costs", subject(report.network, report.layers),
                            report.machine),
                "cycles",
                "energy, J",
                {},
                {},
                TickText::si,
                TickText::si};
    for (const analysis::LayerFront& layer : report.layers) {
        ChartLine line{"", {}, true, true};
        for (const mapper::SearchResult& point : layer.front.points) {
            line.points.emplace_back(point.latency.total_cycles(), point.cost.energy_pj * 1e-12);
        }
        std::reverse(line.points.begin(), line.points.end()); // energy falls as cycles rise
        line.label = fmt::format("{}{}, {}", report.layers.size() > 1 ? layer.layer + ": " : "",
                                 points_text(line.points.size()),
                                 layer.front.complete ? "complete" : "not complete");
        chart.lines.push_back(std::move(line));
    }
    return chart_svg(chart);
}

std::string curve_to_text(const analysis::CurveReport& report) {
    std::string text;
    for (const analysis::LayerCurve& layer : report.layers) {
        text += (text.empty() ? "" : "\n") + curve_text(report, layer);
    }
    return text + cancelled_text(report.cancelled);
}

std::string curve_to_json(const analysis::CurveReport& report) {
    Json json;
    json["schema"] = "eyeroof/capacity/1";
    json["network"] = report.network;
    json["machine"] = report.machine;
    json["cancelled"] = report.cancelled;
    if (!report.level.empty()) {
        json["level"] = {{"name", report.level}, {"capacity_bytes", report.capacity_bytes}};
    }
    json["layers"] = Json::array();
    for (const analysis::LayerCurve& layer : report.layers) {
        json["layers"].push_back(curve_json(layer));
    }
    return json_document(json);
}

std::string curve_to_csv(const analysis::CurveReport& report) {
    std::string text = "layer,capacity_bytes,traffic_bytes,compulsory_bytes,gap,proved";
    for (const Operand o : kAllOperands) {
        text += fmt::format(",{0}_buffer_words,{0}_traffic_words", operand_name(o));
    }
    text += '\n';
    for (const analysis::LayerCurve& layer : report.layers) {
        for (const mapper::CapacityPoint& p : layer.curve.points) {
            text += fmt::format("{},{},{},{},{},{}", csv_quoted(layer.layer), p.capacity_bytes,
                                p.traffic_bytes, layer.compulsory_bytes, p.certificate.gap,
                                p.certificate.proved);
            for (const Operand o : kAllOperands) {
                text += fmt::format(",{},{}", p.buffer_words[index(o)], p.traffic_words[index(o)]);
            }
            text += '\n';
        }
    }
    return text;
}

std::string curve_to_svg(const analysis::CurveReport& report) {
    constexpr std::size_t many = 60;
    Chart chart{
        fmt::format("{}: what a buffer's capacity buys", subject(report.network, report.layers)),
        "capacity, bytes",
        "traffic to memory, bytes",
        {},
        {},
        TickText::si,
        TickText::si};
    for (const analysis::LayerCurve& layer : report.layers) {
        const bool alone = report.layers.size() == 1;
        ChartLine line{
            alone ? "least traffic" : layer.layer, {}, true, layer.curve.points.size() <= many};
        for (const mapper::CapacityPoint& p : layer.curve.points) {
            line.points.emplace_back(static_cast<double>(p.capacity_bytes), p.traffic_bytes);
        }
        chart.lines.push_back(std::move(line));
        if (alone) {
            chart.marks.push_back(
                {layer.compulsory_bytes, "compulsory " + bytes(layer.compulsory_bytes), false});
        }
    }
    if (!report.level.empty()) {
        chart.marks.push_back(
            {static_cast<double>(report.capacity_bytes),
             fmt::format("{} {}", report.level, bytes(static_cast<double>(report.capacity_bytes))),
             true});
    }
    return chart_svg(chart);
}

} // namespace eyeroof::report
