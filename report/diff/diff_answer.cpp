#include "report/diff/diff_answer.hpp"

#include "base/units.hpp"
#include "report/answer/write.hpp"
#include "report/diff/added_bars.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace eyeroof::report {

namespace {

using analysis::BothSides;
using analysis::ExamDiff;
using analysis::LayerDiff;
using analysis::RunDiff;
using analysis::RunRow;

constexpr std::size_t kShownRows = 30;

// "b takes 33.6 % longer than a: 278 ms -> 372 ms; CONV2 adds most, 30.9 ms"
std::string verdict(const std::string& of, const BothSides& time, const std::string& most = {},
                    double adds_s = 0.0) {
    const double ratio = time.a > 0.0 ? time.b / time.a - 1.0 : 0.0;
    const std::string verb = of.empty() ? "takes" : "take";
    if (std::abs(ratio) <= analysis::kToldChange) {
        return of + "a and b take the same time: " + format_si(time.a, "s");
    }
    std::string text =
        fmt::format("{}b {} {:.3g} % {} than {}: {} -> {}", of, verb, 100.0 * std::abs(ratio),
                    ratio > 0.0 ? "longer" : "less", of.empty() ? "a" : "those of a",
                    format_si(time.a, "s"), format_si(time.b, "s"));
    return most.empty()
               ? text
               : text + fmt::format("; {} {} most, {}", most, adds_s < 0.0 ? "saves" : "adds",
                                    format_si(std::abs(adds_s), "s"));
}

// "The layers alone add 132 us: the rest of the step hides 131.8 us of it"; empty where nothing is
// hidden.
std::string hidden_text(const ExamDiff& diff) {
    double adds_s = 0.0;
    for (const LayerDiff& layer : diff.layers) {
        adds_s += layer.adds_s();
    }
    const double hidden_s = adds_s - (diff.total[0].b - diff.total[0].a);
    const bool hides = diff.only_a.empty() && diff.only_b.empty() && adds_s * hidden_s > 0.0 &&
                       std::abs(hidden_s) > 0.05 * std::abs(adds_s) &&
                       std::abs(hidden_s) > analysis::kToldChange * diff.total[0].a;
    return hides ? fmt::format("The layers alone {} {}: the rest of the step hides {} of it",
                               adds_s < 0.0 ? "save" : "add", format_si(std::abs(adds_s), "s"),
                               format_si(std::abs(hidden_s), "s"))
                 : std::string();
}

// A figure's two sides and its change, that `of` finds in a row.
template <class Row, class Of>
void add_sides(std::vector<Column<Row>>& columns, const std::string& key, const std::string& title,
               Unit unit, Of of, unsigned where = kAll) {
    const std::string before = title.empty() ? "" : title + " ";
    columns.emplace_back(
        key + ".a", before + "a", unit, [of](const Row& row) { return of(row).a; }, where);
    columns.emplace_back(
        key + ".b", before + "b", unit, [of](const Row& row) { return of(row).b; }, where);
    columns.emplace_back(
        key + ".change", before + "change", Unit::share,
        [of](const Row& row) { return of(row).change(); }, where, "(b - a) / a; null where a is 0");
}

void add_total(std::vector<Figure>& figures, const std::string& key, Unit unit,
               const BothSides& sides) {
    std::vector<Column<BothSides>> columns;
    add_sides(
        columns, key, "", unit, [](const BothSides& both) { return both; }, kPrograms);
    add_figures(figures, sides, columns);
}

struct Total {
    std::string name;
    BothSides sides;
    Unit unit = Unit::none;
};

// The sums for people; JSON has them by name.
AnswerTable totals_of(const std::vector<Total>& totals) {
    const auto side = [](double BothSides::*of) {
        return [of](const Total& total) { return value_text(total.sides.*of, total.unit); };
    };
    const auto change = [](const Total& total) { return analysis::change_text(total.sides); };
    return make_table<Total>("", "In all", totals,
                             {{"", "figure", Unit::none, &Total::name, kPeople},
                              {"", "a", Unit::none, side(&BothSides::a), kPeople},
                              {"", "b", Unit::none, side(&BothSides::b), kPeople},
                              {"", "change", Unit::none, change, kPeople}});
}

// Layers whose times differ, the largest difference first.
std::vector<LayerDiff> changed_layers(const ExamDiff& diff) {
    std::vector<LayerDiff> layers = diff.layers;
    std::erase_if(layers, [&](const LayerDiff& layer) {
        return std::abs(layer.adds_s()) <= analysis::kToldChange * std::abs(diff.total[0].a);
    });
    std::ranges::stable_sort(layers, std::ranges::greater(),
                             [](const LayerDiff& layer) { return std::abs(layer.adds_s()); });
    return layers;
}

// "step 6 DRAM -> step 4 array shape; step 4: 64 -> 32 MAC/cycle"
std::string limits_text(const LayerDiff& layer) {
    const std::string limits =
        layer.limiter_a == layer.limiter_b
            ? "both at step " + layer.limiter_b
            : fmt::format("step {} -> step {}", layer.limiter_a, layer.limiter_b);
    std::string bounds;
    for (std::size_t i = 0; i < model::kSteps; ++i) {
        const BothSides& bound = layer.bounds[i];
        if (std::abs(bound.b - bound.a) > analysis::kToldChange * std::abs(bound.a)) {
            bounds += fmt::format("{}step {}: {} -> {}", bounds.empty() ? "; " : ", ", i + 1,
                                  format_si(bound.a, ""), format_si(bound.b, ""));
        }
    }
    return limits +
           (bounds.empty() ? "; the bounds of all steps are equal" : bounds + " MAC/cycle");
}

std::string tip_of(const LayerDiff& layer) {
    return limits_text(layer);
}

std::string tip_of(const RunRow& row) {
    return row.name;
}

// The parts that add or save time, drawn; nothing where none does.
template <class Row> void draw_added(Answer& a, const std::vector<Row>& rows, double least) {
    std::vector<AddedTime> added;
    for (const Row& row : rows) {
        if (std::abs(row.adds_s()) > least) {
            added.push_back({row.name, row.adds_s(), tip_of(row)});
        }
    }
    if (added.empty()) {
        a.sentences.emplace_back("No part's time differs");
        return;
    }
    a.picture = [added](const Canvas&) { return added_bars(added, "Where the time went"); };
}

constexpr std::array<Unit, analysis::kDiffFigures.size()> kFigureUnits = {
    Unit::seconds, Unit::joules, Unit::bytes, Unit::macs, Unit::share};

AnswerTable shown_layers(const std::vector<LayerDiff>& layers) {
    std::vector<Column<LayerDiff>> columns = {
        {"", "layer", Unit::none, &LayerDiff::name, kPeople},
        {"", "adds", Unit::seconds, &LayerDiff::adds_s, kPeople, "in all executions"}};
    add_sides(
        columns, "", "", Unit::seconds, [](const LayerDiff& layer) { return layer.figures[0]; },
        kPeople);
    columns.emplace_back("", "limits", Unit::sentence, limits_text, kPeople);
    AnswerTable made = make_table("", "Layers that differ", layers, columns);
    made.most_for_people = kShownRows;
    return made;
}

struct StepBound {
    std::size_t step = 0;
    BothSides bound;
};

AnswerTable all_layers(const ExamDiff& diff) {
    std::vector<Column<LayerDiff>> columns = {
        {"name", "", Unit::none, &LayerDiff::name},
        {"count.a", "", Unit::count, [](const LayerDiff& layer) { return layer.count.a; }},
        {"count.b", "", Unit::count, [](const LayerDiff& layer) { return layer.count.b; }},
        limited<Column<LayerDiff>>({"adds_s", "", Unit::seconds, &LayerDiff::adds_s, kPrograms,
                                    "what it takes longer by itself on b, all executions"},
                                   kAnySign)};
    for (std::size_t i = 0; i < analysis::kDiffFigures.size(); ++i) {
        add_sides(
            columns, "figures." + std::string(analysis::kDiffFigures[i]), "", kFigureUnits[i],
            [i](const LayerDiff& layer) { return layer.figures[i]; }, kPrograms);
    }
    const auto steps = [](const LayerDiff& layer) {
        std::vector<StepBound> bounds;
        for (const BothSides& bound : layer.bounds) {
            bounds.push_back({bounds.size() + 1, bound});
        }
        return bounds;
    };
    columns.push_back(nested<LayerDiff, StepBound>(
        "steps", "", steps,
        {{"step", "", Unit::count, &StepBound::step},
         {"a_macs_per_cycle", "", Unit::none, [](const StepBound& s) { return s.bound.a; }},
         {"b_macs_per_cycle", "", Unit::none, [](const StepBound& s) { return s.bound.b; }}},
        kPrograms));
    columns.emplace_back("limiter.a", "", Unit::none, &LayerDiff::limiter_a);
    columns.emplace_back("limiter.b", "", Unit::none, &LayerDiff::limiter_b);
    return make_table("layers", "", diff.layers, columns);
}

AnswerTable run_rows(const std::string& key, const std::string& title,
                     const std::vector<RunRow>& rows) {
    // Names of kernels are longer than a column.
    std::vector<Column<RunRow>> columns = {
        {"name", title, key == "rows" ? Unit::sentence : Unit::none, &RunRow::name},
        limited<Column<RunRow>>({"adds_s", "adds", Unit::seconds, &RunRow::adds_s}, kAnySign)};
    add_sides(columns, "time_s", "", Unit::seconds, [](const RunRow& row) { return row.time_s; });
    add_sides(columns, "calls", "calls", Unit::count, [](const RunRow& row) { return row.calls; });
    AnswerTable made = make_table(key, "By " + title, rows, columns);
    made.most_for_people = kShownRows;
    return made;
}

} // namespace

Answer diff_answer(const ExamDiff& diff) {
    const std::vector<LayerDiff> changed = changed_layers(diff);
    Answer a;
    a.schema = "eyeroof/diff/1";
    a.title = diff.name_a + " and " + diff.name_b;
    a.question = "a: " + diff.name_a + "; b: " + diff.name_b;
    a.sentences = {verdict("", diff.total[0], changed.empty() ? "" : changed.front().name,
                           changed.empty() ? 0.0 : changed.front().adds_s())};
    if (std::string hidden = hidden_text(diff); !hidden.empty()) {
        a.sentences.push_back(std::move(hidden));
    }
    a.figures = {{"a", "", diff.name_a}, {"b", "", diff.name_b}};
    constexpr std::array<const char*, analysis::kDiffFigures.size()> kNames = {
        "time", "energy", "outer traffic", "MACs", "utilization"};
    std::vector<Total> totals;
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        add_total(a.figures, "total." + std::string(analysis::kDiffFigures[i]), kFigureUnits[i],
                  diff.total[i]);
        totals.push_back({kNames[i], diff.total[i], kFigureUnits[i]});
    }
    a.figures.emplace_back("only_a", "", diff.only_a);
    a.figures.emplace_back("only_b", "", diff.only_b);
    a.tables = {totals_of(totals), shown_layers(changed), all_layers(diff)};
    a.rows = "layers";
    if (diff.layers.empty()) {
        a.sentences.emplace_back("The two have no layer in common: only totals are compared");
    } else {
        draw_added(a, changed, 0.0);
    }
    for (const auto& [side, names] :
         {std::pair{"first", diff.only_a}, std::pair{"second", diff.only_b}}) {
        if (!names.empty()) {
            a.warnings.push_back(
                fmt::format("only on the {} side: {}", side, fmt::join(names, ", ")));
        }
    }
    return a;
}

Answer run_diff_answer(const RunDiff& diff) {
    Answer a;
    a.schema = "eyeroof/run-diff/1";
    a.title = diff.name_a + " and " + diff.name_b;
    a.question = "a: " + diff.name_a + "; b: " + diff.name_b;
    const bool any = !diff.rows.empty();
    if (diff.window_s.a > 0.0) {
        a.sentences.push_back(verdict("", diff.window_s));
    }
    a.sentences.push_back(verdict("The kernels of ", diff.time_s, any ? diff.rows.front().name : "",
                                  any ? diff.rows.front().adds_s() : 0.0));
    a.figures = {{"a", "", diff.name_a},
                 {"b", "", diff.name_b},
                 {"by", "", analysis::run_part_name(diff.by)}};
    add_total(a.figures, "time_s", Unit::seconds, diff.time_s);
    add_total(a.figures, "calls", Unit::count, diff.calls);
    add_total(a.figures, "untimed", Unit::count, diff.untimed);
    std::vector<Total> totals = {{"kernels", diff.time_s, Unit::seconds},
                                 {"calls", diff.calls, Unit::count}};
    add_total(a.figures, "window_s", Unit::seconds, diff.window_s); // 0: not known
    if (diff.window_s.a > 0.0) {
        totals.insert(totals.begin(), {"whole run", diff.window_s, Unit::seconds});
    }
    a.tables = {totals_of(totals), run_rows("categories", "category", diff.categories),
                run_rows("rows", std::string(analysis::run_part_name(diff.by)), diff.rows)};
    a.rows = "rows";
    draw_added(a, diff.rows, analysis::kToldChange * std::max(diff.time_s.a, diff.time_s.b));
    if (diff.untimed != BothSides{}) {
        a.warnings.push_back(fmt::format("launches without a known duration, in no row: {} of a, "
                                         "{} of b",
                                         diff.untimed.a, diff.untimed.b));
    }
    return a;
}

} // namespace eyeroof::report
