#include "study/sweep/front.hpp"

#include "model/base/suggest.hpp"
#include "model/base/units.hpp"
#include "study/draw/chart.hpp"
#include "study/text/csv.hpp"
#include "study/text/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace eyeroof::study {

using model::Result;

namespace {

std::optional<double> number_in(const std::string& cell) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    const bool whole = error == std::errc{} && end == cell.data() + cell.size();
    return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// Lower is better in all.
using Values = std::vector<double>;

std::optional<Values> values_of(const SweptTable& table, const std::vector<Aim>& aims,
                                std::size_t row) {
    Values values;
    for (const Aim& aim : aims) {
        const auto value = number_in(table.rows[row][*table.column(aim.column)]);
        if (!value) {
            return std::nullopt;
        }
        values.push_back(aim.most ? -*value : *value);
    }
    return values;
}

bool no_worse(const Values& a, const Values& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] > b[i]) {
            return false;
        }
    }
    return true;
}

} // namespace

Result<std::vector<Aim>> parse_aims(std::string_view text, const SweptTable& table) {
    std::vector<Aim> aims;
    model::Diagnostics found;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find(',', from), text.size());
        std::string name(text.substr(from, to - from));
        from = to + 1;
        const bool least = name.starts_with("min:");
        Aim aim{{}, name.starts_with("max:")};
        name = least || aim.most ? name.substr(4) : name;
        for (const std::string& column : table.columns) {
            if (column == name || (aim.column.empty() && column.starts_with(name + "_"))) {
                aim.column = column;
            }
        }
        aim.most = aim.most || (aim.column == "utilization" && !least);
        if (aim.column.empty() || name.empty()) {
            found.error("unknown-field", fmt::format("the results have no column '{}'", name),
                        model::suggestion(name, table.columns, 40));
        }
        aims.push_back(aim);
    }
    if (aims.size() < 2) {
        found.error("bad-sweep", "a front needs two columns or more", "as in --pareto time,energy");
    }
    return found.has_errors() ? Result<std::vector<Aim>>(std::move(found))
                              : Result<std::vector<Aim>>(std::move(aims));
}

std::vector<std::size_t> front_of(const SweptTable& table, const std::vector<Aim>& aims) {
    std::vector<std::pair<Values, std::size_t>> all;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        if (auto values = values_of(table, aims, row)) {
            all.emplace_back(*std::move(values), row);
        }
    }
    // In this order a row can be beaten only by one before it.
    std::sort(all.begin(), all.end());
    std::vector<std::size_t> kept; // indices into all
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool beaten = std::any_of(kept.rbegin(), kept.rend(), [&](std::size_t k) {
            return no_worse(all[k].first, all[i].first);
        });
        if (!beaten) {
            kept.push_back(i);
        }
    }
    for (std::size_t& k : kept) {
        k = all[k].second;
    }
    return kept;
}

std::string front_csv(const SweptTable& table, const std::vector<std::size_t>& front) {
    const auto line = [](const std::vector<std::string>& cells) {
        std::string text;
        for (const std::string& cell : cells) {
            text += (text.empty() ? "" : ",") + read::csv_quoted(cell);
        }
        return text + "\n";
    };
    std::string text = line(table.columns);
    for (const std::size_t row : front) {
        text += line(table.rows[row]);
    }
    return text;
}

std::string front_text(const SweptTable& table, const std::vector<Aim>& aims,
                       const std::vector<std::size_t>& front) {
    std::string text =
        fmt::format("{} of {} points are beaten by no other in", front.size(), table.rows.size());
    for (std::size_t i = 0; i < aims.size(); ++i) {
        text += fmt::format("{} {}{}", i == 0 ? "" : " and", aims[i].most ? "most " : "least ",
                            aims[i].column);
    }
    text += ".\n\n";
    std::vector<std::size_t> shown; // columns: the error is empty on a front
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        if (table.columns[c] != "error") {
            shown.push_back(c);
        }
    }
    const auto cell = [&](std::size_t row, std::size_t c) {
        const auto value = number_in(table.rows[row][c]);
        return value && *value != std::floor(*value) ? fmt::format("{:.5g}", *value)
                                                     : table.rows[row][c];
    };
    for (const std::size_t c : shown) {
        widths.push_back(table.columns[c].size());
        for (const std::size_t row : front) {
            widths.back() = std::max(widths.back(), cell(row, c).size());
        }
    }
    for (std::size_t i = 0; i < shown.size(); ++i) {
        text += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", table.columns[shown[i]], widths[i]);
    }
    text += "\n";
    for (const std::size_t row : front) {
        for (std::size_t i = 0; i < shown.size(); ++i) {
            text += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", cell(row, shown[i]), widths[i]);
        }
        text += "\n";
    }
    return text;
}

std::string front_plot_svg(const SweptTable& table, const std::vector<Aim>& aims,
                           const std::vector<std::size_t>& front, const std::string& title) {
    constexpr std::size_t kMostDots = 20'000; // a picture of more is a blot, and slow
    const auto place = [&](std::size_t row) {
        const auto x = number_in(table.rows[row][*table.column(aims[0].column)]);
        const auto y = number_in(table.rows[row][*table.column(aims[1].column)]);
        return x && y && *x > 0.0 && *y > 0.0 ? std::optional(std::pair(*x, *y)) : std::nullopt;
    };
    ChartLine points{"points", {}, false, true, false};
    const std::size_t every = table.rows.size() / kMostDots + 1;
    for (std::size_t row = 0; row < table.rows.size(); row += every) {
        if (const auto at = place(row)) {
            points.points.push_back(*at);
        }
    }
    ChartLine best{"front", {}, aims.size() == 2 && !aims[0].most && !aims[1].most, true};
    for (const std::size_t row : front) {
        if (const auto at = place(row)) {
            best.points.push_back(*at);
        }
    }
    Chart chart;
    chart.title = title;
    chart.x_title = aims[0].column;
    chart.y_title = aims[1].column;
    chart.lines = {points, best};
    return chart_svg(chart);
}

} // namespace eyeroof::study
