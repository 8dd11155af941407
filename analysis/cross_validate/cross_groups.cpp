// The errors of a cross-validation's folds, by operator, type, direction and GPU.
#include "analysis/cross_validate/cross_folds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

namespace eyeroof::analysis {

namespace {

using Key = std::tuple<std::string, std::string, std::string>; // op, dtype, direction

Key key_of(const model::Layer& layer) {
    return {std::string(model::op_name(layer.op)),
            std::string(model::data_type_name(layer.types.input)),
            layer.direction == model::Direction::fwd ? "fwd" : "gradient"};
}

// Held-out rows in two halves: each is judged by the other's quantiles.
void judge_held(const std::vector<const Case*>& tested, CrossGroup& group) {
    constexpr std::size_t kFewest = 8;
    std::array<std::vector<double>, 2> halves;
    for (std::size_t i = 0; i < tested.size(); ++i) {
        halves[i % 2].push_back(tested[i]->row.measured_s / tested[i]->fitted_s);
    }
    if (halves[1].size() < kFewest) {
        return;
    }
    double inside = 0.0;
    for (std::size_t h = 0; h < 2; ++h) {
        const Band band = another_day(halves[1 - h]);
        for (const double ratio : halves[h]) {
            inside += band.holds(ratio) ? 1.0 : 0.0;
        }
    }
    group.held_out_inside = inside / static_cast<double>(tested.size());
}

double error_of(double predicted, const Case& c) {
    return std::fabs(predicted / c.row.measured_s - 1.0);
}

CrossGroup group_of(const ClassFolds& all, const Fold& fold, const Key& key,
                    const std::vector<const Case*>& cases) {
    CrossGroup g{fold.id,
                 std::get<0>(key),
                 std::get<1>(key),
                 std::get<2>(key),
                 static_cast<int>(cases.size()),
                 0.0,
                 {},
                 {},
                 {},
                 {},
                 {},
                 {}};
    std::vector<const Case*> tested;
    double fitted = 0.0;
    double held = 0.0;
    double left = 0.0;
    double one = 0.0;
    double inside = 0.0;
    const FitRow& first = cases.front()->row;
    const auto elsewhere = band_of_others(all, &fold, first.kind());
    const Band band = elsewhere.value_or(Band{});
    const auto n = static_cast<double>(cases.size());
    const auto told = static_cast<double>(
        std::count_if(cases.begin(), cases.end(), [](const Case* c) { return c->left_s > 0.0; }));
    for (const Case* c : cases) {
        g.naive += error_of(c->naive_s, *c) / n;
        if (c->left_s > 0.0) {
            left += error_of(c->left_s, *c) / told;
            one += error_of(c->one_s, *c) / told;
            inside += band.holds(c->row.measured_s / c->left_s) ? 1.0 / told : 0.0;
        }
        (c->tested ? held : fitted) += error_of(c->fitted_s, *c);
        if (c->tested) {
            tested.push_back(c);
        }
    }
    const auto held_rows = static_cast<double>(tested.size());
    if (fold.has_held && held_rows > 0.0 && held_rows < n) {
        g.held_out = held / held_rows;
        g.fitted = fitted / (n - held_rows);
        judge_held(tested, g);
    }
    if (fold.has_left && told > 0.0) {
        g.left_out = left;
        g.one_figure = one;
        g.left_out_inside = elsewhere ? std::optional(inside) : std::nullopt;
    }
    return g;
}

} // namespace

void add_groups(const ClassFolds& all, std::vector<CrossGroup>& groups) {
    for (const Fold& fold : all.folds) {
        std::map<Key, std::vector<const Case*>> by_key;
        for (const Case& c : fold.cases) {
            by_key[key_of(*c.row.layer)].push_back(&c);
        }
        for (const auto& [key, cases] : by_key) {
            groups.push_back(group_of(all, fold, key, cases));
        }
    }
}

void add_leaders(const ClassFolds& all, std::vector<LeaderRow>& leaders) {
    for (const Fold& fold : all.folds) {
        std::map<std::pair<std::string, Key>, std::vector<const Case*>> by_source;
        for (const Case& c : fold.cases) {
            by_source[{c.source, key_of(*c.row.layer)}].push_back(&c);
        }
        for (const auto& [key, cases] : by_source) {
            const CrossGroup g = group_of(all, fold, key.second, cases);
            leaders.push_back({key.first, fold.id,
                               fmt::format("{} {} {}", g.op, g.dtype, g.direction), g.rows,
                               g.held_out, g.held_out_inside, g.left_out, g.left_out_inside});
        }
    }
}

void add_rows(const ClassFolds& all, std::vector<CrossRow>& rows) {
    for (const Fold& fold : all.folds) {
        model::Gpu own = fold.gpu;
        own.calibration = fold.held;
        for (const Case& c : fold.cases) {
            const auto [op, dtype, direction] = key_of(*c.row.layer);
            const auto p = model::predict(own, *c.row.layer, c.row.software, c.row.timing);
            rows.push_back({c.line, fold.id, op, dtype, c.row.measured_s, c.tested, c.fitted_s,
                            fold.has_left ? c.left_s : 0.0, p ? p->form.text() : ""});
        }
    }
}

namespace {

// Mean over the groups that have the figure.
std::optional<double> mean_of(const std::vector<CrossGroup>& groups,
                              std::optional<double> CrossGroup::*figure) {
    double sum = 0.0;
    double count = 0.0;
    for (const CrossGroup& g : groups) {
        sum += (g.*figure).value_or(0.0);
        count += g.*figure ? 1.0 : 0.0;
    }
    return count > 0.0 ? std::optional(sum / count) : std::nullopt;
}

} // namespace

void add_means(CrossValidation& result) {
    std::map<Key, std::vector<CrossGroup>> by_key;
    for (const CrossGroup& g : result.groups) {
        by_key[{g.op, g.dtype, g.direction}].push_back(g);
    }
    for (const auto& [key, groups] : by_key) {
        CrossGroup mean{fmt::format("{} GPU{}", groups.size(), groups.size() == 1 ? "" : "s"),
                        std::get<0>(key),
                        std::get<1>(key),
                        std::get<2>(key),
                        0,
                        0.0,
                        {},
                        {},
                        {},
                        {},
                        {},
                        {}};
        for (const CrossGroup& g : groups) {
            mean.rows += g.rows;
            mean.naive += g.naive / static_cast<double>(groups.size());
        }
        for (const auto figure : {&CrossGroup::fitted, &CrossGroup::held_out, &CrossGroup::left_out,
                                  &CrossGroup::one_figure, &CrossGroup::held_out_inside,
                                  &CrossGroup::left_out_inside}) {
            mean.*figure = mean_of(groups, figure);
        }
        result.means.push_back(std::move(mean));
    }
}

} // namespace eyeroof::analysis
