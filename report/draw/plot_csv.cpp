#include "report/draw/plot_csv.hpp"

#include "base/csv.hpp"
#include "base/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace eyeroof::report {

namespace {

const char* kind_of(const PlotPoint& point) {
    return point.measured ? "measured" : "predicted";
}

} // namespace

std::string to_csv(const RooflineScene& scene, const PlotInput& input) {
    std::string csv = "kind,machine,name,level,intensity_flop_per_byte,rate_flops_per_s,"
                      "roof_flops_per_s,roof,of_roof,time_s,count,share_of_time,precision,"
                      "limiter_step,limiter,source\n";
    for (auto point = scene.points.rbegin(); point != scene.points.rend(); ++point) {
        const PlotPoint& source = input.points.at(point->source);
        csv +=
            fmt::format("{},{},{},{},{:.9g},{:.9g},{},{},{:.6g},{:.9g},{:g},{:.6g},{},{},{},{}\n",
                        kind_of(source), csv_quoted(source.machine), csv_quoted(source.name),
                        csv_quoted(point->level), point->x, point->y,
                        point->roof.empty() ? "" : fmt::format("{:.9g}", point->roof_flops_per_s),
                        csv_quoted(point->roof), point->of_bound, source.time_s, source.count,
                        point->share, csv_quoted(source.precision), source.limiter_step,
                        csv_quoted(source.limiter), csv_quoted(source.source));
    }
    for (const SceneRoof& line : scene.roofs) {
        const bool memory = line.roof.kind == analysis::RoofKind::memory;
        csv += fmt::format(
            "{},{},{},{},,,{},{},,,,,{},,,{}\n", memory ? "roof_bytes_per_s" : "roof_flops_per_s",
            csv_quoted(line.roof.machine), csv_quoted(line.roof.name),
            memory ? csv_quoted(line.roof.key) : "", fmt::format("{:.9g}", line.roof.value),
            line.roof.measured ? "measured" : "described", memory ? "" : csv_quoted(line.roof.key),
            csv_quoted(line.roof.source));
    }
    return csv;
}

std::string to_json(const RooflineScene& scene, const PlotInput& input) {
    nlohmann::ordered_json root{{"schema", "eyeroof/roofline/1"}, {"title", scene.title}};
    auto& points = root["points"] = nlohmann::ordered_json::array();
    for (auto point = scene.points.rbegin(); point != scene.points.rend(); ++point) {
        const PlotPoint& source = input.points.at(point->source);
        nlohmann::ordered_json row{{"id", source.id},
                                   {"kind", kind_of(source)},
                                   {"machine", source.machine},
                                   {"name", source.name},
                                   {"level", point->level},
                                   {"intensity_flop_per_byte", point->x},
                                   {"rate_flops_per_s", point->y},
                                   {"time_s", source.time_s},
                                   {"count", source.count},
                                   {"share_of_time", point->share},
                                   {"of_roof", point->of_bound},
                                   {"above_roof", point->above_roof},
                                   {"precision", source.precision},
                                   {"limiter_step", source.limiter_step},
                                   {"limiter", source.limiter},
                                   {"source", source.source}};
        if (!point->roof.empty()) {
            row["roof_flops_per_s"] = point->roof_flops_per_s;
            row["roof"] = point->roof;
        }
        points.push_back(std::move(row));
    }
    auto& roofs = root["roofs"] = nlohmann::ordered_json::array();
    for (const SceneRoof& line : scene.roofs) {
        const bool memory = line.roof.kind == analysis::RoofKind::memory;
        roofs.push_back({{"id", line.roof.id},
                         {"kind", memory ? "memory" : "compute"},
                         {"machine", line.roof.machine},
                         {"name", line.roof.name},
                         {memory ? "bytes_per_s" : "flops_per_s", line.roof.value},
                         {"measured", line.roof.measured},
                         {"source", line.roof.source}});
    }
    root["warnings"] = scene.warnings;
    return json_document(root);
}

} // namespace eyeroof::report
