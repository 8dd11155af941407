#include "report/cores/cores_write.hpp"

#include "analysis/cores/cores.hpp"
#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace eyeroof::report {

using Json = nlohmann::ordered_json;

namespace {

double speed_up(const analysis::CoresReport& r, const analysis::CoresPoint& point) {
    return r.points.front().time_s / point.time_s;
}

std::string cause(const analysis::CoresPoint& point) {
    const std::size_t step = point.costliest_step();
    if (step == 0) {
        return "nothing";
    }
    double all = 0.0;
    for (const double lost : point.lost_s) {
        all += std::max(0.0, lost);
    }
    return fmt::format("{} {} ({:.0f} % of the loss)", step, model::kStepNames[step - 1],
                       100.0 * point.lost_s[step - 1] / all);
}

std::string layer_lines(const analysis::CoresReport& r) {
    std::string text = fmt::format("\n{} {:>11} {:>11} {:>8}  fastest on\n", left("layer", 24),
                                   "one core", "all cores", "speedup");
    for (const analysis::CoresLayer& layer : r.layers) {
        text +=
            fmt::format("{} {:>11} {:>11} {:>7.2f}x  {}\n", left(masked_controls(layer.name), 24),
                        format_si(layer.seconds.front(), "s"), format_si(layer.seconds.back(), "s"),
                        layer.seconds.front() / layer.seconds.back(),
                        counted(r.points[layer.best].cores, "core"));
    }
    return text;
}

// The time on all cores, what limits the scaling, and the best schedule.
std::string answer_lines(const analysis::CoresReport& r) {
    const analysis::CoresPoint& all = r.points.back();
    const double faster = speed_up(r, all);
    std::string text =
        fmt::format("{} on {} · {:.2f}x one core · {:.1f} % of linear scaling\nBound by {}\n",
                    format_si(all.time_s, "s"), counted(all.cores, "core"), faster,
                    100.0 * faster / static_cast<double>(all.cores), cause(all));
    std::string best = fmt::format("Best schedule: each layer on its best number of cores, {} per "
                                   "image",
                                   format_si(r.together.latency_s, "s"));
    if (r.pipeline) {
        best += fmt::format(
            "; as a pipeline over {}, one image per {} ({:.2f}x the throughput) with a latency of "
            "{}, proven optimal",
            counted(r.pipeline->stages.size(), "group") + " of cores",
            format_si(r.pipeline->interval_s, "s"), r.together.interval_s / r.pipeline->interval_s,
            format_si(r.pipeline->latency_s, "s"));
    }
    return text + wrapped(best, 0, kTextColumns);
}

Json schedule_json(const model::cores::Schedule& schedule) {
    Json stages = Json::array();
    for (const model::cores::Stage& stage : schedule.stages) {
        stages.push_back({{"first", stage.first},
                          {"last", stage.last},
                          {"cores", stage.cores},
                          {"time_s", stage.seconds},
                          {"transfer_s", stage.transfer_s}});
    }
    return {{"interval_s", schedule.interval_s},
            {"latency_s", schedule.latency_s},
            {"memory_s", schedule.shared_s},
            {"stages", std::move(stages)}};
}

} // namespace

std::string cores_text(const analysis::CoresReport& r) {
    std::string text =
        fmt::format("{}\nscaling over instances of {}\n{:>6} {:>9} {:>11} {:>8} {:>9} {:>8}  {}\n",
                    answer_lines(r), masked_controls(r.level), "cores", "grid", "time", "speedup",
                    "of linear", "util.", "bound by");
    for (const analysis::CoresPoint& point : r.points) {
        const double faster = speed_up(r, point);
        text += fmt::format("{:>6} {:>9} {:>11} {:>7.2f}x {:>8.1f}% {:>7.1f}%  {}\n", point.cores,
                            fmt::format("{} x {}", point.along_x, point.along_y),
                            format_si(point.time_s, "s"), faster,
                            100.0 * faster / static_cast<double>(point.cores),
                            100.0 * point.utilization, cause(point));
    }
    return text + layer_lines(r);
}

std::string cores_json(const analysis::CoresReport& r) {
    Json points = Json::array();
    for (const analysis::CoresPoint& point : r.points) {
        points.push_back({{"cores", point.cores},
                          {"grid", {point.along_x, point.along_y}},
                          {"time_s", point.time_s},
                          {"hops_s", point.hops_s},
                          {"speed_up", speed_up(r, point)},
                          {"utilization", point.utilization},
                          {"lost_s", point.lost_s}});
    }
    Json layers = Json::array();
    for (const analysis::CoresLayer& layer : r.layers) {
        layers.push_back({{"name", layer.name},
                          {"count", layer.count},
                          {"time_s", layer.seconds},
                          {"quickest_cores", r.points[layer.best].cores}});
    }
    const Json document = {{"schema", "eyeroof/cores/1"},
                           {"network", r.network},
                           {"machine", r.machine},
                           {"cores_are", r.level},
                           {"points", std::move(points)},
                           {"layers", std::move(layers)},
                           {"together", schedule_json(r.together)},
                           {"pipeline", r.pipeline ? schedule_json(*r.pipeline) : Json(nullptr)}};
    return json_document(document);
}

std::string cores_csv(const analysis::CoresReport& r) {
    std::string text = "cores,along_x,along_y,time_s,hops_s,speed_up,utilization,costliest_step\n";
    for (const analysis::CoresPoint& point : r.points) {
        text += fmt::format("{},{},{},{},{},{},{},{}\n", point.cores, point.along_x, point.along_y,
                            point.time_s, point.hops_s, speed_up(r, point), point.utilization,
                            point.costliest_step());
    }
    return text;
}

} // namespace eyeroof::report
