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

// Held-out rows of each kind in two halves: each is judged by the other's quantiles.
void judge_held(const std::vector<const Case*>& tested, CrossGroup& group) {
    constexpr std::size_t kFewest = 8;
    std::map<std::string, std::vector<double>> kinds;
    for (const Case* c : tested) {
        kinds[c->row.kind()].push_back(c->row.measured_s / c->fitted_s);
    }
    double inside = 0.0;
    double judged = 0.0;
    for (const auto& [kind, ratios] : kinds) {
        if (ratios.size() < 2 * kFewest) {
            continue;
        }
        std::array<std::vector<double>, 2> halves;
        for (std::size_t i = 0; i < ratios.size(); ++i) {
            halves[i % 2].push_back(ratios[i]);
        }
        for (std::size_t h = 0; h < 2; ++h) {
            const Band band = another_day(halves[1 - h]);
            inside +=
                static_cast<double>(std::count_if(halves[h].begin(), halves[h].end(),
                                                  [&](double ratio) { return band.holds(ratio); }));
        }
        judged += static_cast<double>(ratios.size());
    }
    group.held_out_inside = judged > 0.0 ? std::optional(inside / judged) : std::nullopt;
}

// Share of the rows left out that lie in the interval of their kind, from rows of other names.
std::optional<double> left_inside(const ClassFolds& all, const Fold& fold,
                                  const std::vector<const Case*>& cases) {
    std::map<std::pair<std::string, std::string>, std::optional<Band>> bands;
    double inside = 0.0;
    double judged = 0.0;
    for (const Case* c : cases) {
        if (c->left_s <= 0.0) {
            continue;
        }
        const auto [band, is_new] = bands.try_emplace({c->left_with, c->row.kind()}, std::nullopt);
        if (is_new) {
            band->second = band_of_others(all, c->left_with, c->row.kind(), family_of(fold.gpu));
        }
        if (band->second) {
            inside += band->second->holds(c->row.measured_s / c->left_s) ? 1.0 : 0.0;
            judged += 1.0;
        }
    }
    return judged > 0.0 ? std::optional(inside / judged) : std::nullopt;
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
    const auto n = static_cast<double>(cases.size());
    const auto told = static_cast<double>(
        std::count_if(cases.begin(), cases.end(), [](const Case* c) { return c->left_s > 0.0; }));
    for (const Case* c : cases) {
        g.naive += error_of(c->naive_s, *c) / n;
        if (c->left_s > 0.0) {
            left += error_of(c->left_s, *c) / told;
            one += error_of(c->one_s, *c) / told;
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
        g.left_out_inside = left_inside(all, fold, cases);
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
            CrossRow row;
            row.line = c.line;
            row.gpu = fold.id;
            row.op = op;
            row.dtype = dtype;
            row.direction = direction;
            row.kind = c.row.kind();
            row.left_with = c.left_with;
            row.measured_s = c.row.measured_s;
            row.tested = c.tested;
            row.own_s = c.fitted_s;
            row.left_out_s = fold.has_left ? c.left_s : 0.0;
            row.mapping = p ? p->form.text() : "";
            row.limiter = p ? p->limiter : "";
            row.naive_s = c.naive_s;
            row.flops = static_cast<double>(c.row.work.flops);
            row.bytes = static_cast<double>(c.row.work.bytes());
            row.peak_flops_per_s = own.rate(c.row.layer->types.input).flops_per_s;
            row.dram_bytes_per_s = own.dram_bytes_per_s;
            row.l2_bytes = own.l2_bytes;
            row.clock_hz = own.boost_hz;
            row.sms = own.sms;
            rows.push_back(std::move(row));
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

std::vector<CrossGroup> means_of(const std::vector<CrossGroup>& every) {
    std::vector<CrossGroup> means;
    std::map<Key, std::vector<CrossGroup>> by_key;
    for (const CrossGroup& g : every) {
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
        means.push_back(std::move(mean));
    }
    return means;
}

} // namespace eyeroof::analysis
