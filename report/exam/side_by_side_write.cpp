// The machine-readable forms and the pages of report/exam/side_by_side.hpp.
#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/markup.hpp"
#include "base/units.hpp"
#include "report/exam/answer.hpp"
#include "report/exam/cells.hpp"
#include "report/exam/chip_words.hpp"
#include "report/exam/memory_fit_json.hpp"
#include "report/exam/side_by_side.hpp"
#include "report/exam/words.hpp"
#include "report/page/page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;

Json on_json(const analysis::LayerReport* layer) {
    if (layer == nullptr) {
        return nullptr;
    }
    Json json = {{"time_s", layer->time_s}};
    add_interval(json, layer->low_s, layer->high_s);
    json["utilization"] = layer->utilization;
    json["limiter_step"] = layer->limiter_step;
    json["limiter"] = layer->limiter;
    json["energy_j"] = layer->energy_j;
    json["outer_bytes"] = layer->outer_bytes;
    Json bounds = Json::array();
    for (const model::StepBound& bound : layer->steps) {
        bounds.push_back(bound.macs_per_cycle);
    }
    json["bounds_macs_per_cycle"] = std::move(bounds);
    return json;
}

Json side_json(const analysis::Report& side) {
    const analysis::MachineSummary& m = side.machine;
    const analysis::Total& total = side.total;
    Json sums = {{"time_s", total.time_s}};
    add_interval(sums, total.low_s, total.high_s);
    sums["utilization"] = total.utilization;
    sums["energy_j"] = total.energy_j;
    sums["outer_bytes"] = total.outer_bytes;
    Json json = {{"id", m.id},
                 {"name", m.name},
                 {"kind", m.kind},
                 {"units", m.units},
                 {"clock_hz", m.clock_hz},
                 {"peak_macs_per_s", m.peak_macs_per_s},
                 {"dataflow", m.dataflow},
                 {"total", std::move(sums)}};
    if (side.fit) {
        json["memory"] = memory_fit_json(*side.fit);
    }
    if (side.chip) {
        json["chip"] = chip_json(*side.chip);
    }
    return json;
}

// Rows of cells that the two kinds of page share; the first is the head.
std::vector<std::vector<std::string>> table_of(const std::vector<analysis::Report>& sides) {
    std::vector<std::vector<std::string>> table = {{"layer", "op", "count"}};
    for (const analysis::Report& side : sides) {
        for (const char* what : {"time", "utilization", "bound by"}) {
            table.front().push_back(side.machine.id + ", " + what);
        }
    }
    for (const SideRow& row : side_rows(sides)) {
        const model::Layer& layer = row.any->layer;
        table.push_back(
            {layer.name, std::string(model::op_name(layer.op)), fmt::to_string(layer.count)});
        for (const analysis::LayerReport* on : row.on) {
            table.back().push_back(on != nullptr ? format_si(on->time_s, "s") : "");
            table.back().push_back(on != nullptr ? percent(on->utilization) : "");
            table.back().push_back(
                on != nullptr ? fmt::format("{}: {}", on->limiter_step, on->limiter) : "");
        }
    }
    table.push_back({"total", "", ""});
    for (const analysis::Report& side : sides) {
        const analysis::Total& total = side.total;
        table.back().push_back(format_si(total.time_s, "s"));
        table.back().push_back(percent(total.utilization));
        table.back().push_back(side.fit ? memory_fit_text(*side.fit) : "");
    }
    return table;
}

std::string title_of(const std::vector<analysis::Report>& sides) {
    std::string title = sides.front().network_name + " on ";
    for (std::size_t i = 0; i < sides.size(); ++i) {
        title += (i == 0 ? "" : i + 1 == sides.size() ? " and " : ", ") + sides[i].machine.name;
    }
    return title;
}

} // namespace

std::string side_by_side_json(const std::vector<analysis::Report>& sides) {
    const analysis::Report& first = sides.front();
    Json json = {{"schema", "eyeroof/exams/1"},
                 {"network", {{"id", first.network_id}, {"name", first.network_name}}},
                 {"machines", Json::array()},
                 {"layers", Json::array()}};
    for (const analysis::Report& side : sides) {
        json["machines"].push_back(side_json(side));
    }
    for (const SideRow& row : side_rows(sides)) {
        Json on = Json::array();
        for (const analysis::LayerReport* layer : row.on) {
            on.push_back(on_json(layer));
        }
        const auto quickest = row.quickest();
        json["layers"].push_back(
            {{"name", row.any->layer.name},
             {"op", model::op_name(row.any->layer.op)},
             {"count", row.any->layer.count},
             {"quickest", quickest ? Json(sides[*quickest].machine.id) : Json(nullptr)},
             {"on", std::move(on)}});
    }
    return json_document(json);
}

std::string side_by_side_csv(const std::vector<analysis::Report>& sides) {
    std::string text = "machine,layer,op,count,macs,time_s,low_s,high_s,utilization,limiter_step,"
                       "limiter,energy_j,outer_bytes,memory_bytes,largest_batch\n";
    for (const SideRow& row : side_rows(sides)) {
        for (std::size_t i = 0; i < sides.size(); ++i) {
            if (const analysis::LayerReport* l = row.on[i]) {
                text += fmt::format(
                    "{},{},{},{},{},{},{},{},{},{},{},{},{},,\n", csv_quoted(sides[i].machine.id),
                    csv_quoted(l->layer.name), model::op_name(l->layer.op), l->layer.count, l->macs,
                    l->time_s, optional_cell(l->low_s), optional_cell(l->high_s), l->utilization,
                    l->limiter_step, csv_quoted(l->limiter), l->energy_j, l->outer_bytes);
            }
        }
    }
    for (const analysis::Report& side : sides) {
        const analysis::Total& t = side.total;
        const auto& memory = side.fit;
        const bool searched = memory && memory->largest_batch;
        text += fmt::format("{},total,total,,{},{},{},{},{},,,{},{},{},{}\n",
                            csv_quoted(side.machine.id), t.macs, t.time_s, optional_cell(t.low_s),
                            optional_cell(t.high_s), t.utilization, t.energy_j, t.outer_bytes,
                            memory ? fmt::to_string(memory->peak_bytes) : "",
                            searched ? fmt::to_string(*memory->largest_batch) : "");
    }
    return text;
}

std::string side_by_side_markdown(const std::vector<analysis::Report>& sides) {
    std::string text = "# " + markdown_cell(title_of(sides)) + "\n\n";
    bool head = true;
    for (const auto& row : table_of(sides)) {
        for (const std::string& cell : row) {
            text += "| " + markdown_cell(cell) + " ";
        }
        text += "|\n";
        for (std::size_t i = 0; head && i < row.size(); ++i) {
            text += i < 2 || i % 3 == 2 ? "|---" : "|--:";
        }
        text += head ? "|\n" : "";
        head = false;
    }
    return text;
}

std::string side_by_side_html(const std::vector<analysis::Report>& sides) {
    const std::string title = html_escaped(title_of(sides));
    std::string words;
    for (const analysis::Report& side : sides) {
        words += "<p class=\"answer\">" + html_escaped(side.machine.id) + ": ";
        words += html_escaped(fmt::format("{}", fmt::join(total_parts(side), ", "))) + ".";
        for (const std::string& line : answer_lines(side)) {
            words += " " + html_escaped(line) + ".";
        }
        words += "</p>\n";
    }
    PageTable table;
    for (const auto& cells : table_of(sides)) {
        std::vector<std::string> row;
        for (const std::string& cell : cells) {
            row.push_back(html_escaped(cell));
        }
        if (!table.columns.empty()) {
            table.rows.push_back(std::move(row));
            continue;
        }
        for (const std::string& heading : row) {
            const bool number =
                heading.ends_with("time") || heading.ends_with("utilization") || heading == "count";
            table.columns.push_back({heading, number});
        }
    }
    fold_equal(table);
    return page_head(title) + "<h1>" + title + "</h1>\n" + words + page_table(table) + page_foot();
}

} // namespace eyeroof::report
