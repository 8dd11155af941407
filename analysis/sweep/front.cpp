#include "analysis/sweep/front.hpp"

#include "base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

namespace {

// Lower is better in all.
using Values = std::vector<double>;

std::optional<Values> values_of(const SweptTable& table, const std::vector<Aim>& aims,
                                std::size_t row) {
    Values values;
    if (const auto error = table.column("error"); error && !table.rows[row][*error].empty()) {
        return std::nullopt;
    }
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
    Diagnostics found;
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
                        suggestion(name, table.columns, 40));
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

} // namespace eyeroof::analysis
