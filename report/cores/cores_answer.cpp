#include "report/cores/cores_answer.hpp"

#include "base/lines.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::report {

namespace {

using analysis::CoresLayer;
using analysis::CoresPoint;
using analysis::CoresReport;

std::string cause(const CoresPoint& point) {
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

// The time on all cores, what limits the scaling, and the best schedule.
std::vector<std::string> cores_sentences(const CoresReport& r) {
    if (r.points.empty()) {
        return {};
    }
    const CoresPoint& all = r.points.back();
    const double faster = r.points.front().time_s / all.time_s;
    std::vector<std::string> sentences = {
        fmt::format("{} on {}, {:.2f}x one core, {:.1f} % of linear scaling",
                    format_si(all.time_s, "s"), counted(all.cores, "core"), faster,
                    100.0 * faster / static_cast<double>(all.cores)),
        "Bound by " + cause(all),
        fmt::format("Best schedule: each layer on its best number of cores, {} per image",
                    format_si(r.together.latency_s, "s"))};
    if (r.pipeline) {
        sentences.back() += fmt::format(
            "; as a pipeline over {}, one image per {} ({:.2f}x the throughput) with a latency of "
            "{}, proven optimal",
            counted(r.pipeline->stages.size(), "group") + " of cores",
            format_si(r.pipeline->interval_s, "s"), r.together.interval_s / r.pipeline->interval_s,
            format_si(r.pipeline->latency_s, "s"));
    }
    return sentences;
}

AnswerTable points_of(const CoresReport& r) {
    const auto speed_up = [one = r.points.empty() ? 0.0 : r.points.front().time_s](
                              const CoresPoint& point) { return one / point.time_s; };
    const auto linear = [speed_up](const CoresPoint& point) {
        return speed_up(point) / static_cast<double>(point.cores);
    };
    return make_table<CoresPoint>(
        "points", "Scaling over instances of " + r.level, r.points,
        {{"cores", "cores", Unit::count, &CoresPoint::cores},
         {"along_x", "along x", Unit::count, &CoresPoint::along_x},
         {"along_y", "along y", Unit::count, &CoresPoint::along_y},
         {"time_s", "time", Unit::seconds, &CoresPoint::time_s},
         {"hops_s", "hops", Unit::seconds, &CoresPoint::hops_s, kPrograms,
          "of the time: inputs out to the last core and results back"},
         {"speed_up", "speedup", Unit::times, speed_up},
         {"", "of linear", Unit::share, linear, kPeople},
         {"utilization", "util.", Unit::share, &CoresPoint::utilization},
         {"costliest_step", "", Unit::count, &CoresPoint::costliest_step, kPrograms,
          "1 … 7; 0: nothing is lost"},
         {"lost_s", "", Unit::seconds,
          [](const CoresPoint& p) { return std::vector<double>(p.lost_s.begin(), p.lost_s.end()); },
          kPrograms, "by step, against one core's time divided by the cores"},
         {"", "bound by", Unit::none, cause, kPeople}});
}

AnswerTable layers_of(const CoresReport& r) {
    const auto one = [](const CoresLayer& layer) { return layer.seconds.front(); };
    const auto all = [](const CoresLayer& layer) { return layer.seconds.back(); };
    const auto best = [&points = r.points](const CoresLayer& layer) {
        return points[layer.best].cores;
    };
    return make_table<CoresLayer>(
        "layers", "Layers", r.layers,
        {{"name", "layer", Unit::none, &CoresLayer::name},
         {"count", "runs", Unit::count, &CoresLayer::count},
         {"", "one core", Unit::seconds, one, kPeople},
         {"", "all cores", Unit::seconds, all, kPeople},
         {"", "speedup", Unit::times, [=](const CoresLayer& l) { return one(l) / all(l); },
          kPeople},
         {"time_s", "", Unit::seconds, &CoresLayer::seconds, kPrograms,
          "of one execution, by point"},
         {"quickest_cores", "fastest on", Unit::count, best, kAll, "cores"}});
}

void add_schedule(Answer& a, const std::string& name,
                  const std::optional<model::cores::Schedule>& schedule) {
    using model::cores::Schedule;
    using model::cores::Stage;
    const auto figure = [&](const char* key, double Schedule::*member, const char* meaning) {
        a.figures.emplace_back(name + key, "",
                               schedule ? std::optional((*schedule).*member) : std::nullopt,
                               Unit::seconds, kPrograms, meaning);
    };
    figure(".interval_s", &Schedule::interval_s, "between two images; null: not asked for");
    figure(".latency_s", &Schedule::latency_s, "of one image");
    figure(".memory_s", &Schedule::shared_s, "of the memory that all cores share");
    a.tables.push_back(make_table<Stage>(
        name + ".stages", "", schedule ? schedule->stages : std::vector<Stage>(),
        {{"first", "", Unit::count, &Stage::first, kPrograms, "run of a layer, from 0"},
         {"last", "", Unit::count, &Stage::last, kPrograms},
         {"cores", "", Unit::count, &Stage::cores, kPrograms},
         {"time_s", "", Unit::seconds, &Stage::seconds, kPrograms},
         {"transfer_s", "", Unit::seconds, &Stage::transfer_s, kPrograms}}));
}

} // namespace

Answer cores_answer(const CoresReport& r) {
    Answer a;
    a.schema = "eyeroof/cores/2";
    a.title = fmt::format("{} on the cores of {}", r.network, r.machine);
    a.sentences = cores_sentences(r);
    a.figures = {{"network", "", r.network},
                 {"machine", "", r.machine},
                 {"cores_are", "", r.level, Unit::none, kPrograms, "the axis that counts them"}};
    a.tables = {points_of(r), layers_of(r)};
    add_schedule(a, "together", r.together);
    add_schedule(a, "pipeline", r.pipeline);
    return a;
}

} // namespace eyeroof::report
