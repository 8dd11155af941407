#include "report/roofline/roofline_answer.hpp"

#include "base/lines.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace eyeroof::report {

namespace {

constexpr std::size_t kTextRows = 20;   // of the plot
constexpr std::size_t kTextMargin = 14; // columns left of it, for the rates
constexpr std::size_t kLettered = 16;   // with a row of their own
constexpr std::string_view kLetters = "abcdefghijklmnop";

// A grid of characters over the ranges of the scene's axes.
class Grid {
  public:
    Grid(const PlotArea& area, std::size_t columns)
        : area_(area), columns_(columns),
          cells_(kTextRows, std::vector<std::string>(columns, " ")) {}

    std::size_t columns() const { return columns_; }
    double x_of(std::size_t column) const {
        return at(area_.x, (static_cast<double>(column) + 0.5) / static_cast<double>(columns_));
    }
    double y_of(std::size_t row) const {
        return at(area_.y, 1.0 - (static_cast<double>(row) + 0.5) / static_cast<double>(kTextRows));
    }
    // Nothing outside of the ranges.
    void put(double x, double y, const std::string& mark) {
        const double column = share(area_.x, x) * static_cast<double>(columns_);
        const double row = (1.0 - share(area_.y, y)) * static_cast<double>(kTextRows);
        if (column >= 0.0 && row >= 0.0 && column < static_cast<double>(columns_) &&
            row < static_cast<double>(kTextRows)) {
            cells_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = mark;
        }
    }
    std::string row(std::size_t row) const {
        std::string text;
        for (const std::string& cell : cells_[row]) {
            text += cell;
        }
        return text.substr(0, text.find_last_not_of(' ') + 1);
    }

  private:
    static double at(const LogRange& range, double share) {
        return range.min * std::pow(range.max / range.min, share);
    }
    static double share(const LogRange& range, double value) {
        return std::log(value / range.min) / std::log(range.max / range.min);
    }

    PlotArea area_;
    std::size_t columns_;
    std::vector<std::vector<std::string>> cells_;
};

void draw_roofs(const RooflineScene& scene, Grid& grid) {
    for (const SceneRoof& roof : scene.roofs) {
        const bool memory = roof.roof.kind == analysis::RoofKind::memory;
        for (std::size_t column = 0; column < grid.columns(); ++column) {
            const double x = grid.x_of(column);
            if (x >= roof.from_x && x <= roof.to_x) {
                grid.put(x, roof.y_at(x), memory ? "/" : "─");
            }
        }
    }
}

// Rates at the left of every fifth row, intensities below.
std::string drawn(const Grid& grid) {
    std::string text;
    for (std::size_t row = 0; row < kTextRows; ++row) {
        const std::string label = row % 5 == 2 ? format_si(grid.y_of(row), "FLOP/s") : "";
        text += right(label, kTextMargin - 2) + " │" + grid.row(row) + "\n";
    }
    std::string axis;
    std::string labels = right("FLOP/B", kTextMargin - 2) + "  ";
    for (std::size_t column = 0; column < grid.columns(); ++column) {
        const bool tick = column % 15 == 7;
        axis += tick ? "┴" : "─";
        if (tick) {
            const double x = grid.x_of(column);
            const std::string label =
                x < 1000.0 ? fmt::format("{:.3g}", x) : fmt::format("{:.0f}", x);
            labels.resize(std::max(labels.size(), kTextMargin + column - label.size() / 2), ' ');
            labels += label;
        }
    }
    return text + std::string(kTextMargin - 1, ' ') + "└" + axis + "\n" + labels + "\n";
}

// The roofs above the time, and the point that loses most of it to its roof; empty where several
// machines or kinds of points share the plot.
std::vector<std::string> roof_sentences(const RooflineScene& scene) {
    struct Below {
        std::string roof;
        double share = 0.0, reached = 0.0;
    };
    std::vector<Below> below;
    double all = 0.0;
    const ScenePoint* worst = nullptr;
    const auto lost = [](const ScenePoint& p) { return p.share * (1.0 - p.of_bound); };
    for (const ScenePoint& point : scene.points) {
        auto at = std::find_if(below.begin(), below.end(),
                               [&](const Below& b) { return b.roof == point.roof; });
        at = at == below.end() ? below.insert(at, {point.roof, 0.0, 0.0}) : at;
        at->share += point.share;
        at->reached += point.share * point.of_bound;
        all += point.share;
        worst = worst == nullptr || lost(point) > lost(*worst) ? &point : worst;
    }
    if (worst == nullptr || worst->roof.empty() || all > 1.0 + 1e-6) {
        return {};
    }
    std::stable_sort(below.begin(), below.end(),
                     [](const Below& a, const Below& b) { return a.share > b.share; });
    std::string text;
    for (const Below& b : below) {
        text += fmt::format("{}{} for {:.0f} % of the time, at {:.0f} % of it",
                            text.empty() ? "Below " : "; ", b.roof, 100.0 * b.share,
                            b.share > 0.0 ? 100.0 * b.reached / b.share : 0.0);
    }
    return {text,
            fmt::format("Largest gap: {}, {:.1f} % of the time at {:.1f} % of {}", worst->name,
                        100.0 * worst->share, 100.0 * worst->of_bound, worst->roof)};
}

// The plot in characters, heaviest points last: their letters lie over the others.
std::string plot_text(const RooflineScene& scene, std::size_t columns) {
    Grid grid(scene.area, columns - kTextMargin);
    draw_roofs(scene, grid);
    for (std::size_t i = 0; i < scene.points.size(); ++i) {
        const std::size_t rank = scene.points.size() - 1 - i;
        grid.put(scene.points[i].x, scene.points[i].y,
                 rank < kLettered ? std::string(1, kLetters[rank]) : std::string("·"));
    }
    return drawn(grid);
}

// A point, or a roof.
struct PlotRow {
    std::size_t rank = 0;
    const ScenePoint* point = nullptr;
    const PlotPoint* source = nullptr; // of the point
    const analysis::Roof* roof = nullptr;

    bool is_memory() const { return roof != nullptr && roof->kind == analysis::RoofKind::memory; }
};

std::vector<Column<PlotRow>> point_columns() {
    const auto scene = [](auto ScenePoint::*member) {
        using T = std::remove_cvref_t<decltype(std::declval<ScenePoint>().*member)>;
        return [member](const PlotRow& row) {
            return row.point == nullptr ? std::optional<T>() : std::optional<T>(row.point->*member);
        };
    };
    const auto source = [](auto PlotPoint::*member) {
        using T = std::remove_cvref_t<decltype(std::declval<PlotPoint>().*member)>;
        return [member](const PlotRow& row) {
            return row.point == nullptr ? std::optional<T>()
                                        : std::optional<T>(row.source->*member);
        };
    };
    const auto either = [](std::string PlotPoint::*of_point, std::string analysis::Roof::*of_roof) {
        return [of_point, of_roof](const PlotRow& row) {
            return row.point == nullptr ? row.roof->*of_roof : row.source->*of_point;
        };
    };
    const auto key = [](bool memory, auto of_point) {
        return [memory, of_point](const PlotRow& row) {
            return row.point != nullptr        ? of_point(row)
                   : row.is_memory() == memory ? row.roof->key
                                               : std::string();
        };
    };
    const auto kind = [](const PlotRow& row) {
        return row.point == nullptr   ? (row.is_memory() ? "roof_bytes_per_s" : "roof_flops_per_s")
               : row.source->measured ? "measured"
                                      : "predicted";
    };
    const auto roof_rate = [](const PlotRow& row) -> std::optional<double> {
        return row.point == nullptr      ? row.roof->value
               : row.point->roof.empty() ? std::optional<double>()
                                         : row.point->roof_flops_per_s;
    };
    const auto roof_name = [](const PlotRow& row) {
        return row.point != nullptr ? known_text(row.point->roof)
               : row.roof->measured ? std::optional<std::string>("measured")
                                    : std::optional<std::string>("described");
    };
    const auto letter = [](const PlotRow& row) {
        return row.rank < kLettered ? std::string(1, kLetters[row.rank]) : std::string("·");
    };
    std::vector<Column<PlotRow>> columns = {
        {"id", source(&PlotPoint::id), kJson},
        {"", "mark", Unit::none, letter, kText},
        {"kind", "kind", Unit::none, kind, kPrograms | kPages},
        {"machine", "machine", Unit::none, either(&PlotPoint::machine, &analysis::Roof::machine),
         kPrograms | kPages},
        {"name", "point", Unit::none, either(&PlotPoint::name, &analysis::Roof::name)},
        {"level", key(true, [](const PlotRow& row) { return row.point->level; })},
        {"", "time", Unit::share, scene(&ScenePoint::share), kPeople},
        {"intensity_flop_per_byte", "FLOP/B", Unit::none, scene(&ScenePoint::x)},
        {"rate_flops_per_s", "rate", Unit::flops_per_s, scene(&ScenePoint::y)},
        {"roof_flops_per_s", roof_rate},
        {"roof", roof_name},
        {"of_roof", "of roof", Unit::share, scene(&ScenePoint::of_bound), kAll,
         "rate over the roof above it"},
        {"", "below", Unit::none, roof_name, kPeople},
        {"time_s", source(&PlotPoint::time_s)},
        {"count", source(&PlotPoint::count)},
        {"share_of_time", scene(&ScenePoint::share)},
        {"precision", key(false, [](const PlotRow& row) { return row.source->precision; })},
        {"limiter_step", source(&PlotPoint::limiter_step)},
        {"limiter", "bound by", Unit::none, source(&PlotPoint::limiter), kPrograms | kPages},
        {"source", either(&PlotPoint::source, &analysis::Roof::source)},
        {"above_roof", scene(&ScenePoint::above_roof)}};
    return absent_if_unknown(std::move(columns));
}

std::vector<Column<PlotRow>> roof_columns() {
    using analysis::Roof;
    const auto of = [](auto Roof::*member) {
        return [member](const PlotRow& row) { return row.roof->*member; };
    };
    const auto rate = [](bool memory) {
        return [memory](const PlotRow& row) {
            return row.is_memory() == memory ? std::optional(row.roof->value) : std::nullopt;
        };
    };
    return absent_if_unknown<PlotRow>(
        {{"id", of(&Roof::id), kJson},
         {"kind", [](const PlotRow& r) { return r.is_memory() ? "memory" : "compute"; }, kJson},
         {"machine", "machine", Unit::none, of(&Roof::machine), kJson | kPages},
         {"name", "roof", Unit::none, of(&Roof::name), kJson | kPages},
         {"bytes_per_s", "bandwidth", Unit::bytes_per_s, rate(true), kJson | kPages},
         {"flops_per_s", "rate", Unit::flops_per_s, rate(false), kJson | kPages},
         {"measured", "measured", Unit::none, of(&Roof::measured), kJson | kPages,
          "by a benchmark, not the data sheet"},
         {"source", of(&Roof::source), kJson}});
}

} // namespace

Answer roofline_answer(const RooflineScene& scene, const PlotInput& input,
                       const std::string& words) {
    std::vector<PlotRow> points, roofs;
    for (auto point = scene.points.rbegin(); point != scene.points.rend(); ++point) {
        points.push_back({points.size(), &*point, &input.points.at(point->source)});
    }
    for (const SceneRoof& line : scene.roofs) {
        roofs.push_back({0, nullptr, nullptr, &line.roof});
    }
    std::vector<PlotRow> all = points;
    all.insert(all.end(), roofs.begin(), roofs.end());
    std::vector<Column<PlotRow>> columns = point_columns();
    for (Column<PlotRow>& column : columns) {
        column.head.where &= kCsv;
        column.head.title.clear(); // named by its key
    }
    Answer a;
    a.schema = "eyeroof/roofline/1";
    a.title = scene.title.empty() ? "Roofline" : scene.title;
    a.question = words.empty() ? scene.title : words;
    a.sentences = roof_sentences(scene);
    if (!scene.subtitle.empty()) {
        a.sentences.insert(a.sentences.begin(), scene.subtitle);
    }
    a.warnings = scene.warnings;
    a.figures = {{"title", "", scene.title}};
    a.tables = {make_table("points", "", points, point_columns()),
                make_table("roofs", "Roofs", roofs, roof_columns()),
                make_table("rows", "", all, columns)};
    a.tables.front().most_for_people = kLettered;
    a.rows = "rows";
    a.notes = scene.notes;
    a.plot_text = [scene](std::size_t width) { return plot_text(scene, width); };
    return a;
}

} // namespace eyeroof::report
