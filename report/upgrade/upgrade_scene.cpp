#include "report/upgrade/upgrade_scene.hpp"

#include "base/units.hpp"
#include "report/draw/linear_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace eyeroof::report {

namespace {

constexpr double kEdge = 14.0;
constexpr double kRowsTop = 76.0;
constexpr double kBar = 11.0;   // pixels of one bar
constexpr double kRowGap = 9.0; // between rows
constexpr std::size_t kMostName = 26;

// One row: the old time and one time a new GPU, all executions.
struct Row {
    std::string name;
    double from_s = 0.0;
    std::vector<double> to_s;
};

std::vector<Row> rows_of(const std::vector<analysis::Upgrade>& upgrades) {
    std::vector<Row> rows;
    const analysis::Upgrade& first = upgrades.front();
    const bool fleet = !first.members.empty();
    const std::size_t count = fleet ? first.members.size() : first.layers.size();
    for (std::size_t i = 0; i < count; ++i) {
        Row row;
        for (const analysis::Upgrade& u : upgrades) {
            if (fleet) { // of an old hour
                row.name = u.members[i].network;
                row.from_s = u.from_s * u.weights[i];
                row.to_s.push_back(row.from_s / u.members[i].speedup.value);
            } else {
                const auto executions = static_cast<double>(u.layers[i].count);
                row.name = u.layers[i].name;
                row.from_s = executions * u.layers[i].from_s;
                row.to_s.push_back(executions * u.layers[i].to_s);
            }
        }
        rows.push_back(std::move(row));
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.from_s > b.from_s; });
    return rows;
}

void add_legend(Drawing& d, const std::vector<analysis::Upgrade>& upgrades) {
    double x = kEdge;
    double y = 60.0;
    const auto entry = [&](ColourRole role, const std::string& text) {
        const double width = 15.0 + text_width(text, kSmallPx) + 14.0;
        if (x > kEdge && x + width > d.canvas.width - kEdge) {
            x = kEdge;
            y += 15.0;
        }
        d.boxes.push_back({{x, y - 9.0, 10.0, 10.0}, role, 1.0, false, ""});
        d.texts.push_back({{x + 15.0, y}, text, ColourRole::text, kSmallPx});
        x += width;
    };
    entry(ColourRole::frame, upgrades.front().from);
    for (std::size_t i = 0; i < upgrades.size(); ++i) {
        entry(series_role(i), upgrades[i].to);
    }
}

void add_row(Drawing& d, const Row& row, double top, double left, double per_second,
             const std::vector<analysis::Upgrade>& upgrades) {
    const double height = kBar * static_cast<double>(row.to_s.size() + 1);
    d.texts.push_back({{left - 8.0, top + height / 2.0 + 4.0},
                       shortened(row.name, kMostName),
                       ColourRole::text,
                       kSmallPx,
                       1.0});
    const auto bar = [&](std::size_t line, double seconds, ColourRole role,
                         const std::string& who) {
        d.boxes.push_back({{left, top + kBar * static_cast<double>(line),
                            std::max(1.0, seconds * per_second), kBar - 1.0},
                           role,
                           1.0,
                           false,
                           fmt::format("{} on {}: {}", row.name, who, format_si(seconds, "s", 4))});
    };
    bar(0, row.from_s, ColourRole::frame, upgrades.front().from);
    for (std::size_t i = 0; i < row.to_s.size(); ++i) {
        bar(i + 1, row.to_s[i], series_role(i), upgrades[i].to);
        d.texts.push_back(
            {{left + row.to_s[i] * per_second + 6.0, top + kBar * static_cast<double>(i + 2) - 2.0},
             fmt::format("{:.2f}x", row.from_s / row.to_s[i]),
             ColourRole::faint,
             kSmallPx - 1.0});
    }
}

DrawnTable bar_figures(const std::vector<Row>& rows,
                       const std::vector<analysis::Upgrade>& upgrades) {
    DrawnTable table;
    table.columns = {"name", upgrades.front().from + "_s"};
    for (const analysis::Upgrade& u : upgrades) {
        table.columns.push_back(u.to + "_s");
    }
    for (const Row& row : rows) {
        std::vector<DrawnTable::Cell> cells = {row.name, row.from_s};
        cells.insert(cells.end(), row.to_s.begin(), row.to_s.end());
        table.rows.push_back(std::move(cells));
    }
    return table;
}

std::string pair_name(const analysis::SweepPoint& point) {
    const auto side = [](const std::string& type) { return type.empty() ? "own" : type; };
    return point.from_dtype == point.to_dtype
               ? std::string(point.from_dtype.empty() ? "as in the network" : point.from_dtype)
               : fmt::format("{} → {}", side(point.from_dtype), side(point.to_dtype));
}

DrawnTable sweep_figures(const analysis::Upgrade& u) {
    DrawnTable table;
    table.columns = {"batch",       "precisions",   "from_s",  "to_s", "speedup",
                     "speedup_low", "speedup_high", "verdict", "fits"};
    for (const analysis::SweepPoint& p : u.sweep) {
        table.rows.push_back({static_cast<double>(p.batch), pair_name(p), p.from_s, p.to_s,
                              p.speedup.value, p.speedup.low, p.speedup.high,
                              std::string(analysis::verdict_name(p.verdict)),
                              std::string(p.from_fits && p.to_fits ? "both"
                                          : p.to_fits              ? u.to + " only"
                                          : p.from_fits            ? u.from + " only"
                                                                   : "neither")});
    }
    return table;
}

struct Sweep {
    std::vector<Count> batches;
    std::vector<std::string> pairs;
    std::map<std::pair<std::string, Count>, const analysis::SweepPoint*> at;
    double most = 1.0;
};

Sweep sorted_sweep(const analysis::Upgrade& u) {
    Sweep sweep;
    for (const analysis::SweepPoint& p : u.sweep) {
        if (std::find(sweep.batches.begin(), sweep.batches.end(), p.batch) == sweep.batches.end()) {
            sweep.batches.push_back(p.batch);
        }
        const std::string pair = pair_name(p);
        if (std::find(sweep.pairs.begin(), sweep.pairs.end(), pair) == sweep.pairs.end()) {
            sweep.pairs.push_back(pair);
        }
        sweep.at[{pair, p.batch}] = &p;
        sweep.most =
            std::max({sweep.most, p.speedup.high, std::isfinite(u.threshold) ? u.threshold : 0.0});
    }
    std::sort(sweep.batches.begin(), sweep.batches.end());
    return sweep;
}

void add_sweep_line(Drawing& d, const LinearPlot& plot, const Sweep& sweep, std::size_t line,
                    double needed) {
    const ColourRole role = series_role(line);
    DrawnLine through{{}, role, 1.8, line % 2 == 1 ? Dash::dashes : Dash::whole};
    // pairs of precisions beside each other, so that their intervals can be distinguished
    const double shift =
        (static_cast<double>(line) - (static_cast<double>(sweep.pairs.size()) - 1.0) / 2.0) * 7.0;
    for (std::size_t i = 0; i < sweep.batches.size(); ++i) {
        const auto found = sweep.at.find({sweep.pairs[line], sweep.batches[i]});
        if (found == sweep.at.end()) {
            continue;
        }
        const analysis::SweepPoint& p = *found->second;
        const double x = plot.x(static_cast<double>(i)) + shift;
        const double y = plot.y(p.speedup.value);
        through.through.push_back({x, y});
        d.lines.push_back({{{x, plot.y(p.speedup.low)}, {x, plot.y(p.speedup.high)}}, role, 1.4});
        const Box square{x - 4.0, y - 4.0, 8.0, 8.0};
        const std::string tip = fmt::format(
            "batch ×{}, {}: {:.2f}x ({:.2f} … {:.2f}) as fast, {}{}", p.batch, sweep.pairs[line],
            p.speedup.value, p.speedup.low, p.speedup.high, analysis::verdict_name(p.verdict),
            p.to_fits ? "" : "; does not fit the memory");
        d.boxes.push_back({square, p.to_fits ? role : ColourRole::plot, 1.0, false, tip});
        d.boxes.push_back({square, role, 1.0, true, tip});
        const bool on_line = y > needed && y < needed + 20.0; // the value would lie on the line
        d.texts.push_back({{x + 7.0, y + (on_line ? 15.0 : -6.0)},
                           fmt::format("{:.2f}", p.speedup.value),
                           ColourRole::text,
                           kSmallPx,
                           0.0,
                           false,
                           true});
    }
    d.lines.push_back(std::move(through));
}

// The line of what must be reached; its text stands at the end that is further from the values.
void add_needed(Drawing& d, const LinearPlot& plot, const Sweep& sweep, double threshold) {
    const double needed = plot.y(threshold);
    const auto distance = [&](Count batch) {
        double least = plot.box.height;
        for (const auto& [key, point] : sweep.at) {
            if (key.second == batch) {
                least = std::min(least, std::abs(plot.y(point->speedup.value) - needed));
            }
        }
        return least;
    };
    const bool right = distance(sweep.batches.back()) > distance(sweep.batches.front());
    d.lines.push_back(
        {{{plot.box.left, needed}, {plot.box.right(), needed}}, ColourRole::text, 1.4});
    d.texts.push_back({{right ? plot.box.right() - 6.0 : plot.box.left + 6.0, needed + 13.0},
                       fmt::format("{:.2f} is needed", threshold),
                       ColourRole::text,
                       kSmallPx,
                       right ? 1.0 : 0.0,
                       false,
                       true});
}

} // namespace

Drawing make_upgrade_bars(const std::vector<analysis::Upgrade>& upgrades, const Canvas& canvas) {
    Drawing d;
    d.canvas = {std::max(canvas.width, 260.0), std::max(canvas.height, 140.0)};
    if (upgrades.empty()) {
        return d;
    }
    const bool fleet = !upgrades.front().members.empty();
    std::vector<Row> rows = rows_of(upgrades);
    add_heading(d, fleet ? "An hour of the old GPU, by network" : "The heaviest layers",
                fleet ? "what each network takes of it, and what is left on the others"
                      : upgrades.front().network + ", all executions together");
    add_legend(d, upgrades);
    if (rows.empty()) { // of a divided network
        return d;
    }
    const double row_height = kBar * static_cast<double>(upgrades.size() + 1) + kRowGap;
    const double room = (d.canvas.height - kRowsTop - kEdge) / row_height;
    rows.resize(std::min(rows.size(), static_cast<std::size_t>(std::max(1.0, room))));
    double names = 0.0;
    for (const Row& row : rows) {
        names = std::max(names, text_width(shortened(row.name, kMostName), kSmallPx));
    }
    const double left = kEdge + names + 8.0;
    const double longest =
        std::max(1e-12, std::max(rows.front().from_s, *std::max_element(rows.front().to_s.begin(),
                                                                        rows.front().to_s.end())));
    const double per_second = (d.canvas.width - left - kEdge - 46.0) / longest;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        add_row(d, rows[i], kRowsTop + row_height * static_cast<double>(i), left, per_second,
                upgrades);
    }
    d.figures = bar_figures(rows, upgrades);
    return d;
}

Drawing make_sweep(const analysis::Upgrade& u, const Canvas& canvas) {
    Drawing d;
    d.canvas = {std::max(canvas.width, 260.0), std::max(canvas.height, 180.0)};
    if (u.sweep.empty()) {
        add_heading(d, "Batches and precisions", "name some on the left");
        return d;
    }
    const Sweep sweep = sorted_sweep(u);
    add_heading(d, "Speedup over batch and precision",
                u.network + ", " + u.to + " against " + u.from);
    LinearPlot plot;
    plot.box = {48.0, kRowsTop + 12.0, d.canvas.width - 48.0 - 24.0,
                d.canvas.height - kRowsTop - 56.0};
    plot.x_min = -0.5;
    plot.x_max = static_cast<double>(sweep.batches.size()) - 0.5;
    plot.y_max = 1.12 * sweep.most;
    std::vector<double> ticks;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < sweep.batches.size(); ++i) {
        ticks.push_back(static_cast<double>(i));
        names.push_back(fmt::format("×{}", sweep.batches[i]));
    }
    add_axes(d, plot, ticks, names, round_ticks(0.0, plot.y_max, 6.0),
             "Batch, times the network's own", "");
    const double needed = plot.y(u.threshold);
    if (std::isfinite(u.threshold)) {
        add_needed(d, plot, sweep, u.threshold);
    }
    double x = kEdge;
    for (std::size_t i = 0; i < sweep.pairs.size(); ++i) {
        add_sweep_line(d, plot, sweep, i, needed);
        d.boxes.push_back({{x, 51.0, 10.0, 10.0}, series_role(i), 1.0, false, ""});
        d.texts.push_back({{x + 15.0, 60.0}, sweep.pairs[i], ColourRole::text, kSmallPx});
        x += 29.0 + text_width(sweep.pairs[i], kSmallPx);
    }
    d.texts.push_back({{kEdge, 78.0}, "Times faster", ColourRole::faint, kFontPx});
    d.figures = sweep_figures(u);
    return d;
}

} // namespace eyeroof::report
