// The answer over several candidates as text, JSON, CSV, Markdown, and one sheet of HTML. All show
// the same tables, made once.
#include "base/csv.hpp"
#include "base/lines.hpp"
#include "base/markup.hpp"
#include "base/units.hpp"
#include "report/page/page.hpp"
#include "report/upgrade/upgrade.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {

using PurchaseJson = nlohmann::ordered_json;

struct Table {
    std::string title;
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;
};

std::string in_dollars(double amount) {
    std::string digits = fmt::format("{:.0f}", std::fabs(amount));
    for (std::size_t at = digits.size(); at > 3; at -= 3) {
        digits.insert(at - 3, ",");
    }
    return (amount < 0.0 ? "-$" : "$") + digits;
}

std::string small_dollars(double amount) {
    return fmt::format("${:.3g}", amount);
}

std::string count_text(double devices) {
    return devices == std::floor(devices) ? fmt::format("{:.0f}", devices)
                                          : fmt::format("{:.2f}", devices);
}

std::string how(const analysis::PurchaseOption& option) {
    return option.owned ? "owned" : option.bought ? "bought" : "rented";
}

std::vector<std::string> row_of(const analysis::PurchaseOption& o, bool priced) {
    return {o.gpu,
            how(o),
            count_text(o.devices),
            priced ? in_dollars(o.usd_per_year) : "-",
            priced ? small_dollars(o.usd_per_1000) : "-",
            fmt::format("{:.3g} MWh", o.kwh_per_year / 1000.0),
            fmt::format("{:.3g} t", o.kg_co2_per_year / 1000.0)};
}

Table candidates_table(const analysis::Purchase& p) {
    Table table{"",
                {"GPU", "", "devices", "cost a year", "for " + p.unit, "energy a year",
                 "CO2 a year", "speed-up", "80 % interval", "needed", "payback", "likely",
                 "verdict"},
                {}};
    const analysis::PurchaseAnswer& first = p.answers.front();
    const bool job = p.terms.samples && first.upgrade.members.empty();
    if (job) {
        table.columns.emplace_back("job done in");
    }
    const auto add_job = [&](const analysis::PurchaseOption& option,
                             std::vector<std::string>& row) {
        if (job) {
            row.push_back(option.job_days ? fmt::format("{:.3g} d", *option.job_days) : "-");
        }
    };
    std::vector<std::string> now = row_of(first.now, first.upgrade.money.priced);
    now.insert(now.end(), {"1.00x", "", "", "", "", "now"});
    add_job(first.now, now);
    table.rows.push_back(std::move(now));
    for (const analysis::PurchaseAnswer& a : p.answers) {
        const analysis::Upgrade& u = a.upgrade;
        const bool judged = u.verdict != analysis::UpgradeVerdict::unpriced && u.unfit.empty();
        std::vector<std::string> row = row_of(a.then, u.money.priced);
        row.insert(row.end(), {fmt::format("{:.2f}x", u.speedup.value),
                               fmt::format("{:.2f}x to {:.2f}x", u.speedup.low, u.speedup.high),
                               !judged                   ? "-"
                               : std::isfinite(a.needed) ? fmt::format("{:.2f}x", a.needed)
                                                         : "never",
                               a.payback_months && *a.payback_months < 1000.0
                                   ? fmt::format("{:.0f} months", *a.payback_months)
                               : a.then.bought ? "never"
                                               : "-",
                               judged ? analysis::chance_text(a.likely) : "-",
                               std::string(analysis::verdict_name(u.verdict))});
        add_job(a.then, row);
        table.rows.push_back(std::move(row));
    }
    return table;
}

Table flips_table(const analysis::PurchaseAnswer& a) {
    Table table{
        "What would change the verdict", {"change", "speed-up", "break-even", "verdict"}, {}};
    for (const analysis::Flip& flip : a.flips) {
        table.rows.push_back({flip.what, flip.speedup ? fmt::format("{:.2f}x", *flip.speedup) : "",
                              flip.break_even, flip.flips ? "changes" : "stays"});
    }
    return table;
}

Table evidence_table(const analysis::PurchaseAnswer& a) {
    Table table{"Nearest published speed-ups",
                {"network", "phase", "from", "to", "GPUs", "published", "predicted", "off", "alike",
                 "source"},
                {}};
    for (const analysis::NearEvidence& near : a.upgrade.nearest) {
        const analysis::EvidenceRow& e = near.row;
        const bool known = e.predicted > 0.0;
        table.rows.push_back(
            {e.network, e.key.phase + " " + e.key.precision, e.key.from, e.key.to,
             fmt::format("{}", e.gpus), fmt::format("{:.2f}x", e.speedup),
             known ? fmt::format("{:.2f}x", e.predicted) : "-",
             known ? fmt::format("{:+.0f} %", 100.0 * (e.predicted / e.speedup - 1.0)) : "-",
             fmt::format("{:.2f}", near.share), e.source});
    }
    return table;
}

Table beside_table(const analysis::PurchaseAnswer& a) {
    Table table{"Other questions", {"question", "speed-up", "80 % interval"}, {}};
    for (const analysis::BesideLine& line : a.beside) {
        table.rows.push_back(
            {line.what,
             line.unfit.empty() ? fmt::format("{:.2f}x", line.speedup.value) : "does not fit",
             line.unfit.empty()
                 ? fmt::format("{:.2f}x to {:.2f}x", line.speedup.low, line.speedup.high)
                 : line.unfit});
    }
    return table;
}

// What is known only from far away, and what would be known better.
std::vector<std::string> remarks(const analysis::Purchase& p) {
    constexpr double kFar = 0.3;
    const analysis::PurchaseAnswer& a = p.answers.at(p.best);
    const analysis::Upgrade& u = a.upgrade;
    std::vector<std::string> all;
    if (p.unbought) {
        all.push_back(fmt::format("without buying, on {}: {}", u.from, p.unbought->change));
    }
    if (u.members.empty() && u.speedup.low < u.speedup.high) {
        const bool far = u.nearest.empty() || u.nearest.front().share < kFar;
        all.push_back(fmt::format("model alone {:.2f}x; published speed-ups move it by {:+.0f} %{}",
                                  u.model_speedup, 100.0 * (std::exp(u.evidence_ln) - 1.0),
                                  far ? "; none of them is near this question, so the interval is "
                                        "the model's alone"
                                      : ""));
    }
    if (u.measured_from_rate || u.measured_to_rate) {
        all.push_back(fmt::format(
            "measured by you: {}{}",
            u.measured_from_rate ? fmt::format("{:g}/s on {} ", *u.measured_from_rate, u.from) : "",
            u.measured_to_rate ? fmt::format("{:g}/s on {}", *u.measured_to_rate, u.to) : ""));
    } else if (u.verdict == analysis::UpgradeVerdict::undecided && u.members.empty()) {
        all.emplace_back("to decide: measure the throughput of your own run and give it with "
                         "--measured-old, such as --measured-old 820/s");
    }
    if (a.book_value_usd) {
        all.push_back(fmt::format("{} of the owned GPUs' price is not written off yet: spent "
                                  "either way, so not counted",
                                  in_dollars(*a.book_value_usd)));
    }
    if (!a.over_budget.empty()) {
        all.push_back(a.over_budget);
    }
    return all;
}

std::string terms_text(const analysis::Purchase& p) {
    const analysis::UpgradePrices& prices = p.prices;
    return fmt::format("{:.0f} % of the hours at work, {:g} years, ${:g}/kWh, PUE {:g}, {:g} kg "
                       "CO2/kWh, {} for a host a month and GPU, old GPUs sell for {}",
                       100.0 * prices.utilization, prices.years, prices.power_usd_per_kwh,
                       prices.pue, p.terms.kg_co2_per_kwh, in_dollars(prices.host_usd_per_month),
                       in_dollars(prices.from_resale_usd.value_or(0.0)));
}

std::string table_text(const Table& table) {
    if (table.rows.empty()) {
        return "";
    }
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        widths.push_back(display_width(table.columns[c]));
        for (const auto& row : table.rows) {
            widths[c] = std::max(widths[c], display_width(masked_controls(row[c])));
        }
    }
    const auto line = [&](const std::vector<std::string>& cells) {
        std::string text = " ";
        for (std::size_t c = 0; c < cells.size(); ++c) {
            text += " " + left(masked_controls(cells[c]), widths[c]) +
                    (c + 1 < cells.size() ? " " : "");
        }
        while (text.ends_with(' ')) {
            text.pop_back();
        }
        return text + "\n";
    };
    std::string text = table.title.empty() ? "" : table.title + "\n";
    text += line(table.columns);
    for (const auto& row : table.rows) {
        text += line(row);
    }
    return text + "\n";
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
    text += "<table>" + line(table.columns, "th");
    for (const auto& row : table.rows) {
        text += line(row, "td");
    }
    return text + "</table>\n";
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
        return fmt::format("{},{},{:.6g},{},{},{:.6g},{:.6g}", csv_quoted(o.gpu), how(o), o.devices,
                           number(cost(o.usd_per_year)), number(cost(o.usd_per_1000)),
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

std::vector<Table> tables_of(const analysis::Purchase& p) {
    const analysis::PurchaseAnswer& best = p.answers.at(p.best);
    return {candidates_table(p), beside_table(best), flips_table(best), evidence_table(best)};
}

template <class T> PurchaseJson or_null(const std::optional<T>& value) {
    return value ? PurchaseJson(*value) : PurchaseJson(nullptr);
}

PurchaseJson option_json(const analysis::PurchaseOption& o, bool priced) {
    return {{"gpu", o.gpu},
            {"how", how(o)},
            {"devices", o.devices},
            {"usd_per_year", priced ? PurchaseJson(o.usd_per_year) : PurchaseJson(nullptr)},
            {"usd_per_1000", priced ? PurchaseJson(o.usd_per_1000) : PurchaseJson(nullptr)},
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

PurchaseJson answer_json(const analysis::PurchaseAnswer& a) {
    const analysis::Upgrade& u = a.upgrade;
    PurchaseJson json = option_json(a.then, u.money.priced);
    json["speedup"] = interval_of(u.speedup);
    json["from_s"] = u.from_s;
    json["to_s"] = u.to_s;
    json["from_batch"] = u.from_batch;
    json["to_batch"] = u.to_batch;
    json["model_speedup"] = u.model_speedup;
    json["evidence_factor"] = std::exp(u.evidence_ln);
    json["needed"] = std::isfinite(a.needed) ? PurchaseJson(a.needed) : PurchaseJson(nullptr);
    json["likely"] = a.likely;
    json["verdict"] = std::string(analysis::verdict_name(u.verdict));
    json["saved_share"] = or_null(a.saved_share);
    json["outlay_usd"] = or_null(a.outlay_usd);
    json["payback_months"] = or_null(a.payback_months);
    json["unfit"] = u.unfit;
    json["over_budget"] = a.over_budget;
    json["beside"] = PurchaseJson::array();
    for (const analysis::BesideLine& line : a.beside) {
        json["beside"].push_back({{"what", line.what},
                                  {"run", line.run},
                                  {"speedup", interval_of(line.speedup)},
                                  {"unfit", line.unfit}});
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

} // namespace

std::string purchase_text(const analysis::Purchase& p) {
    const analysis::PurchaseAnswer& best = p.answers.at(p.best);
    std::string text = wrapped(p.sentence, 0, 100) + wrapped(best.upgrade.run, 2, 100) +
                       wrapped(terms_text(p), 2, 100) + "\n";
    const std::vector<Table> tables = tables_of(p);
    for (std::size_t i = 0; i < tables.size(); ++i) {
        text += table_text(tables[i]);
    }
    for (const std::string& remark : remarks(p)) {
        text += wrapped(remark, 2, 100);
    }
    text += "\n" + upgrade_text(best.upgrade);
    for (std::size_t i = 0; i < p.answers.size(); ++i) {
        text += i == p.best ? "" : upgrade_categories_text(p.answers[i].upgrade);
    }
    return text;
}

std::string purchase_json(const analysis::Purchase& p) {
    const analysis::PurchaseAnswer& best = p.answers.at(p.best);
    PurchaseJson json = PurchaseJson::parse(upgrade_json(best.upgrade));
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
                        {"without_buying", p.unbought ? PurchaseJson{{"change", p.unbought->change},
                                                                     {"gain", p.unbought->gain},
                                                                     {"time_s", p.unbought->time_s}}
                                                      : PurchaseJson(nullptr)},
                        {"now", option_json(best.now, best.upgrade.money.priced)},
                        {"candidates", candidates}};
    return json.dump(2) + "\n";
}

std::string purchase_csv(const analysis::Purchase& p) {
    const bool of_layers = p.answers.size() == 1 && !p.terms.count;
    return of_layers || !p.answers.at(p.best).upgrade.sweep.empty()
               ? upgrade_csv(p.answers.at(p.best).upgrade)
               : candidates_csv(p);
}

std::string purchase_markdown(const analysis::Purchase& p) {
    const analysis::PurchaseAnswer& best = p.answers.at(p.best);
    std::string text = "**" + markdown_cell(p.sentence) + "**\n\n" +
                       markdown_cell(best.upgrade.run) + "; " + markdown_cell(terms_text(p)) +
                       ".\n\n";
    for (const Table& table : tables_of(p)) {
        text += table_markdown(table);
    }
    for (const std::string& remark : remarks(p)) {
        text += "- " + markdown_cell(remark) + "\n";
    }
    return text + "\n" + upgrade_markdown(best.upgrade);
}

std::string purchase_html(const analysis::Purchase& p) {
    const analysis::PurchaseAnswer& best = p.answers.at(p.best);
    const std::string style =
        "body{font:13px sans-serif;max-width:72em;margin:1.5em auto;padding:0 1em}"
        "h1{font-size:1.5em}h2{font-size:1.05em;margin:1em 0 .3em}"
        "table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2em .5em;"
        "text-align:left}pre{white-space:pre-wrap}"
        "@page{size:A4 landscape;margin:12mm}@media print{.behind{page-break-before:always}}";
    std::string html = page_head(html_escaped(p.sentence), style) + "<h1>" +
                       html_escaped(p.sentence) + "</h1>\n<p>" + html_escaped(best.upgrade.run) +
                       "<br>" + html_escaped(terms_text(p)) + "</p>\n";
    for (const Table& table : tables_of(p)) {
        html += table_html(table);
    }
    html += "<ul>\n";
    for (const std::string& remark : remarks(p)) {
        html += "<li>" + html_escaped(remark) + "</li>\n";
    }
    return html + "</ul>\n<div class=\"behind\">\n" + upgrade_page_body(best.upgrade) + "</div>\n" +
           page_foot();
}

} // namespace eyeroof::report
