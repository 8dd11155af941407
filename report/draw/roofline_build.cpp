#include "report/draw/roofline_build.hpp"

#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/draw/roofline_points.hpp"
#include "report/draw/roofline_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace eyeroof::report {

namespace {

constexpr double kLeastRadius = 3.0;
constexpr double kMostRadius = 13.0;
constexpr std::size_t kManyPoints = 300; // from here on markers are small and translucent

// Time of all points of a machine and kind: what the areas of their markers are shares of.
std::map<std::pair<std::string, bool>, double> totals(const PlotInput& input) {
    std::map<std::pair<std::string, bool>, double> sums;
    for (const PlotPoint& point : input.points) {
        sums[{point.machine, point.measured}] += point.total_s();
    }
    return sums;
}

// Area, not radius, is proportional to the share of time.
double radius_of(double share, std::size_t points) {
    const double most = points > kManyPoints ? 7.0 : kMostRadius;
    const double least = points > 5 * kManyPoints ? 1.8 : kLeastRadius;
    return least + (most - least) * std::sqrt(std::clamp(share, 0.0, 1.0));
}

void judge(ScenePoint& point, const PlotPoint& source, const PlotInput& input,
           const std::set<std::string>& visible) {
    const analysis::PlotMachine* machine = find_machine(input, source.machine);
    const auto limit = machine == nullptr ? std::nullopt : limit_of(*machine, source, &visible);
    if (limit && limit->flops_per_s > 0.0) {
        point.roof_flops_per_s = limit->flops_per_s;
        point.roof = limit->by->name + (limit->by->measured ? ", measured" : "");
        point.of_bound = point.y / limit->flops_per_s;
        // A prediction may be above the outermost roof: what an inner memory holds need not come
        // from there. So may a measured time over bytes that no one counted.
        const bool counted_bytes = source.source.find("bytes as predicted") == std::string::npos;
        const bool certain = counted_bytes || limit->by->kind == analysis::RoofKind::compute;
        point.above_roof = source.measured && certain && point.of_bound > 1.0 + kAboveRoofTolerance;
    }
}

std::vector<std::pair<std::string, double>> levels_in_view(const PlotPoint& point,
                                                           const ViewState& view) {
    if (!point.has_place()) {
        return {};
    }
    if (view.level != kAllLevels) {
        return {{view.level, point.intensity(view.level)}};
    }
    std::vector<std::pair<std::string, double>> levels;
    for (const LevelBytes& entry : point.bytes) {
        levels.emplace_back(entry.level, point.intensity(entry.level));
    }
    return levels;
}

// At one of the levels in view.
ScenePoint point_at_level(const PlotInput& input, std::size_t index, const std::string& level,
                          double intensity) {
    const PlotPoint& source = input.points[index];
    ScenePoint point;
    point.id = source.id;
    point.name = source.name;
    point.source = index;
    point.level = level;
    point.x = intensity;
    point.y = source.flops_per_s();
    return point;
}

void add_points(RooflineScene& scene, const PlotInput& input, const ViewState& view,
                const PointIndices& heaviest_first, const std::set<std::string>& visible) {
    SeriesTable table(input, view);
    const auto sums = totals(input);
    std::size_t unplaced = 0;
    for (auto i = heaviest_first.rbegin(); i != heaviest_first.rend(); ++i) {
        const PlotPoint& source = input.points[*i];
        const std::pair whose{source.machine, source.measured};
        const double sum = sums.at(whose);
        const auto step = input.step_s.find(whose); // points of several runs may take longer
        const double whole = step == input.step_s.end() ? sum : std::max(sum, step->second);
        const double share = whole > 0.0 ? source.total_s() / whole : 0.0;
        bool placed = false;
        for (const auto& [level, intensity] : levels_in_view(source, view)) {
            if (!(intensity > 0.0)) {
                ++unplaced;
                continue;
            }
            ScenePoint point = point_at_level(input, *i, level, intensity);
            point.series = table.of(source, level, share);
            point.share = share;
            point.radius =
                radius_of(sum > 0.0 ? source.total_s() / sum : 0.0, heaviest_first.size());
            point.selected = view.selection.contains(source.id);
            judge(point, source, input, visible);
            scene.points.push_back(std::move(point));
            placed = true;
        }
        if (!placed) {
            scene.rest.push_back({*i, share});
        }
    }
    auto [series, place] = table.sorted();
    scene.series = std::move(series);
    for (ScenePoint& point : scene.points) {
        point.series = place[point.series];
    }
    for (SceneSeries& one : scene.series) {
        one.hidden = view.hidden_series.contains(one.key);
    }
    std::erase_if(scene.points, [&](const ScenePoint& point) {
        return scene.series[point.series].hidden; // the legend alone still shows it
    });
    if (unplaced > 0) {
        scene.warnings.push_back(fmt::format("{} not shown: their bytes at this level are unknown",
                                             counted(unplaced, "point")));
    }
    scene.point_opacity = scene.points.size() > kManyPoints ? 0.55 : 0.9;
}

// Joins each prediction with the measurement of the same name on the same machine, and a layer with
// itself on the next machine of the plot.
void add_links(RooflineScene& scene, const PlotInput& input) {
    if (scene.points.size() > 2 * kManyPoints) {
        return; // a thicket that hides what it joins
    }
    std::map<std::string, PointIndices> by_name;
    for (std::size_t i = 0; i < scene.points.size(); ++i) {
        const ScenePoint& point = scene.points[i];
        by_name[fmt::format("{}\n{}\n{}", point.level, point.name, input.points[point.source].nth)]
            .push_back(i);
    }
    const auto rank = [&](std::size_t i) {
        const PlotPoint& source = input.points[scene.points[i].source];
        return std::pair(machine_index(input, source.machine), source.measured);
    };
    for (auto& [name, members] : by_name) {
        std::stable_sort(members.begin(), members.end(),
                         [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
        for (std::size_t k = 0; k + 1 < members.size(); ++k) {
            const std::size_t from = members[k];
            const std::size_t to = members[k + 1];
            const bool ambiguous = rank(from) == rank(to); // two kernels of one name: not a pair
            if (!ambiguous) {
                scene.links.push_back({from, to, scene.points[to].y / scene.points[from].y});
            }
        }
    }
}

// With every level in view a level's roof wears the colour of its points.
ColourRole roof_colour(const RooflineScene& scene, const PlotInput& input, const ViewState& view,
                       const analysis::Roof& roof) {
    const Coloured by = coloured(input, view);
    if (by == Coloured::by_level && roof.kind == analysis::RoofKind::memory) {
        for (const ScenePoint& point : scene.points) {
            if (point.level == roof.key) {
                return scene.series[point.series].colour;
            }
        }
    }
    return by == Coloured::by_machine ? series_role(machine_index(input, roof.machine))
                                      : ColourRole::text;
}

const analysis::Roof* extreme(const std::vector<const analysis::Roof*>& roofs,
                              analysis::RoofKind kind) {
    const analysis::Roof* highest = nullptr;
    for (const analysis::Roof* roof : roofs) {
        if (roof->kind == kind && (highest == nullptr || roof->value > highest->value)) {
            highest = roof;
        }
    }
    return highest;
}

// Roofs of one machine: memory lines end at the highest arithmetic, arithmetic lines start at the
// fastest memory.
void add_machine_roofs(RooflineScene& scene, const PlotInput& input, const ViewState& view,
                       const analysis::PlotMachine& machine, const std::set<std::string>& visible) {
    std::vector<const analysis::Roof*> shown;
    for (const analysis::Roof& roof : machine.roofs) {
        if (visible.contains(roof.id) && roof.value > 0.0 && std::isfinite(roof.value)) {
            shown.push_back(&roof);
        }
    }
    const analysis::Roof* peak = extreme(shown, analysis::RoofKind::compute);
    const analysis::Roof* fastest = extreme(shown, analysis::RoofKind::memory);
    bool outermost = true;
    for (const analysis::Roof* roof : shown) {
        SceneRoof line{*roof, roof_colour(scene, input, view, *roof), false, kAxisLeast, kAxisMost};
        if (roof->kind == analysis::RoofKind::memory) {
            line.dashed = !outermost;
            outermost = false;
            line.to_x = peak != nullptr ? peak->value / roof->value : kAxisMost;
        } else {
            line.dashed = roof != peak;
            line.from_x = fastest != nullptr ? roof->value / fastest->value : kAxisLeast;
        }
        scene.roofs.push_back(std::move(line));
    }
    for (const analysis::Roof* memory : shown) {
        for (const analysis::Roof* compute : shown) {
            if (memory->kind == analysis::RoofKind::memory &&
                compute->kind == analysis::RoofKind::compute) {
                scene.ridges.push_back({machine.id, compute->id, memory->id,
                                        compute->value / memory->value, compute->value,
                                        roof_colour(scene, input, view, *memory)});
            }
        }
    }
}

// By the ridges in sight; none without any.
void add_zones(RooflineScene& scene) {
    if (scene.ridges.empty()) {
        return;
    }
    const auto [least, most] =
        std::ranges::minmax_element(scene.ridges, {}, [](const Ridge& r) { return r.x; });
    scene.zones.push_back({"memory-bound", kAxisLeast, least->x, ColourRole::series1});
    if (most->x > 1.02 * least->x) {
        scene.zones.push_back({"either, by the roof", least->x, most->x, ColourRole::series2});
    }
    scene.zones.push_back({"compute-bound", most->x, kAxisMost, ColourRole::series3});
}

// Everything in sight, with room for labels above and at the sides; whole when there is nothing.
void set_full_ranges(RooflineScene& scene) {
    double x_min = kAxisMost, x_max = kAxisLeast, y_min = kAxisMost, y_max = kAxisLeast;
    const auto include = [&](double x, double y) {
        x_min = std::min(x_min, x);
        x_max = std::max(x_max, x);
        y_min = std::min(y_min, y);
        y_max = std::max(y_max, y);
    };
    for (const ScenePoint& point : scene.points) {
        include(point.x, point.y);
    }
    for (const Ridge& ridge : scene.ridges) {
        include(ridge.x, ridge.y);
    }
    for (const SceneRoof& roof : scene.roofs) {
        if (roof.roof.kind == analysis::RoofKind::compute) {
            y_max = std::max(y_max, roof.roof.value);
            y_min = std::min(y_min, roof.roof.value);
        }
    }
    if (x_min > x_max) {
        x_min = 0.1;
        x_max = 100.0;
    }
    if (y_min > y_max) {
        y_min = 1e9;
        y_max = 1e13;
    }
    scene.full_x = legal({std::min(x_min / 2.5, x_max / 40.0), x_max * 4.0});
    scene.full_y = legal({std::min(y_min / 2.5, y_max / 30.0), y_max * 2.5});
}

void describe(RooflineScene& scene, const PlotInput& input, const ViewState& view) {
    std::vector<bool> in_sight(input.points.size(), false);
    for (const ScenePoint& point : scene.points) {
        in_sight.at(point.source) = true;
    }
    double seconds = 0.0;
    double all_seconds = 0.0;
    std::size_t above = 0;
    std::size_t sources = 0;
    for (std::size_t i = 0; i < input.points.size(); ++i) {
        const double own = input.points[i].total_s();
        all_seconds += own;
        seconds += in_sight[i] ? own : 0.0;
        sources += in_sight[i] ? 1 : 0;
    }
    std::size_t held_inside = 0;
    std::string_view held = "prediction";
    for (const ScenePoint& point : scene.points) {
        const bool inside = !point.above_roof && point.of_bound > 1.0 + kAboveRoofTolerance;
        held = inside && input.points[point.source].measured ? "point" : held;
        above += point.above_roof ? 1 : 0;
        held_inside += inside ? 1 : 0;
    }
    scene.title = input.title;
    scene.filters = active_filters(view);
    scene.subtitle =
        sources == input.points.size()
            ? counted(sources, "point") + "; size: share of the time"
            : fmt::format("{} of {} points, {:.0f} % of the time; size: share of the time", sources,
                          input.points.size(),
                          all_seconds > 0.0 ? 100.0 * seconds / all_seconds : 0.0);
    for (const ActiveFilter& filter : scene.filters) {
        scene.subtitle += "; " + filter.text;
    }
    const bool named = !view.level.empty() && view.level != kAllLevels;
    scene.x_title = fmt::format("Operational intensity (FLOP per byte of {})",
                                named                      ? view.level
                                : view.level == kAllLevels ? "each level"
                                                           : "the outermost memory");
    scene.y_title = "Performance (FLOP/s, a MAC is 2)";
    if (above > 0) {
        scene.warnings.push_back(fmt::format(
            "{} point{} above a roof by more than {:.0f} %: the measurement or the roof is wrong",
            above, above == 1 ? " is" : "s are", 100.0 * kAboveRoofTolerance));
    }
    if (held_inside > 0) {
        scene.notes.push_back(fmt::format("{} {}{} above a roof: an inner memory is expected "
                                          "to hold what {} read{} again",
                                          held_inside, held, held_inside == 1 ? " is" : "s are",
                                          held_inside == 1 ? "it" : "they",
                                          held_inside == 1 ? "s" : ""));
    }
}

} // namespace

namespace {

bool has_bytes_at(const PlotInput& input, const std::string& machine, const std::string& level) {
    return std::ranges::any_of(input.points, [&](const PlotPoint& point) {
        return point.machine == machine && point.intensity(level) > 0.0;
    });
}

} // namespace

std::set<std::string> needed_roofs(const PlotInput& input, const ViewState& view) {
    std::set<std::string> precisions;
    for (const PlotPoint& point : input.points) {
        if (point.has_place()) { // a conversion without operations needs no roof of its type
            precisions.insert(point.precision);
        }
    }
    std::set<std::string> ids;
    for (const analysis::PlotMachine& machine : input.machines) {
        const analysis::Roof* peak = nullptr;
        bool matched = false;
        std::string outermost;
        for (const analysis::Roof& roof : machine.roofs) {
            if (roof.kind == analysis::RoofKind::memory) {
                outermost = outermost.empty() ? roof.key : outermost;
                const bool in_view =
                    view.level == kAllLevels
                        ? has_bytes_at(input, machine.id, roof.key)
                        : roof.key == (view.level.empty() ? outermost : view.level);
                if (in_view) {
                    ids.insert(roof.id);
                }
                continue;
            }
            if (roof.key.empty() || precisions.contains(roof.key)) {
                ids.insert(roof.id);
                matched = true;
            }
            peak = peak == nullptr || roof.value > peak->value ? &roof : peak;
        }
        if (!matched && peak != nullptr) {
            ids.insert(peak->id);
        }
        for (const analysis::Roof& roof : machine.roofs) { // what was measured stands for it
            const auto is_it = [&](const analysis::Roof& other) {
                return other.measured && other.kind == roof.kind && other.key == roof.key &&
                       ids.contains(other.id);
            };
            if (!roof.measured && std::ranges::any_of(machine.roofs, is_it)) {
                ids.erase(roof.id);
            }
        }
    }
    return ids;
}

Result<RooflineScene> build_scene(const PlotInput& input, const ViewState& view) {
    const auto shown = points_in_view(input, view);
    if (!shown) {
        return Result<RooflineScene>(shown.diagnostics());
    }
    RooflineScene scene;
    const std::set<std::string> visible = view.roofs ? *view.roofs : needed_roofs(input, view);
    add_points(scene, input, view, *shown, visible);
    add_links(scene, input);
    for (const analysis::PlotMachine& machine : input.machines) {
        if (view.hidden_machines.contains(machine.id)) {
            continue;
        }
        add_machine_roofs(scene, input, view, machine, visible);
    }
    if (view.zones) {
        add_zones(scene);
    }
    set_full_ranges(scene);
    describe(scene, input, view);
    return scene;
}

} // namespace eyeroof::report
