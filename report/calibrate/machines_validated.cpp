#include "base/figures.hpp"
#include "base/lines.hpp"
#include "report/calibrate/validation_answers.hpp"

#include <fmt/format.h>

namespace eyeroof::report {

namespace {

using analysis::MachineTable;
using analysis::PublishedResult;

struct ResultRow {
    const MachineTable* table = nullptr;
    const PublishedResult* result = nullptr;
};

std::optional<std::string> not_empty(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

// "step 4, x1.67: half the tiles are empty; 17 % left once these steps are counted"
std::string remarks_of(const PublishedResult& r) {
    std::string text = r.row.note;
    for (const hwdb::Explanation& one : r.row.explained) {
        text += fmt::format("{}step {}, x{:.2f}: {}", text.empty() ? "" : "; ", one.step,
                            one.factor, one.why);
    }
    return r.row.explained.empty()
               ? text
               : text + fmt::format("; {:+.1f} % left once these steps are counted",
                                    100.0 * r.unexplained());
}

template <class Get> auto of_result(Get get) {
    return [get](const ResultRow& row) { return std::invoke(get, *row.result); };
}

std::vector<Column<ResultRow>> result_columns() {
    using Result = const PublishedResult&;
    using hwdb::Explanation;
    const auto row = [](auto member) {
        return of_result([member](Result r) { return r.row.*member; });
    };
    using Published = hwdb::PublishedRow;
    return {{"table", "table", Unit::none, [](const ResultRow& r) { return r.table->id; }},
            {"name", "row", Unit::none, row(&Published::name)},
            {"machine", "", Unit::none, row(&Published::machine)},
            {"changes", "", Unit::none, row(&Published::changes)},
            {"over", "", Unit::none, of_result([](Result r) { return not_empty(r.row.over); }),
             kPrograms, "of speedups: the other machine"},
            {"network", "", Unit::none, row(&Published::network)},
            {"figure", "figure", Unit::none,
             of_result([](Result r) { return hwdb::figure_name(r.row.figure); })},
            {"published", "published", Unit::none, row(&Published::published)},
            {"predicted", "predicted", Unit::none, of_result(&PublishedResult::predicted)},
            {"error", "error", Unit::share, of_result(&PublishedResult::error)},
            {"confidence", "", Unit::none,
             of_result([](Result r) { return confidence_name(r.row.from.confidence); })},
            {"", "confidence", Unit::none,
             of_result([](Result r) { return confidence_words(r.row.from.confidence); }), kPeople},
            {"source", "", Unit::none, of_result([](Result r) { return r.row.from.source; })},
            {"note", "", Unit::none, of_result([](Result r) { return not_empty(r.row.note); })},
            nested<ResultRow, Explanation>(
                "explained", "", row(&Published::explained),
                {{"step", "", Unit::count, &Explanation::step},
                 {"factor", "", Unit::none, &Explanation::factor},
                 {"why", "", Unit::none, &Explanation::why}},
                kPrograms,
                "steps that the figure counts in another way, and how much too good that makes "
                "the prediction"),
            {"unexplained_error", "", Unit::share, of_result(&PublishedResult::unexplained),
             kPrograms, "the error once those steps are counted as published"},
            {"inferred_from", "inferred", Unit::none, row(&Published::seen), kAll,
             "the row's own figure helped to describe the machine"},
            {"limiter", "costs most", Unit::none, of_result(&PublishedResult::limit)},
            {"", "remarks", Unit::sentence, of_result(remarks_of), kPeople}};
}

} // namespace

Answer machines_validated(const std::vector<MachineTable>& tables) {
    std::vector<ResultRow> rows;
    for (const MachineTable& table : tables) {
        for (const PublishedResult& result : table.rows) {
            rows.push_back({&table, &result});
        }
    }
    Answer a;
    a.schema = "eyeroof/published/2";
    a.title = "Predicted and published figures";
    a.sentences = {fmt::format("{} in {}", counted(rows.size(), "published figure"),
                               counted(tables.size(), "table"))};
    a.tables = {make_table<MachineTable>(
                    "tables", "Mean errors", tables,
                    {{"id", "table", Unit::none, &MachineTable::id},
                     {"mean_error", "mean error", Unit::share, &MachineTable::mape, kAll,
                      "of rows that count; null: none"},
                     {"mean_error_unseen", "not inferred", Unit::share, &MachineTable::unseen_mape,
                      kAll, "without rows that a rule was inferred from"},
                     {"title", "of", Unit::sentence, &MachineTable::title}}),
                make_table("rows", "Figures", rows, result_columns())};
    a.rows = "rows";
    a.notes = {"Mean errors are without unsourced figures."};
    return a;
}

} // namespace eyeroof::report
