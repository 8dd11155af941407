#include "report/exam/csv.hpp"

#include "analysis/exam/report_figures.hpp"
#include "analysis/exam/report_warnings.hpp"
#include "base/csv.hpp"
#include "formats/layer_text.hpp"
#include "report/exam/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace eyeroof::report {

namespace {

constexpr std::size_t kStep6 = 6;

std::string layer_row(const model::Layer& layer) {
    std::string line;
    bool first = true;
    for (const std::string& cell : formats::layer_to_text(layer)) {
        line += (first ? "" : ",") + csv_quoted(cell);
        first = false;
    }
    return line;
}

// "step 6 DRAM bytes 1.5" for each, joined by semicolons: measured over predicted.
std::string disagreements_cell(const analysis::LayerMeasurement& m) {
    std::string text;
    for (const analysis::Disagreement& d : m.disagreements) {
        text += fmt::format("{}step {} {} {:.3g}", text.empty() ? "" : "; ", d.step, d.quantity,
                            d.predicted > 0.0 ? d.measured / d.predicted : 0.0);
    }
    return csv_quoted(text);
}

std::string measured_cells(const analysis::Report& report, const analysis::LayerReport& layer) {
    std::string cells;
    if (report.measured) {
        const auto& m = layer.measured;
        cells += m ? fmt::format(",{},{},{},{},{},{}", m->time_s, m->predicted_s, m->unexplained_s,
                                 m->remaining_s, m->executions, disagreements_cell(*m))
                   : ",,,,,,";
    }
    if (!report.ceilings.empty()) {
        cells += layer.roof ? fmt::format(",{},{}", layer.roof->time_s, csv_quoted(layer.roof->by))
                            : ",,";
    }
    return cells;
}

bool searched(const analysis::Report& report) {
    return std::any_of(
        report.layers.begin(), report.layers.end(),
        [](const analysis::LayerReport& layer) { return !layer.certificates.empty(); });
}

// The largest gap of a layer's searches, and whether all were proved; empty where none was made.
std::string proof_cells(bool any, const analysis::LayerReport& layer) {
    if (!any) {
        return "";
    }
    double gap = 0.0;
    bool proved = true;
    for (const mapper::Certificate& c : layer.certificates) {
        gap = std::max(gap, c.gap);
        proved = proved && c.proved;
    }
    return layer.certificates.empty() ? ",," : fmt::format(",{},{}", gap, proved);
}

// What else is known of a layer, behind all other columns.
std::string work_header() {
    std::string header = ",macs,flops,utilization,energy_j,outer_bytes,limiter_step";
    for (std::size_t step = 1; step <= model::kSteps; ++step) {
        header += fmt::format(",step{}_macs_per_cycle", step);
    }
    return header + "\n";
}

std::string work_cells(const analysis::LayerReport& layer) {
    std::string cells =
        fmt::format(",{},{},{},{},{},{}", layer.macs, layer.flops, layer.utilization,
                    layer.energy_j, layer.outer_bytes, layer.limiter_step);
    for (const model::StepBound& bound : layer.steps) {
        cells += fmt::format(",{}", bound.macs_per_cycle);
    }
    return cells + "\n";
}

std::string remarks(const analysis::Report& report) {
    const std::string uncosted = analysis::uncosted_share_text(report);
    const std::string sum = analysis::step_sum_text(report);
    return uncosted + (uncosted.empty() || sum.empty() ? "" : "; ") + sum;
}

// The last row: sums over the layers times their counts, under the name and the operator "total",
// which the reader of layers passes over.
std::string total_row(const analysis::Report& report, const std::string& header, bool proofs) {
    CsvReader reader(header, "");
    CsvRecord record;
    Diagnostics ignored;
    std::string row;
    if (reader.next(record, ignored)) {
        for (const CsvCell& cell : record.cells) {
            const bool named = cell.text == "name" || cell.text == "op";
            row += (&cell == &record.cells.front() ? "" : ",") + std::string(named ? "total" : "");
        }
    }
    const analysis::Total& total = report.total;
    // In the place of a limit why the rows above may not add up to it.
    row += fmt::format(",{},{},{},{},", total.time_s, optional_cell(total.low_s),
                       optional_cell(total.high_s), csv_quoted(remarks(report)));
    row += proofs ? ",," : "";
    row += report.measured
               ? fmt::format(",{},{},{},{},,", report.measured->measured_s,
                             report.measured->predicted_s, report.measured->unexplained_s,
                             report.measured->remaining_s)
               : "";
    row += report.ceilings.empty() ? "" : ",,";
    return row + fmt::format(",{},{},{},{},{},{}\n", total.macs, total.flops, total.utilization,
                             total.energy_j, total.outer_bytes, std::string(model::kSteps, ','));
}

std::string result_cells(const analysis::Report& report, const analysis::LayerReport& layer,
                         bool proofs) {
    return fmt::format(",{},{},{},{},{}{}{}{}", layer.time_s, optional_cell(layer.low_s),
                       optional_cell(layer.high_s), csv_quoted(layer.limiter),
                       analysis::seconds_at(report.machine, layer, kStep6),
                       proof_cells(proofs, layer), measured_cells(report, layer),
                       work_cells(layer));
}

// A row of the user's own, as it stands unless a spreadsheet would compute one of its cells.
std::string guarded(const std::string& row) {
    CsvReader reader(row, "");
    CsvRecord record;
    Diagnostics ignored;
    if (row.find_first_of("=@+-\t\r\xEF") == std::string::npos || !reader.next(record, ignored)) {
        return row;
    }
    std::string text;
    bool formula = false;
    for (const CsvCell& cell : record.cells) {
        const std::string quoted = csv_quoted(cell.text);
        formula = formula || (!cell.text.starts_with('\'') &&
                              (quoted.starts_with('\'') || quoted.starts_with("\"'")));
        text += (&cell == &record.cells.front() ? "" : ",") + quoted;
    }
    return formula ? text : row;
}

// The table's rows that the report's layers came from. Filters keep or leave all layers of one
// name, so the names in their order tell; empty when they do not fit.
std::vector<const std::string*> rows_of(const analysis::Report& report,
                                        const formats::LayerTable& input) {
    std::vector<const std::string*> rows;
    for (std::size_t i = 0; i < input.layers.size() && rows.size() < report.layers.size(); ++i) {
        if (input.layers[i].name == report.layers[rows.size()].layer.name) {
            rows.push_back(&input.rows[i]);
        }
    }
    if (rows.size() != report.layers.size()) {
        rows.clear();
    }
    return rows;
}

} // namespace

std::string to_csv(const analysis::Report& report, const formats::LayerTable* input) {
    std::vector<const std::string*> rows;
    if (input != nullptr) {
        rows = rows_of(report, *input);
    }
    const bool repeat = !rows.empty();
    const std::string header =
        repeat ? input->header : fmt::format("{}", fmt::join(formats::column_names(), ","));
    std::string text = header;
    text += ",time_s,low_s,high_s,limiter,step6_bound_s";
    const bool proofs = searched(report);
    text += proofs ? ",gap,proved" : "";
    text += report.measured
                ? ",measured_s,compared_s,unexplained_s,remaining_s,executions,disagreements"
                : "";
    text += report.ceilings.empty() ? "" : ",measured_roof_s,measured_roof";
    text += work_header();
    for (std::size_t i = 0; i < report.layers.size(); ++i) {
        const analysis::LayerReport& layer = report.layers[i];
        text += (repeat ? guarded(*rows[i]) : layer_row(layer.layer)) +
                result_cells(report, layer, proofs);
    }
    return text + total_row(report, header, proofs);
}

} // namespace eyeroof::report
