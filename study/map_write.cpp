#include "study/map_network.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace eyeroof::study {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field
using Json = nlohmann::ordered_json;

namespace {

const MappedLayer& source_of(const MapReport& report, const MappedLayer& layer) {
    return layer.same_as ? report.layers[*layer.same_as] : layer;
}

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

Json certificate_json(const mapper::Certificate& c) {
    Json json;
    json["objective"] = c.objective;
    json["value"] = c.value;
    json["lower_bound"] = c.lower_bound;
    json["gap"] = c.gap;
    json["proved"] = c.proved;
    json["nodes"] = c.nodes;
    json["pruned"] = c.pruned;
    json["time_s"] = c.time_s;
    return json;
}

Json layer_json(const MapReport& report, const MappedLayer& layer, const Accelerator& accelerator) {
    Json json;
    json["name"] = layer.name;
    json["count"] = layer.count;
    const MappedLayer& source = source_of(report, layer);
    if (layer.same_as) {
        json["same_as"] = source.name;
    }
    if (!source.found) {
        json["failure"] = source.failure;
        return json;
    }
    const MappingCost& cost = source.found->cost;
    json["mapping"] = mapping_json(source.found->mapping, accelerator);
    json["energy_pj"] = cost.energy_pj;
    json["cycles"] = cost.cycles;
    json["cycles_limit"] = cost.cycles_limit;
    json["utilization"] = static_cast<double>(cost.macs) / (report.units * cost.cycles);
    json["certificate"] = certificate_json(source.found->certificate);
    if (source.preset_value > 0.0) {
        json["gain_over_dataflow"] = source.preset_value / source.found->certificate.value;
    }
    return json;
}

std::string layer_line(const MapReport& report, const MappedLayer& layer, std::size_t width) {
    const MappedLayer& source = source_of(report, layer);
    if (layer.same_as) {
        return fmt::format("{:<{}}  as {}\n", layer.name, width, source.name);
    }
    if (!source.found) {
        return fmt::format("{:<{}}  no mapping: {}\n", layer.name, width, source.failure);
    }
    const mapper::Certificate& c = source.found->certificate;
    const MappingCost& cost = source.found->cost;
    const double used = static_cast<double>(cost.macs) / (report.units * cost.cycles);
    const std::string gain = source.preset_value > 0.0
                                 ? fmt::format("{:.2f}x", source.preset_value / c.value)
                                 : std::string("-");
    return fmt::format("{:<{}}  {:>11.4e}  {:>11.4e}  {:>6.1f} %  {:>11.4e}  {:>7.2f} %  {:<6}  "
                       "{:>9}  {:>7.2f}  {:>7}\n",
                       layer.name, width, cost.energy_pj, cost.cycles, 100.0 * used, c.value,
                       100.0 * c.gap, c.proved ? "proved" : "open", c.nodes, c.time_s, gain);
}

} // namespace

std::string map_to_json(const MapReport& report, const Accelerator& accelerator) {
    Json json;
    json["schema"] = "eyeroof/map/1";
    json["network"] = report.network;
    json["machine"] = report.machine;
    json["objective"] = report.objective;
    json["strategy"] = report.strategy;
    json["energy_pj"] = report.energy_pj;
    json["cycles"] = report.cycles;
    json["layers"] = Json::array();
    for (const MappedLayer& layer : report.layers) {
        json["layers"].push_back(layer_json(report, layer, accelerator));
    }
    return json.dump(2) + "\n";
}

std::string map_to_text(const MapReport& report, const Accelerator& accelerator, bool nests) {
    std::size_t width = 5;
    for (const MappedLayer& layer : report.layers) {
        width = std::max(width, layer.name.size());
    }
    std::string text = fmt::format("{} on {}: {} search for the least {}\n\n", report.network,
                                   report.machine, report.strategy, report.objective);
    text += fmt::format(
        "{:<{}}  {:>11}  {:>11}  {:>8}  {:>11}  {:>9}  {:<6}  {:>9}  {:>7}  {:>7}\n", "layer",
        width, "energy/pJ", "cycles", "used", "value", "gap", "", "nodes", "time/s", "gain");
    for (const MappedLayer& layer : report.layers) {
        text += layer_line(report, layer, width);
        if (nests && layer.found) {
            text += to_text(layer.found->mapping, accelerator) + "\n";
        }
    }
    text += fmt::format("\nenergy {:.4e} pJ, {:.4e} cycles for one pass of the network\n",
                        report.energy_pj, report.cycles);
    return text;
}

namespace {

constexpr double kWidth = 720.0, kHeight = 420.0, kLeft = 90.0, kRight = 150.0, kTop = 40.0,
                 kBottom = 50.0;

struct Frame { // logarithmic both ways
    double t0, t1, v0, v1;
    double x(double t) const {
        return kLeft +
               (kWidth - kLeft - kRight) * std::log(std::max(t, t0) / t0) / std::log(t1 / t0);
    }
    double y(double v) const {
        return kHeight - kBottom -
               (kHeight - kTop - kBottom) * std::log(v / v0) / std::log(v1 / v0);
    }
};

std::string text_at(double x, double y, const std::string& anchor, const std::string& text) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                       anchor, text);
}

std::string curve(const Frame& frame, const Convergence& run, const char* colour, double label_y) {
    std::string path;
    double value = 0.0;
    for (const mapper::Improvement& step : run.result.history) {
        const double x = frame.x(step.time_s);
        path += path.empty() ? fmt::format("M{:.1f},{:.1f}", x, frame.y(step.value))
                             : fmt::format("H{:.1f}V{:.1f}", x, frame.y(step.value));
        value = step.value;
    }
    path += fmt::format("H{:.1f}", frame.x(run.result.certificate.time_s));
    return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path,
                       colour) +
           fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"10\" height=\"10\" fill=\"{}\"/>\n",
                       kWidth - kRight + 12, label_y - 9, colour) +
           text_at(kWidth - kRight + 28, label_y, "start",
                   fmt::format("{} {:.3g}", run.strategy, value));
}

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        result += c == '<' ? "&lt;" : c == '&' ? "&amp;" : c == '>' ? "&gt;" : std::string(1, c);
    }
    return result;
}

} // namespace

std::string convergence_svg(const std::string& layer, const std::vector<Convergence>& runs) {
    Frame frame{1e-4, 1e-3, 1e300, 0.0};
    double bound = 0.0;
    for (const Convergence& run : runs) {
        frame.t1 = std::max(frame.t1, run.result.certificate.time_s);
        bound = std::max(bound,
                         run.result.certificate.proved ? run.result.certificate.lower_bound : 0.0);
        for (const mapper::Improvement& step : run.result.history) {
            frame.v0 = std::min(frame.v0, step.value);
            frame.v1 = std::max(frame.v1, step.value);
        }
    }
    frame.v0 = (bound > 0.0 ? std::min(bound, frame.v0) : frame.v0) * 0.95;
    frame.v1 = std::max(frame.v1, frame.v0 * 1.2) * 1.05;
    std::string svg =
        fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
                    "height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" "
                    "font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" "
                    "fill=\"white\"/>\n",
                    kWidth, kHeight);
    svg += text_at(kLeft, 24, "start", "best value found over time, " + escaped(layer));
    for (double t = 1e-4; t <= frame.t1 * 1.0001; t *= 10.0) {
        svg += fmt::format("<path d=\"M{0:.1f},{1}V{2}\" stroke=\"#ddd\"/>\n", frame.x(t), kTop,
                           kHeight - kBottom);
        svg += text_at(frame.x(t), kHeight - kBottom + 18, "middle", fmt::format("{:g} s", t));
    }
    for (int i = 0; i <= 4; ++i) {
        const double v = frame.v0 * std::pow(frame.v1 / frame.v0, i / 4.0);
        svg += text_at(kLeft - 8, frame.y(v) + 4, "end", fmt::format("{:.2e}", v));
    }
    const std::array<const char*, 5> colours = {"#1b6ca8", "#d1495b", "#66a182", "#edae49",
                                                "#6a4c93"};
    for (std::size_t r = 0; r < runs.size(); ++r) {
        svg += curve(frame, runs[r], colours[r % colours.size()],
                     kTop + 20 + 18 * static_cast<double>(r));
    }
    if (bound > 0.0) {
        svg += fmt::format("<path d=\"M{:.1f},{:.1f}H{:.1f}\" stroke=\"black\" "
                           "stroke-dasharray=\"6 4\"/>\n",
                           kLeft, frame.y(bound), kWidth - kRight);
        svg += text_at(kWidth - kRight + 12, frame.y(bound) + 4, "start",
                       fmt::format("proven bound {:.3g}", bound));
    }
    return svg + "</svg>\n";
}

} // namespace eyeroof::study
