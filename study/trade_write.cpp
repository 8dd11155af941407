#include "model/base/units.hpp"
#include "study/map_json.hpp"
#include "study/trade_offs.hpp"
#include "study/write/chart.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::study {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

std::string complete_text(bool complete, const char* all) {
    return complete ? all : "the time limit came first: there may be more points";
}

std::string bytes(double value) {
    return format_si(value, "B", 4);
}

} // namespace

std::string front_to_text(const FrontReport& report, const Accelerator& accelerator, bool nests) {
    std::string text =
        fmt::format("{} on {}: front of latency and energy\n\n", report.layer, report.machine);
    text += fmt::format("{:>12}  {:>12}  {:>8}  {:>12}  {:>9}  {}\n", "cycles", "energy/pJ", "used",
                        "EDP", "gap", "");
    for (const mapper::SearchResult& point : report.front.points) {
        const double used =
            static_cast<double>(point.cost.macs) / (report.units * point.cost.cycles);
        text += fmt::format("{:>12.5e}  {:>12.5e}  {:>6.1f} %  {:>12.5e}  {:>7.2f} %  {}\n",
                            point.cost.cycles, point.cost.energy_pj, 100.0 * used,
                            point.cost.cycles * point.cost.energy_pj, 100.0 * point.certificate.gap,
                            point.certificate.proved ? "proved" : "open");
        if (nests) {
            text += to_text(point.mapping, accelerator) + "\n";
        }
    }
    return text + fmt::format("\n{} points, {} nodes in {:.2f} s; {}\n", report.front.points.size(),
                              report.front.nodes, report.front.time_s,
                              complete_text(report.front.complete,
                                            "no mapping is faster and more frugal than all these"));
}

std::string front_to_json(const FrontReport& report, const Accelerator& accelerator) {
    Json json;
    json["schema"] = "eyeroof/front/1";
    json["machine"] = report.machine;
    json["layer"] = report.layer;
    json["complete"] = report.front.complete;
    json["nodes"] = report.front.nodes;
    json["time_s"] = report.front.time_s;
    json["points"] = Json::array();
    for (const mapper::SearchResult& point : report.front.points) {
        Json one;
        one["cycles"] = point.cost.cycles;
        one["energy_pj"] = point.cost.energy_pj;
        one["utilization"] =
            static_cast<double>(point.cost.macs) / (report.units * point.cost.cycles);
        one["mapping"] = mapping_json(point.mapping, accelerator);
        one["certificate"] = certificate_json(point.certificate);
        json["points"].push_back(std::move(one));
    }
    return json.dump(2) + "\n";
}

std::string front_to_svg(const FrontReport& report) {
    ChartLine line{"front", {}, true, true};
    for (const mapper::SearchResult& point : report.front.points) {
        line.points.emplace_back(point.cost.cycles, point.cost.energy_pj * 1e-12);
    }
    std::reverse(line.points.begin(), line.points.end()); // energy falls as cycles rise
    line.label = fmt::format("{} points, {}", line.points.size(),
                             report.front.complete ? "complete" : "not complete");
    return chart_svg({fmt::format("{} on {}: what speed costs", report.layer, report.machine),
                      "cycles",
                      "energy, J",
                      {line},
                      {},
                      TickText::si,
                      TickText::si});
}

std::string curve_to_text(const CurveReport& report) {
    std::string text = fmt::format(
        "{}: least traffic to memory that a buffer of a given size allows\n\n", report.layer);
    text += fmt::format("{:>11}  {:>11}  {:>11}  {:>9}  {:>10} {:>10} {:>10}\n", "capacity",
                        "traffic", "compulsory", "gap", "input", "weight", "output");
    for (const mapper::CapacityPoint& p : report.curve.points) {
        text +=
            fmt::format("{:>11}  {:>11}  {:>10.3f}x  {:>7.2f} %",
                        bytes(static_cast<double>(p.capacity_bytes)), bytes(p.traffic_bytes),
                        p.traffic_bytes / report.curve.compulsory_bytes, 100.0 * p.certificate.gap);
        for (const Operand o : kAllOperands) {
            text += fmt::format(" {:>10}", p.buffer_words[index(o)] == 0
                                               ? "passes by"
                                               : fmt::format("{} w", p.buffer_words[index(o)]));
        }
        text += '\n';
    }
    text += fmt::format("\n{} points in {:.2f} s; {}\n", report.curve.points.size(),
                        report.curve.time_s,
                        complete_text(report.curve.complete, "no buffer does better"));
    if (!report.level.empty()) {
        text += fmt::format("{} of {} holds {}: {}\n", report.level, report.machine,
                            bytes(static_cast<double>(report.capacity_bytes)),
                            report.traffic_bytes
                                ? bytes(*report.traffic_bytes) + " at the least cross its border"
                                : "less than the smallest tiles need");
    }
    return text;
}

std::string curve_to_json(const CurveReport& report) {
    Json json;
    json["schema"] = "eyeroof/capacity/1";
    json["layer"] = report.layer;
    json["compulsory_bytes"] = report.curve.compulsory_bytes;
    json["complete"] = report.curve.complete;
    json["time_s"] = report.curve.time_s;
    if (!report.level.empty()) {
        Json level = {{"machine", report.machine},
                      {"name", report.level},
                      {"capacity_bytes", report.capacity_bytes}};
        if (report.traffic_bytes) {
            level["traffic_bytes"] = *report.traffic_bytes;
        }
        json["level"] = std::move(level);
    }
    json["points"] = Json::array();
    for (const mapper::CapacityPoint& p : report.curve.points) {
        Json one = {{"capacity_bytes", p.capacity_bytes}, {"traffic_bytes", p.traffic_bytes}};
        for (const Operand o : kAllOperands) {
            one["buffer_words"][std::string(operand_name(o))] = p.buffer_words[index(o)];
            one["traffic_words"][std::string(operand_name(o))] = p.traffic_words[index(o)];
        }
        one["certificate"] = certificate_json(p.certificate);
        json["points"].push_back(std::move(one));
    }
    return json.dump(2) + "\n";
}

std::string curve_to_svg(const CurveReport& report) {
    ChartLine line{"least traffic", {}, true, report.curve.points.size() <= 60};
    for (const mapper::CapacityPoint& p : report.curve.points) {
        line.points.emplace_back(static_cast<double>(p.capacity_bytes), p.traffic_bytes);
    }
    Chart chart{fmt::format("{}: what a buffer's capacity buys", report.layer),
                "capacity, bytes",
                "traffic to memory, bytes",
                {line},
                {{report.curve.compulsory_bytes,
                  "compulsory " + bytes(report.curve.compulsory_bytes), false}},
                TickText::si,
                TickText::si};
    if (!report.level.empty()) {
        chart.marks.push_back(
            {static_cast<double>(report.capacity_bytes),
             fmt::format("{} {}", report.level, bytes(static_cast<double>(report.capacity_bytes))),
             true});
    }
    return chart_svg(chart);
}

} // namespace eyeroof::study
