#include "report/upgrade/break_even_scene.hpp"

#include "report/draw/linear_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {

constexpr double kCurveLeft = 58.0, kCurveRight = 16.0, kCurveTop = 76.0, kCurveBottom = 44.0;
constexpr double kMostCost = 2.0;  // the top of the plot: twice break-even
constexpr double kBandStrip = 2.0; // pixels of one strip of a band
constexpr double kMonths = 36.0;
constexpr double kMostMonths = 120.0;

Box plot_box(const Canvas& canvas, double left) {
    return {left, kCurveTop, canvas.width - left - kCurveRight,
            canvas.height - kCurveTop - kCurveBottom};
}

Canvas at_least(const Canvas& canvas) {
    return {std::max(canvas.width, 260.0), std::max(canvas.height, 180.0)};
}

// Between two curves of x, in strips.
template <class Curve>
void add_band(Drawing& d, const LinearPlot& plot, ColourRole role, Curve low, Curve high) {
    for (double x = plot.box.left; x < plot.box.right(); x += kBandStrip) {
        const double value = plot.x_min + (x + kBandStrip / 2.0 - plot.box.left) / plot.box.width *
                                              (plot.x_max - plot.x_min);
        const double a = plot.y(low(value));
        const double b = plot.y(high(value));
        if (std::abs(b - a) > 0.05) {
            d.boxes.push_back(
                {{x, std::min(a, b), std::min(kBandStrip, plot.box.right() - x), std::abs(b - a)},
                 role,
                 0.2});
        }
    }
}

void add_square(Drawing& d, double x, double y, ColourRole role, const std::string& tip) {
    d.boxes.push_back({{x - 4.5, y - 4.5, 9.0, 9.0}, role, 1.0, false, tip});
}

// Beside x, on the side where there is room.
void add_beside(Drawing& d, const LinearPlot& plot, double x, double y, const std::string& text,
                ColourRole role, bool bold) {
    const bool left = x + text_width(text, kSmallPx) + 12.0 > plot.box.right();
    d.texts.push_back(
        {{x + (left ? -8.0 : 8.0), y}, text, role, kSmallPx, left ? 1.0 : 0.0, bold, true});
}

// Where the prices say what is needed, and something is enough.
bool has_ratio(const analysis::Upgrade& u) {
    return u.money.priced && std::isfinite(u.money.break_even_speedup);
}

void add_cost_line(Drawing& d, const LinearPlot& plot, const analysis::Upgrade& u, ColourRole role,
                   bool chosen) {
    const double end = std::min(plot.x_max, kMostCost * u.speedup.value);
    d.lines.push_back({{{plot.x(0.0), plot.y(0.0)}, {plot.x(end), plot.y(end / u.speedup.value)}},
                       role,
                       chosen ? 2.4 : 1.4,
                       chosen ? Dash::whole : Dash::dashes});
    if (!chosen) { // at its own square: where two lines lie on each other it says which is whose
        const double along = has_ratio(u) ? std::min(u.money.break_even_speedup, end) : 0.8 * end;
        const double x = plot.x(along), y = plot.y(along / u.speedup.value);
        const bool left = x - 8.0 - text_width(u.to, kSmallPx) > plot.box.left;
        d.texts.push_back({{left ? x - 8.0 : x + 9.0, left ? y - 6.0 : y + 4.0},
                           u.to,
                           role,
                           kSmallPx,
                           left ? 1.0 : 0.0,
                           false,
                           true});
    }
    if (has_ratio(u)) {
        const double ratio = u.money.break_even_speedup;
        const double cost = ratio / u.speedup.value;
        add_square(d, plot.x(ratio), plot.y(cost), role,
                   fmt::format("{}: at these prices a run costs {:.0f} % of what it does now", u.to,
                               100.0 * cost));
    }
}

void add_chosen(Drawing& d, const LinearPlot& plot, const analysis::Upgrade& u, ColourRole role) {
    const double one = plot.y(1.0);
    const double even = plot.x(u.speedup.value);
    d.lines.push_back({{{even, one}, {even, plot.box.bottom()}}, role, 1.2, Dash::dashes});
    add_beside(d, plot, even, plot.box.bottom() - 7.0,
               fmt::format("breaks even at {:.2f}", u.speedup.value), ColourRole::text, false);
    if (has_ratio(u)) {
        const double ratio = u.money.break_even_speedup;
        const double x = plot.x(ratio);
        d.lines.push_back({{{x, plot.box.top}, {x, plot.box.bottom()}}, ColourRole::frame, 1.2});
        add_beside(d, plot, x, plot.box.top + 15.0,
                   fmt::format("these prices: {:.2f}, a run costs {:.0f} %", ratio,
                               100.0 * ratio / u.speedup.value),
                   ColourRole::text, true);
    }
}

DrawnTable cost_figures(const std::vector<analysis::Upgrade>& upgrades) {
    DrawnTable table;
    table.columns = {"to", "speedup", "speedup_low", "speedup_high", "price_ratio", "cost_ratio"};
    for (const analysis::Upgrade& u : upgrades) {
        const double ratio = has_ratio(u) ? u.money.break_even_speedup : std::nan("");
        table.rows.push_back(
            {u.to, u.speedup.value, u.speedup.low, u.speedup.high, ratio, ratio / u.speedup.value});
    }
    return table;
}

double saved_after(const analysis::Upgrade& u, double speedup, double months) {
    return months * (u.money.work_usd_per_month * speedup - u.money.power_usd_per_month -
                     u.money.host_usd_per_month) -
           *u.money.outlay_usd;
}

std::string dollars(double usd) {
    return fmt::format("{}${:.0f}", usd < 0.0 ? "−" : "", std::abs(usd));
}

std::string payback_text(const analysis::Upgrade& u) {
    return u.money.break_even_months
               ? fmt::format("paid back after {:.1f} months", *u.money.break_even_months)
               : std::string("never paid back at these prices");
}

struct Purchases {
    std::vector<const analysis::Upgrade*> known;
    double months = kMonths;
    double least = 0.0, most = 0.0; // USD
};

Purchases purchases_of(const std::vector<analysis::Upgrade>& upgrades) {
    Purchases p;
    for (const analysis::Upgrade& u : upgrades) {
        if (u.money.outlay_usd) {
            p.known.push_back(&u);
            p.months = std::max(p.months, 1.3 * u.money.break_even_months.value_or(0.0));
        }
    }
    p.months = std::min(p.months, kMostMonths);
    for (const analysis::Upgrade* u : p.known) {
        for (const double months : {0.0, p.months}) {
            p.least = std::min(p.least, saved_after(*u, u->speedup.value, months));
            p.most = std::max(p.most, saved_after(*u, u->speedup.value, months));
        }
    }
    p.most = std::max(p.most, -0.25 * p.least);
    return p;
}

void add_purchase(Drawing& d, const LinearPlot& plot, const analysis::Upgrade& u, ColourRole role,
                  bool chosen) {
    // cut where the line leaves the plot, not bent
    double end = plot.x_max;
    const double last = saved_after(u, u.speedup.value, end);
    const double first = saved_after(u, u.speedup.value, 0.0);
    if (last < plot.y_min && last < first) {
        end *= (first - plot.y_min) / (first - last);
    }
    d.lines.push_back({{{plot.x(0.0), plot.y(first)},
                        {plot.x(end), plot.y(saved_after(u, u.speedup.value, end))}},
                       role,
                       chosen ? 2.4 : 1.4,
                       chosen ? Dash::whole : Dash::dashes});
    if (u.money.break_even_months && *u.money.break_even_months <= plot.x_max) {
        const double x = plot.x(*u.money.break_even_months);
        add_square(d, x, plot.y(0.0), role, u.to + ": " + payback_text(u));
    }
}

} // namespace

Drawing make_break_even(const std::vector<analysis::Upgrade>& upgrades, std::size_t chosen,
                        const Canvas& canvas) {
    Drawing d;
    d.canvas = at_least(canvas);
    if (chosen >= upgrades.size()) {
        return d;
    }
    const analysis::Upgrade& u = upgrades[chosen];
    LinearPlot plot{plot_box(d.canvas, kCurveLeft), 0.0, 1.2, 0.0, kMostCost};
    for (const analysis::Upgrade& each : upgrades) {
        plot.x_max = std::max({plot.x_max, each.speedup.value,
                               has_ratio(each) ? each.money.break_even_speedup : 1.0});
    }
    plot.x_max = 1.3 * std::max(plot.x_max, u.speedup.high);
    add_heading(d, "Rented: when " + u.to + " pays", u.network + ", against " + u.from);
    add_axes(d, plot, round_ticks(0.0, plot.x_max, 7.0), {}, {0.0, 0.5, 1.0, 1.5, 2.0},
             "Hourly price of the new GPU / price of the old one",
             "Cost of a run / cost of staying");
    const auto cost_at = [](double speedup) {
        return [speedup](double ratio) { return ratio / speedup; };
    };
    add_band(d, plot, series_role(chosen), cost_at(u.speedup.low), cost_at(u.speedup.high));
    const double one = plot.y(1.0);
    d.lines.push_back({{{plot.box.left, one}, {plot.box.right(), one}}, ColourRole::text, 1.4});
    d.texts.push_back({{plot.box.left + 6.0, one - 5.0},
                       "break-even",
                       ColourRole::text,
                       kSmallPx,
                       0.0,
                       false,
                       true});
    for (std::size_t i = 0; i < upgrades.size(); ++i) {
        add_cost_line(d, plot, upgrades[i], series_role(i), i == chosen);
    }
    add_chosen(d, plot, u, series_role(chosen));
    d.figures = cost_figures(upgrades);
    return d;
}

Drawing make_payback(const std::vector<analysis::Upgrade>& upgrades, std::size_t chosen,
                     const Canvas& canvas) {
    Drawing d;
    d.canvas = at_least(canvas);
    const Purchases p = purchases_of(upgrades);
    if (p.known.empty() || chosen >= upgrades.size()) {
        add_heading(d, "Bought: when it is paid back",
                    "needs a price to buy the new GPU, and one for an hour of the old one");
        return d;
    }
    const analysis::Upgrade& u = upgrades[chosen];
    add_heading(d, "Bought: when " + u.to + " is paid back",
                u.money.outlay_usd ? fmt::format("{}, at {:.0f} % use", payback_text(u),
                                                 100.0 * u.money.utilization)
                                   : "no price to buy it is known");
    LinearPlot plot{plot_box(d.canvas, kCurveLeft + 12.0), 0.0, p.months, 1.1 * p.least,
                    1.1 * p.most};
    add_axes(d, plot, round_ticks(0.0, p.months, 8.0), {}, round_ticks(plot.y_min, plot.y_max, 6.0),
             "Months after the purchase", "Saved, in US dollars");
    const double none = plot.y(0.0);
    d.lines.push_back({{{plot.box.left, none}, {plot.box.right(), none}}, ColourRole::text, 1.4});
    std::size_t legend = 0;
    for (std::size_t i = 0; i < upgrades.size(); ++i) {
        const analysis::Upgrade& each = upgrades[i];
        if (!each.money.outlay_usd) {
            continue;
        }
        if (i == chosen) {
            const auto at = [&each](double speedup) {
                return
                    [&each, speedup](double months) { return saved_after(each, speedup, months); };
            };
            add_band(d, plot, series_role(i), at(each.speedup.low), at(each.speedup.high));
        }
        add_purchase(d, plot, each, series_role(i), i == chosen);
        const std::string label =
            fmt::format("{}: {} after {:.0f} months", each.to,
                        dollars(saved_after(each, each.speedup.value, kMonths)), kMonths);
        const double y = plot.box.top + 18.0 + 15.0 * static_cast<double>(legend++);
        d.boxes.push_back({{plot.box.left + 10.0, y - 9.0, 10.0, 10.0}, series_role(i)});
        d.texts.push_back(
            {{plot.box.left + 26.0, y}, label, ColourRole::text, kSmallPx, 0.0, i == chosen, true});
        d.figures.rows.push_back({each.to, *each.money.outlay_usd, each.speedup.value,
                                  each.money.break_even_months.value_or(std::nan("")),
                                  saved_after(each, each.speedup.value, kMonths)});
    }
    d.figures.columns = {"to", "outlay_usd", "speedup", "break_even_months",
                         "saved_after_36_months_usd"};
    return d;
}

} // namespace eyeroof::report
