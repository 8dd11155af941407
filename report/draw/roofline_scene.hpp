// What a roofline plot shows, as values: axes, roofs, ridges, points, links, labels in their
// places. Made from inputs and a view; roofline_drawing lowers it to a Drawing, and what asks
// what is below a pointer asks it here.
//
// Roofline: Williams, Waterman, Patterson, CACM 52(4), 2009; per level: Ilic, Pratas, Sousa, IEEE
// CAL 13(1), 2014. Both axes are logarithmic, so a bandwidth is a line of slope one.
#pragma once

#include "base/result.hpp"
#include "report/draw/canvas.hpp"
#include "report/draw/geometry.hpp"
#include "report/draw/plot_input.hpp"
#include "report/draw/view_state.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::report {

// A level name for ViewState::level: one point a level, each at that level's intensity.
inline constexpr const char* kAllLevels = "all";
// Measured above the roof by more than this share is an error of the measurement or of the roof.
inline constexpr double kAboveRoofTolerance = 0.03;

// The rectangle of the plot and what it shows: pixels to values and back.
struct PlotArea {
    Box box;
    LogRange x{1e-2, 1e3};
    LogRange y{1e9, 1e15};

    Place place_of(double x_value, double y_value) const;
    double x_at(double pixel) const;
    double y_at(double pixel) const;
    bool operator==(const PlotArea&) const = default;
};

// place_of for thousands of points of one area: what does not depend on the point is computed once.
class Placer {
  public:
    explicit Placer(const PlotArea& area);
    Place operator()(double x_value, double y_value) const;

  private:
    double left_, bottom_, per_x_, per_y_; // pixels, and pixels per e-fold
    double log_x_, log_y_;                 // of the least values
};

struct SceneRoof {
    analysis::Roof roof;
    ColourRole colour = ColourRole::frame;
    bool dashed = false;
    // In values; compute roofs start and memory roofs end at the outermost ridge in sight.
    double from_x = 1.0, to_x = 1.0;

    double y_at(double x) const {
        return roof.kind == analysis::RoofKind::memory ? roof.value * x : roof.value;
    }
    bool operator==(const SceneRoof&) const = default;
};

struct Ridge {
    std::string machine;
    std::string compute, memory; // ids of the roofs that meet
    double x = 1.0, y = 1.0;
    ColourRole colour = ColourRole::frame;

    bool operator==(const Ridge&) const = default;
};

struct SceneSeries {
    std::string name;
    std::string key; // the same whatever limits its points: of ViewState::hidden_series
    Marker marker = Marker::circle;
    ColourRole colour = ColourRole::series1;
    bool hollow = false;
    std::size_t count = 0;
    bool hidden = false; // its points are not in the scene; the legend still names it

    bool operator==(const SceneSeries&) const = default;
};

// What bounds below the visible roofs, by intensity: memory left of every ridge, arithmetic right
// of every ridge, between them either, by the roof.
struct SceneZone {
    std::string name;
    double from_x = 1.0, to_x = 1.0;
    ColourRole colour = ColourRole::series1;

    bool operator==(const SceneZone&) const = default;
};

struct ScenePoint {
    std::string id;
    std::string name;
    std::size_t source = 0; // index into PlotInput::points
    std::size_t series = 0;
    std::string level; // whose bytes gave x
    double x = 1.0, y = 1.0;
    double radius = 4.0;           // pixels
    double share = 0.0;            // of the step; see PlotInput::step_s
    double of_bound = 0.0;         // y over what the visible roofs allow; 0 without roofs
    double roof_flops_per_s = 0.0; // what they allow
    std::string roof;              // name of the one that allows least
    bool above_roof = false;
    bool selected = false;

    bool operator==(const ScenePoint&) const = default;
};

// From a prediction to its measurement, or from one machine's layer to the next one's.
struct SceneLink {
    std::size_t from = 0, to = 0; // indices into points
    double ratio = 1.0;           // rate at `to` over rate at `from`

    bool operator==(const SceneLink&) const = default;
};

// A point that the filters let through and that has no place: no operations, or no bytes.
struct SceneRest {
    std::size_t source = 0; // index into PlotInput::points
    double share = 0.0;     // as ScenePoint::share

    bool operator==(const SceneRest&) const = default;
};

enum class LabelKind { roof, ridge, point };

struct SceneLabel {
    LabelKind kind = LabelKind::point;
    std::string id; // of the roof or the point
    std::string text;
    Place start; // pixels; where the baseline starts
    double width = 0.0;
    double degrees = 0.0; // clockwise on screen
    ColourRole colour = ColourRole::text;

    bool operator==(const SceneLabel&) const = default;
};

struct LegendEntry {
    std::size_t series = 0;
    Place marker; // pixels
    Place text;
    std::string name;

    bool operator==(const LegendEntry&) const = default;
};

struct ActiveFilter {
    std::string key; // field of ViewState: "filter", "top" …
    std::string text;

    bool operator==(const ActiveFilter&) const = default;
};

struct RooflineScene {
    Canvas canvas;
    std::string title;
    std::string low_title; // of a low canvas: empty where the series need its row
    std::string subtitle;  // how many points, how much of the time, which filters
    std::string x_title, y_title;
    PlotArea area;
    LogRange full_x, full_y; // what shows everything
    std::vector<Tick> x_ticks, y_ticks;
    std::vector<SceneRoof> roofs;
    std::vector<Ridge> ridges;
    std::vector<SceneZone> zones; // where the view asks for them
    std::vector<SceneSeries> series;
    std::vector<ScenePoint> points; // heaviest last, so that light ones are not hidden below
    std::vector<SceneRest> rest;    // heaviest last
    std::vector<SceneLink> links;
    std::vector<SceneLabel> labels;
    std::vector<LegendEntry> legend;
    std::vector<ActiveFilter> filters;
    std::vector<std::string> warnings;
    std::vector<std::string> notes; // explanations of points that look wrong but are correct
    double point_opacity = 1.0;

    bool operator==(const RooflineScene&) const = default;
};

// Errors: "bad-regex".
Result<RooflineScene> make_scene(const PlotInput& input, const ViewState& view,
                                 const Canvas& canvas = {});

// The same scene on another canvas or with other ranges: axes, ticks, legend and labels only. What
// zooming calls; all else stays.
void lay_out(RooflineScene& scene, const ViewState& view, const Canvas& canvas);

std::vector<ActiveFilter> active_filters(const ViewState& view);
void remove_filter(ViewState& view, const std::string& key);

// The nearest point whose marker is within `reach` pixels of a place; heavier ones win ties.
std::optional<std::size_t> point_at(const RooflineScene& scene, Place place, double reach = 4.0);
// The series whose legend entry is there, shown or hidden.
std::optional<std::size_t> legend_at(const RooflineScene& scene, Place place);
std::vector<std::size_t> points_in(const RooflineScene& scene, const Box& box);
// The nearest visible roof within `reach` pixels.
std::optional<std::size_t> roof_at(const RooflineScene& scene, Place place, double reach = 5.0);

// All about one point, or one roof, as rows of two texts: what hover cards and detail panes show.
struct CardRow {
    std::string what, value;

    bool operator==(const CardRow&) const = default;
};
std::vector<CardRow> card_of(const PlotInput& input, const ScenePoint& point);
std::vector<CardRow> card_of(const PlotInput& input, const SceneRoof& roof);

} // namespace eyeroof::report
