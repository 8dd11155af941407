// Pareto fronts, capacity curves, and reached bounds. CSV and people have a row for each point of
// all layers; JSON has the points of each layer.
#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/draw/chart_scene.hpp"
#include "report/search/map_answer.hpp"
#include "report/search/map_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::report {

namespace {

using analysis::LayerAchievable;
using analysis::LayerCurve;
using analysis::LayerFront;

// A point, and the layer that it is of.
template <class Layer, class Point> struct PointOf {
    const Layer* layer = nullptr;
    const Point* point = nullptr;
};
using FrontPoint = PointOf<LayerFront, mapper::SearchResult>;
using CurvePoint = PointOf<LayerCurve, mapper::CapacityPoint>;

template <class Layer, class Point>
std::vector<PointOf<Layer, Point>> points_in(const Layer& layer, const std::vector<Point>& points) {
    std::vector<PointOf<Layer, Point>> rows;
    for (const Point& point : points) {
        rows.push_back({&layer, &point});
    }
    return rows;
}

template <class Row> void add_all(std::vector<Row>& to, const std::vector<Row>& more) {
    to.insert(to.end(), more.begin(), more.end());
}

std::string complete_text(bool complete, const char* all) {
    return complete ? all : "the time limit came first: there may be more points";
}

// What a chart is of: its one layer, or the network and how many of its layers.
template <class Layers> std::string subject(const std::string& network, const Layers& layers) {
    return layers.size() == 1 ? layers.front().layer
                              : fmt::format("{} layers of {}", layers.size(), network);
}

template <class Report>
Answer begun(const Report& report, const char* schema, const std::string& title) {
    Answer a;
    a.schema = schema;
    a.title = title;
    a.figures = {{"network", "", report.network},
                 {"machine", "", report.machine},
                 {"cancelled", "", report.cancelled}};
    if (report.cancelled) {
        a.warnings = {"cancelled: layers are missing or not complete"};
    }
    return a;
}

double cycles_of(const FrontPoint& p) {
    return p.point->latency.total_cycles();
}

double energy_pj(const FrontPoint& p) {
    return p.point->cost.energy_pj;
}

// In JSON inside of their layer; in CSV each with its layer's name.
std::vector<Column<FrontPoint>> front_columns(double units) {
    const auto used = [units](const FrontPoint& p) {
        return static_cast<double>(p.point->cost.macs) / (units * cycles_of(p));
    };
    const auto edp = [](const FrontPoint& p) { return 1e-12 * energy_pj(p) * cycles_of(p); };
    std::vector<Column<FrontPoint>> columns = {
        {"cycles", "cycles", Unit::none, cycles_of},
        {"energy_pj", "", Unit::none, energy_pj},
        {"", "energy", Unit::joules, [](const FrontPoint& p) { return 1e-12 * energy_pj(p); },
         kPeople},
        {"utilization", "util.", Unit::share, used},
        {"", "EDP, J cycle", Unit::none, edp, kPeople}};
    add_certificate(columns, [](const FrontPoint& p) { return &p.point->certificate; });
    return columns;
}

std::vector<Column<CurvePoint>> curve_columns() {
    using mapper::CapacityPoint;
    const auto per_compulsory = [](const CurvePoint& p) {
        return p.point->traffic_bytes / p.layer->compulsory_bytes;
    };
    std::vector<Column<CurvePoint>> columns = {
        {"capacity_bytes", "capacity", Unit::bytes,
         [](const CurvePoint& p) { return p.point->capacity_bytes; }},
        {"traffic_bytes", "traffic", Unit::bytes,
         [](const CurvePoint& p) { return p.point->traffic_bytes; }},
        {"", "of compulsory", Unit::times, per_compulsory, kPeople}};
    for (const model::Operand o : model::kAllOperands) {
        const std::string name(operand_name(o));
        const std::size_t i = model::index(o);
        columns.emplace_back(
            "buffer_words." + name, name + " w", Unit::count,
            [i](const CurvePoint& p) { return p.point->buffer_words[i]; }, kAll,
            "words in the buffer; 0: passes by");
        columns.emplace_back("traffic_words." + name, "", Unit::count,
                             [i](const CurvePoint& p) { return p.point->traffic_words[i]; });
    }
    add_certificate(columns, [](const CurvePoint& p) { return &p.point->certificate; });
    return columns;
}

// The layer's name before the columns of its points.
template <class Row>
AnswerTable flat(const std::vector<Row>& rows, std::vector<Column<Row>> columns) {
    columns.insert(columns.begin(),
                   {"layer", "layer", Unit::none, [](const Row& row) { return row.layer->layer; }});
    return make_table("", "", rows, columns);
}

Chart front_chart_of(const analysis::FrontReport& report) {
    Chart chart;
    chart.title = fmt::format("{} on {}: what speed costs", subject(report.network, report.layers),
                              report.machine);
    chart.x_title = "cycles";
    chart.y_title = "energy, J";
    for (const LayerFront& layer : report.layers) {
        ChartLine line{"", {}, true, true};
        for (const FrontPoint& p : points_in(layer, layer.front.points)) {
            line.points.emplace_back(cycles_of(p), 1e-12 * energy_pj(p));
        }
        std::ranges::reverse(line.points); // energy falls as cycles rise
        line.label = fmt::format("{}{}, {}", report.layers.size() > 1 ? layer.layer + ": " : "",
                                 counted(line.points.size(), "point"),
                                 layer.front.complete ? "complete" : "not complete");
        chart.lines.push_back(std::move(line));
    }
    return chart;
}

std::string bytes_text(double value) {
    return format_si(value, "B", 4);
}

Chart curve_chart_of(const analysis::CurveReport& report) {
    constexpr std::size_t many = 60;
    Chart chart;
    chart.title = subject(report.network, report.layers) + ": what a buffer's capacity buys";
    chart.x_title = "capacity, bytes";
    chart.y_title = "traffic to memory, bytes";
    for (const LayerCurve& layer : report.layers) {
        const bool alone = report.layers.size() == 1;
        ChartLine line{
            alone ? "least traffic" : layer.layer, {}, true, layer.curve.points.size() <= many};
        for (const mapper::CapacityPoint& p : layer.curve.points) {
            line.points.emplace_back(static_cast<double>(p.capacity_bytes), p.traffic_bytes);
        }
        chart.lines.push_back(std::move(line));
        if (alone) {
            chart.marks.push_back({layer.compulsory_bytes,
                                   "compulsory " + bytes_text(layer.compulsory_bytes), false});
        }
    }
    if (!report.level.empty()) {
        const auto capacity = static_cast<double>(report.capacity_bytes);
        chart.marks.push_back({capacity, report.level + " " + bytes_text(capacity), true});
    }
    return chart;
}

void draw(Answer& a, Chart chart) {
    if (!chart.lines.empty()) {
        a.picture = [chart = std::move(chart)](const Canvas& canvas) {
            return draw_chart(chart, canvas);
        };
    }
}

// "conv1: 12 points; complete front: …", and what crosses the border of the marked level.
std::string curve_sentence(const analysis::CurveReport& report, const LayerCurve& layer) {
    std::string text =
        fmt::format("{}: {}; {}; compulsory (each tensor once) {}",
                    titled(layer.layer, layer.equals), counted(layer.curve.points.size(), "point"),
                    complete_text(layer.curve.complete, "no buffer does better"),
                    bytes_text(layer.compulsory_bytes));
    const double padding = layer.curve.compulsory_bytes - layer.compulsory_bytes;
    text +=
        padding > 0.0 ? fmt::format(", mappings also read {} of padding", bytes_text(padding)) : "";
    return report.level.empty()
               ? text
               : text + fmt::format("; {} of {} holds {}: {}", report.level, report.machine,
                                    bytes_text(static_cast<double>(report.capacity_bytes)),
                                    layer.traffic_bytes ? bytes_text(*layer.traffic_bytes) +
                                                              " at the least cross its border"
                                                        : "less than the smallest tiles need");
}

// A step's bound, and how far the best mapping stays below it.
struct ReachedStep {
    const LayerAchievable* layer = nullptr;
    std::size_t step = 0;

    double bound() const { return layer->bounds[step].macs_per_cycle; }
    double reached() const { return layer->achievable.macs_per_cycle[step]; }
    // As a share of the bound. What is closer than rounding is reached.
    double open() const {
        constexpr double rounding = 1e-9;
        const double open = 1.0 - reached() / bound();
        return open > rounding ? open : 0.0;
    }
};

std::vector<ReachedStep> steps_of(const LayerAchievable& layer) {
    std::vector<ReachedStep> steps;
    for (std::size_t step = 0; step < layer.achievable.macs_per_cycle.size(); ++step) {
        steps.push_back({&layer, step});
    }
    return steps;
}

std::vector<Column<ReachedStep>> reach_columns(double units) {
    const auto of_all = [units](const ReachedStep& s) {
        return std::min(1.0, s.reached() / units);
    };
    return {
        {"step", "step", Unit::count, [](const ReachedStep& s) { return s.step + 1; }},
        {"name", "name", Unit::none,
         [](const ReachedStep& s) { return std::string(model::kStepNames[s.step]); }},
        {"bound_macs_per_cycle", "bound", Unit::none, &ReachedStep::bound, kAll, "MAC/cycle"},
        {"reached_macs_per_cycle", "reached", Unit::none, &ReachedStep::reached, kAll, "MAC/cycle"},
        {"", "of all", Unit::share, of_all, kPeople},
        {"open", "open", Unit::share, &ReachedStep::open, kAll, "1 - reached / bound"}};
}

} // namespace

Answer front_answer(const analysis::FrontReport& report, const model::Accelerator& accelerator,
                    bool details) {
    Answer a = begun(report, "eyeroof/front/1",
                     fmt::format("{} on {}: what speed costs", report.network, report.machine));
    std::vector<FrontPoint> all;
    for (const LayerFront& layer : report.layers) {
        add_all(all, points_in(layer, layer.front.points));
        a.sentences.push_back(fmt::format(
            "{} on {}: {} from least energy to least latency; {}",
            titled(layer.layer, layer.equals), report.machine,
            counted(layer.front.points.size(), "mapping"),
            complete_text(layer.front.complete,
                          "complete front: no other mapping improves both latency and energy")));
    }
    const auto nest = nest_column<FrontPoint>(
        [&](const FrontPoint& p) { return nest_of(p.point->mapping, accelerator); }, kAll);
    std::vector<Column<FrontPoint>> columns = front_columns(report.units);
    std::vector<Column<FrontPoint>> seen = columns;
    columns.push_back(nest);
    if (details) {
        seen.push_back(nest);
    }
    a.tables = {
        flat(all, seen),
        make_table<LayerFront>(
            "layers", "", report.layers,
            {{"layer", "", Unit::none, &LayerFront::layer},
             {"equals", "", Unit::none, &LayerFront::equals, kPrograms, "layers of the same shape"},
             {"complete", "", Unit::none,
              [](const LayerFront& layer) { return layer.front.complete; }},
             nested<LayerFront, FrontPoint>(
                 "points", "", [](const LayerFront& l) { return points_in(l, l.front.points); },
                 columns, kPrograms)})};
    draw(a, front_chart_of(report));
    return a;
}

Answer capacity_answer(const analysis::CurveReport& report) {
    Answer a =
        begun(report, "eyeroof/capacity/1", report.network + ": what a buffer's capacity buys");
    const bool marked = !report.level.empty();
    a.figures.emplace_back("level.name", "", marked ? std::optional(report.level) : std::nullopt,
                           Unit::none, kPrograms, "whose capacity is marked; null: none is");
    a.figures.emplace_back("level.capacity_bytes", "",
                           marked ? std::optional(report.capacity_bytes) : std::nullopt,
                           Unit::bytes);
    std::vector<CurvePoint> all;
    for (const LayerCurve& layer : report.layers) {
        add_all(all, points_in(layer, layer.curve.points));
        a.sentences.push_back(curve_sentence(report, layer));
    }
    a.tables = {
        flat(all, curve_columns()),
        make_table<LayerCurve>(
            "layers", "", report.layers,
            {{"layer", "", Unit::none, &LayerCurve::layer},
             {"equals", "", Unit::none, &LayerCurve::equals},
             {"compulsory_bytes", "", Unit::bytes, &LayerCurve::compulsory_bytes},
             {"complete", "", Unit::none,
              [](const LayerCurve& layer) { return layer.curve.complete; }},
             {"level_traffic_bytes", "", Unit::bytes, &LayerCurve::traffic_bytes},
             nested<LayerCurve, CurvePoint>(
                 "points", "", [](const LayerCurve& l) { return points_in(l, l.curve.points); },
                 curve_columns(), kPrograms)})};
    draw(a, curve_chart_of(report));
    return a;
}

Answer reach_answer(const analysis::AchievableReport& report) {
    Answer a = begun(
        report, "eyeroof/reach/1",
        fmt::format("{} on {}: bounds that a mapping reaches", report.network, report.machine));
    a.sentences = {
        fmt::format("MAC/cycle: bound of each step, and the best mapping's ({})", report.space)};
    a.figures.emplace_back("space", "", report.space);
    a.figures.emplace_back("units", "", report.units);
    std::vector<ReachedStep> all;
    for (const LayerAchievable& layer : report.layers) {
        add_all(all, steps_of(layer));
        if (!layer.achievable.proved) {
            a.warnings.push_back(titled(layer.layer, layer.equals) +
                                 ": not proven, the time limit came before the end of a search");
        }
    }
    std::vector<Column<ReachedStep>> seen = reach_columns(report.units);
    seen.emplace_back("proved", "", Unit::none,
                      [](const ReachedStep& s) { return s.layer->achievable.proved; });
    a.tables = {flat(all, seen),
                make_table<LayerAchievable>(
                    "layers", "", report.layers,
                    {{"layer", "", Unit::none, &LayerAchievable::layer},
                     {"equals", "", Unit::none, &LayerAchievable::equals, kPrograms,
                      "layers of the same shape"},
                     {"proved", "", Unit::none,
                      [](const LayerAchievable& layer) { return layer.achievable.proved; }},
                     nested<LayerAchievable, ReachedStep>(
                         "steps", "", steps_of, reach_columns(report.units), kPrograms)})};
    return a;
}

} // namespace eyeroof::report
