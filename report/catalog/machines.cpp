#include "report/catalog/machines.hpp"

#include "base/csv.hpp"
#include "base/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;

std::string confidence_of(const analysis::PublishedResult& result) {
    return confidence_name(result.row.from.confidence);
}

std::string machine_of(const hwdb::PublishedRow& row) {
    std::string text = row.machine;
    for (const std::string& change : row.changes) {
        text += " " + change;
    }
    return text;
}

// Columns of the longest name, at least twelve.
std::size_t name_width(const analysis::MachineTable& table) {
    std::size_t width = 12;
    for (const analysis::PublishedResult& result : table.rows) {
        width = std::max(width, result.row.name.size());
    }
    return width;
}

std::string row_text(const analysis::PublishedResult& r, std::size_t width) {
    return fmt::format("  {:<{}} {:<13} {:>10.4g} {:>10.4g} {:>+8.1f} %  {:<10} {}{}\n", r.row.name,
                       width, hwdb::figure_name(r.row.figure), r.row.published, r.predicted,
                       100.0 * r.error(), confidence_of(r), r.limit, r.row.seen ? " *" : "");
}

// "  LSTM1: step 4, x1.67: half the tiles are empty\n  LSTM1: +17 % are left unexplained\n"
std::string explained_text(const analysis::PublishedResult& r) {
    std::string text;
    for (const hwdb::Explanation& one : r.row.explained) {
        text +=
            fmt::format("  {}: step {}, x{:.2f}: {}\n", r.row.name, one.step, one.factor, one.why);
    }
    return text.empty() ? text
                        : text + fmt::format("  {}: {:+.1f} % left once these steps are counted\n",
                                             r.row.name, 100.0 * r.unexplained());
}

Json explained_json(const analysis::PublishedResult& r) {
    Json list = Json::array();
    for (const hwdb::Explanation& one : r.row.explained) {
        list.push_back({{"step", one.step}, {"factor", one.factor}, {"why", one.why}});
    }
    return list;
}

std::string mean_text(const analysis::MachineTable& table) {
    if (!table.mape) {
        return "  all figures are unsourced: no mean\n";
    }
    std::string text = fmt::format("  mean error {:.1f} %", 100.0 * *table.mape);
    if (table.unseen_mape && *table.unseen_mape != *table.mape) {
        text += fmt::format(", {:.1f} % without the rows that a rule was inferred from (*)",
                            100.0 * *table.unseen_mape);
    }
    return text + "; without unsourced figures\n";
}

Json row_json(const analysis::PublishedResult& r) {
    return {{"name", r.row.name},
            {"machine", r.row.machine},
            {"changes", r.row.changes},
            {"over", r.row.over.empty() ? Json(nullptr) : Json(r.row.over)},
            {"network", r.row.network},
            {"figure", std::string(hwdb::figure_name(r.row.figure))},
            {"published", r.row.published},
            {"predicted", r.predicted},
            {"error", r.error()},
            {"confidence", confidence_of(r)},
            {"source", r.row.from.source},
            {"note", r.row.note.empty() ? Json(nullptr) : Json(r.row.note)},
            {"explained", explained_json(r)},
            {"unexplained_error", r.unexplained()},
            {"inferred_from", r.row.seen},
            {"limiter", r.limit}};
}

} // namespace

std::string machines_text(const std::vector<analysis::MachineTable>& tables) {
    std::string text;
    for (const analysis::MachineTable& table : tables) {
        const std::size_t width = name_width(table);
        text += fmt::format("{}{}\n  {:<{}} {:<13} {:>10} {:>10} {:>10}  {:<10} {}\n",
                            text.empty() ? "" : "\n", table.title, "", width, "figure", "published",
                            "predicted", "error", "confidence", "costs most");
        std::vector<std::string> notes;
        for (const analysis::PublishedResult& result : table.rows) {
            text += row_text(result, width);
            if (!result.row.note.empty()) {
                notes.push_back(fmt::format("  {}: {}\n", result.row.name, result.row.note));
            }
            notes.push_back(explained_text(result));
        }
        text += mean_text(table);
        for (const std::string& note : notes) {
            text += note;
        }
    }
    return text;
}

std::string machines_json(const std::vector<analysis::MachineTable>& tables) {
    Json json = {{"schema", "eyeroof/published/1"}, {"tables", Json::array()}};
    for (const analysis::MachineTable& table : tables) {
        Json rows = Json::array();
        for (const analysis::PublishedResult& result : table.rows) {
            rows.push_back(row_json(result));
        }
        json["tables"].push_back(
            {{"id", table.id},
             {"title", table.title},
             {"mean_error", table.mape ? Json(*table.mape) : Json(nullptr)},
             {"mean_error_unseen", table.unseen_mape ? Json(*table.unseen_mape) : Json(nullptr)},
             {"rows", std::move(rows)}});
    }
    return json_document(json);
}

std::string machines_csv(const std::vector<analysis::MachineTable>& tables) {
    std::string text = "table,row,machine,network,figure,published,predicted,error,confidence,"
                       "inferred_from,source\n";
    for (const analysis::MachineTable& table : tables) {
        for (const analysis::PublishedResult& r : table.rows) {
            text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", csv_quoted(table.id),
                                csv_quoted(r.row.name), csv_quoted(machine_of(r.row)),
                                csv_quoted(r.row.network), hwdb::figure_name(r.row.figure),
                                r.row.published, r.predicted, r.error(), confidence_of(r),
                                r.row.seen, csv_quoted(r.row.from.source));
        }
    }
    return text;
}

} // namespace eyeroof::report
