// The answer over several candidates as JSON, CSV, Markdown, and one sheet of HTML.
#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/markup.hpp"
#include "report/page/page.hpp"
#include "report/upgrade/purchase_tables.hpp"
#include "report/upgrade/upgrade.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {

using PurchaseJson = nlohmann::ordered_json;

// One sheet: A4 and Letter upright share 186 mm by 255 mm between margins of 12 mm.
constexpr std::string_view kSheetStyle =
    "body{font:13px/1.35 sans-serif;max-width:60em;margin:1.5em auto;padding:0 1em}"
    "h1{font-size:1.5em;margin:0 0 .4em}h2{font-size:1.05em;margin:.8em 0 .2em}"
    "p,ul{margin:.4em 0}table{margin:0}"
    "td,th{border:1px solid var(--line);padding:.1em .5em}"
    ".sign{width:100%;margin-top:1em}.sign td{width:24%;height:2.2em}"
    "@page{margin:12mm}"
    "@media print{body{font-family:Helvetica,Arial,'Liberation Sans',sans-serif;line-height:1.2;"
    "margin:0;padding:0;max-width:none}"
    "h1{font-size:1.4em}main{page-break-inside:avoid}.behind{page-break-before:always}}";
// Where numbers come from is for the screen: what is signed has the command alone.
constexpr std::string_view kSheetAlone =
    "@media print{main~h2,main~p,main~ul,main~.frame{display:none}}";
// Browsers may have wider letters than the estimate, and their tables have frames.
constexpr double kPrintScale = 0.8;

// In print, the type that keeps all on one page.
std::string sheet_style(const analysis::Purchase& p, bool alone) {
    return fmt::format("{}{}@media print{{body{{font-size:{:.2f}pt}}}}", kSheetStyle,
                       alone ? kSheetAlone : "", kPrintScale * sheet_type(p));
}

std::string table_markdown(const Table& table) {
    if (table.rows.empty()) {
        return "";
    }
    const auto line = [](const std::vector<std::string>& cells) {
        std::string text = "|";
        for (const std::string& cell : cells) {
            text += " " + markdown_cell(cell) + " |";
        }
        return text + "\n";
    };
    std::string text = table.title.empty() ? "" : table.title + ":\n\n";
    text += line(table.columns) + "|";
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        text += " --- |";
    }
    text += "\n";
    for (const auto& row : table.rows) {
        text += line(row);
    }
    return text + "\n";
}

std::string table_html(const Table& table) {
    if (table.rows.empty()) {
        return "";
    }
    const auto line = [](const std::vector<std::string>& cells, const char* tag) {
        std::string text = "<tr>";
        for (const std::string& cell : cells) {
            text += fmt::format("<{0}>{1}</{0}>", tag, html_escaped(cell));
        }
        return text + "</tr>\n";
    };
    std::string text = table.title.empty() ? "" : "<h2>" + html_escaped(table.title) + "</h2>\n";
    std::string rows = "<table>" + line(table.columns, "th");
    for (const auto& row : table.rows) {
        rows += line(row, "td");
    }
    return text + framed(rows + "</table>");
}

// Plain numbers, for spreadsheets; empty where there is none.
std::string candidates_csv(const analysis::Purchase& p) {
    std::string text = "gpu,how,devices,usd_per_year,usd_per_1000,kwh_per_year,kg_co2_per_year,"
                       "speedup,low,high,needed,likely,saved_share,outlay_usd,payback_months,"
                       "verdict\n";
    const auto number = [](const std::optional<double>& value) {
        return value ? fmt::format("{:.6g}", *value) : std::string{};
    };
    const auto option = [&](const analysis::PurchaseOption& o, bool priced) {
        const auto cost = [&](double value) {
            return priced ? std::optional(value) : std::optional<double>{};
        };
        return fmt::format("{},{},{:.6g},{},{},{:.6g},{:.6g}", csv_quoted(o.gpu), bought_how(o),
                           o.devices, number(cost(o.usd_per_year)), number(cost(o.usd_per_1000)),
                           o.kwh_per_year, o.kg_co2_per_year);
    };
    const analysis::PurchaseAnswer& first = p.answers.front();
    text += option(first.now, first.upgrade.money.priced) + ",1,1,1,,,,,,now\n";
    for (const analysis::PurchaseAnswer& a : p.answers) {
        const analysis::Upgrade& u = a.upgrade;
        text += option(a.then, u.money.priced) +
                fmt::format(",{:.6g},{:.6g},{:.6g},{},{:.4f},{},{},{},{}\n", u.speedup.value,
                            u.speedup.low, u.speedup.high,
                            std::isfinite(a.needed) ? number(a.needed) : "", a.likely,
                            number(a.saved_share), number(a.outlay_usd), number(a.payback_months),
                            analysis::verdict_name(u.verdict));
    }
    return text;
}

template <class T> PurchaseJson or_null(const std::optional<T>& value) {
    return value ? PurchaseJson(*value) : PurchaseJson(nullptr);
}

PurchaseJson option_json(const analysis::PurchaseOption& o, bool priced) {
    return {{"gpu", o.gpu},
            {"how", bought_how(o)},
            {"devices", o.devices},
            {"usd_per_year", priced ? PurchaseJson(o.usd_per_year) : PurchaseJson(nullptr)},
            {"usd_per_1000", priced ? PurchaseJson(o.usd_per_1000) : PurchaseJson(nullptr)},
            {"usd_per_million_tokens", or_null(o.usd_per_mtoken)},
            {"kwh_per_year", o.kwh_per_year},
            {"kg_co2_per_year", o.kg_co2_per_year},
            {"job_days", or_null(o.job_days)}};
}

PurchaseJson interval_of(const analysis::Interval& i) {
    return {{"value", i.value}, {"low", i.low}, {"high", i.high}};
}

PurchaseJson evidence_json(const analysis::Upgrade& u) {
    PurchaseJson all = PurchaseJson::array();
    for (const analysis::NearEvidence& near : u.nearest) {
        const analysis::EvidenceRow& e = near.row;
        all.push_back(
            {{"source", e.source},
             {"network", e.network},
             {"phase", e.key.phase},
             {"precision", e.key.precision},
             {"from", e.key.from},
             {"to", e.key.to},
             {"gpus", e.gpus},
             {"published", e.speedup},
             {"predicted", e.predicted > 0.0 ? PurchaseJson(e.predicted) : PurchaseJson(nullptr)},
             {"alike", near.share}});
    }
    return all;
}

PurchaseJson shard_json(const analysis::Shard& s) {
    return {{"devices", s.devices},  {"plan", s.plan},     {"fabric", s.fabric},
            {"batch", s.batch},      {"step_s", s.step_s}, {"bytes", s.need.total()},
            {"capacity", s.capacity}};
}

PurchaseJson answer_json(const analysis::PurchaseAnswer& a) {
    const analysis::Upgrade& u = a.upgrade;
    PurchaseJson json = option_json(a.then, u.money.priced);
    json["speedup"] = interval_of(u.speedup);
    json["from_s"] = u.from_s;
    json["to_s"] = u.to_s;
    json["from_batch"] = u.from_batch;
    json["to_batch"] = u.to_batch;
    json["model_speedup"] = u.model_speedup;
    json["from_model_s"] = u.from_model_s;
    json["to_model_s"] = u.to_model_s;
    json["transfer_factor"] = std::exp(u.transfer_ln);
    json["evidence_factor"] = std::exp(u.evidence_ln);
    json["needed"] = std::isfinite(a.needed) ? PurchaseJson(a.needed) : PurchaseJson(nullptr);
    json["likely"] = a.likely;
    json["verdict"] = std::string(analysis::verdict_name(u.verdict));
    json["saved_share"] = or_null(a.saved_share);
    json["outlay_usd"] = or_null(a.outlay_usd);
    json["payback_months"] = or_null(a.payback_months);
    json["unfit"] = u.unfit;
    json["over_budget"] = a.over_budget;
    json["price_tables"] = PurchaseJson::array();
    for (const analysis::PriceVerdict& v : a.by_price) {
        json["price_tables"].push_back(
            {{"prices", v.view.name()},
             {"date", v.view.date()},
             {"age_days", or_null(v.age_days)},
             {"from_usd_per_hour", v.from_usd_per_hour},
             {"to_usd_per_hour", v.to_usd_per_hour},
             {"needed", std::isfinite(v.needed) ? PurchaseJson(v.needed) : PurchaseJson(nullptr)},
             {"likely", v.likely},
             {"saved_share", or_null(v.saved_share)},
             {"verdict", std::string(analysis::verdict_name(v.verdict))},
             {"over_budget", v.over_budget}});
    }
    json["beside"] = PurchaseJson::array();
    for (const analysis::BesideLine& line : a.beside) {
        json["beside"].push_back({{"what", line.what},
                                  {"run", line.run},
                                  {"speedup", interval_of(line.speedup)},
                                  {"unfit", line.unfit}});
    }
    json["sharded"] = nullptr;
    if (a.sharded) {
        json["sharded"] = {{"from", shard_json(a.sharded->from)},
                           {"to", shard_json(a.sharded->to)}};
    }
    json["flips"] = PurchaseJson::array();
    for (const analysis::Flip& flip : a.flips) {
        json["flips"].push_back({{"what", flip.what},
                                 {"speedup", or_null(flip.speedup)},
                                 {"break_even", flip.break_even},
                                 {"changes_verdict", flip.flips}});
    }
    json["evidence"] = evidence_json(u);
    return json;
}

PurchaseJson mix_json(const analysis::Purchase& p) {
    if (!p.mix || !p.mix->plan) {
        return nullptr;
    }
    PurchaseJson json = {{"networks", p.mix->networks},   {"gpus", p.mix->gpus},
                         {"counts", p.mix->plan->counts}, {"usd_per_year", p.mix->plan->cost},
                         {"watts", p.mix->plan->power},   {"gap", p.mix->plan->gap}};
    return json;
}

} // namespace

std::string purchase_json(const analysis::Purchase& p) {
    const analysis::PurchaseAnswer& best = p.answers.at(p.best);
    PurchaseJson json = parse_json(upgrade_json(best.upgrade));
    PurchaseJson candidates = PurchaseJson::array();
    for (const analysis::PurchaseAnswer& a : p.answers) {
        candidates.push_back(answer_json(a));
    }
    json["purchase"] = {{"sentence", p.sentence},
                        {"unit", p.unit},
                        {"best", p.best},
                        {"terms",
                         {{"count", or_null(p.terms.count)},
                          {"utilization", p.prices.utilization},
                          {"years", p.prices.years},
                          {"usd_per_kwh", p.prices.power_usd_per_kwh},
                          {"pue", p.prices.pue},
                          {"kg_co2_per_kwh", p.terms.kg_co2_per_kwh},
                          {"budget_usd", or_null(p.terms.budget_usd)},
                          {"samples", or_null(p.terms.samples)},
                          {"deadline_days", or_null(p.terms.deadline_days)}}},
                        {"best_fleet", mix_json(p)},
                        {"without_buying", p.unbought ? PurchaseJson{{"change", p.unbought->change},
                                                                     {"gain", p.unbought->gain},
                                                                     {"time_s", p.unbought->time_s}}
                                                      : PurchaseJson(nullptr)},
                        {"now", option_json(best.now, best.upgrade.money.priced)},
                        {"candidates", candidates}};
    return json_document(json);
}

std::string purchase_csv(const analysis::Purchase& p) {
    const bool of_layers = p.answers.size() == 1 && !p.terms.count;
    return of_layers || !p.answers.at(p.best).upgrade.sweep.empty()
               ? upgrade_csv(p.answers.at(p.best).upgrade)
               : candidates_csv(p);
}

std::string purchase_markdown(const analysis::Purchase& p, bool details) {
    const analysis::PurchaseAnswer& best = p.answers.at(p.best);
    std::string text = "**" + markdown_cell(p.sentence) + "**\n\n";
    for (const std::string& line : scenario_lines(p)) {
        text += "- " + markdown_cell(line) + "\n";
    }
    text += "- " + markdown_cell(terms_text(p)) + "\n\n";
    for (const Table& table : tables_of(p)) {
        text += table_markdown(table);
    }
    for (const auto& lines : {remarks(p), price_lines(p)}) {
        for (const std::string& line : lines) {
            text += "- " + markdown_cell(line) + "\n";
        }
    }
    return details || !best.upgrade.sweep.empty() ? text + "\n" + upgrade_markdown(best.upgrade)
                                                  : text;
}

std::string purchase_html(const analysis::Purchase& p, bool details) {
    const analysis::PurchaseAnswer& best = p.answers.at(p.best);
    const bool behind = details || !best.upgrade.sweep.empty();
    std::string html = page_head(html_escaped(p.sentence), sheet_style(p, !behind)) +
                       "<main>\n<h1>" + html_escaped(p.sentence) + "</h1>\n<p>";
    for (const std::string& line : scenario_lines(p)) {
        html += html_escaped(line) + "<br>\n";
    }
    html += html_escaped(terms_text(p)) + "</p>\n";
    for (const Table& table : sheet_tables(p)) {
        html += table_html(table);
    }
    html += "<ul>\n";
    for (const auto& lines : {remarks(p), price_lines(p)}) {
        for (const std::string& line : lines) {
            html += "<li>" + html_escaped(line) + "</li>\n";
        }
    }
    html += "</ul>\n<table class=\"sign\"><tr><th>Decision</th><td></td><th>Signed</th><td></td>"
            "<th>Date</th><td></td></tr></table>\n</main>\n";
    return html +
           (behind ? "<div class=\"behind\">\n" + upgrade_page_body(best.upgrade) + "</div>\n"
                   : "") +
           page_foot();
}

} // namespace eyeroof::report
