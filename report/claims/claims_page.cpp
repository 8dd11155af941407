// Claims as one HTML page: a table of all, then each with its picture.
#include "base/lines.hpp"
#include "base/markup.hpp"
#include "report/claims/claims_write.hpp"
#include "report/draw/chart.hpp"
#include "report/draw/chart_scene.hpp"
#include "report/draw/fitted_text.hpp"
#include "report/draw/linear_plot.hpp"
#include "report/draw/svg.hpp"
#include "report/page/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

using analysis::claims::ClaimFound;
using analysis::claims::FigureFound;
using analysis::claims::Verdict;
using analysis::claims::verdict_name;

namespace {

// On a phone a row is two lines: the name or the claim has one of its own, and pictures scroll.
constexpr const char* kClaimsStyle = R"(
h2 { margin-top: 3rem; } h3 { margin-top: 2.2rem; }
td.number, th.number { text-align: right; white-space: nowrap; }
td.verdict { white-space: nowrap; } td.explained { font-style: italic; } td.differs { font-weight: bold; }
td.why { padding-left: 2rem; border-bottom: none; font-size: .93em; color: var(--faint); }
table.sort td:first-child { white-space: nowrap; }
pre { padding: .5rem; background: #8882; }
pre code { display: block; padding-left: 1.5em; text-indent: -1.5em; }
@media (max-width: 42rem) {
  table, tbody { display: block; } td, th { border-bottom: none; padding: .1rem .3rem; }
  tr { display: grid; grid-template-columns: repeat(4, auto); justify-content: space-between;
       border-bottom: 1px solid var(--line); padding: .3rem 0; }
  table.figures td:first-child, table.figures th:first-child, td.why,
  table.sort td:last-child, table.sort th:last-child { grid-column: 1 / -1; }
  table.sort tr { grid-template-columns: 1fr auto auto; }
  td.why { padding-left: 1rem; }
}
@media print { a { color: inherit; text-decoration: none; } pre { break-inside: avoid; } })";

constexpr double kClaimWidth = 820.0, kBarNames = 300.0, kBarValues = 170.0, kBarsTop = 64.0,
                 kPair = 34.0, kBarHeight = 11.0;

double largest(const FigureFound& f) {
    return std::max({std::abs(f.ours), std::abs(f.figure.high.value_or(0.0)),
                     std::abs(f.figure.low.value_or(0.0))});
}

// A figure's pair of bars: what is published above, a band between the ends of a range.
void add_pair(Drawing& d, const FigureFound& f, double top) {
    const double scale = (kClaimWidth - kBarNames - kBarValues) / std::max(largest(f), 1e-300);
    const double low = std::abs(f.figure.low.value_or(0.0));
    const double high = std::abs(f.figure.high.value_or(low));
    d.texts.push_back({{kBarNames - 8.0, top + 16.0},
                       fitted(f.figure.name, kSmallPx, kBarNames - 18.0),
                       ColourRole::text,
                       kSmallPx,
                       1.0});
    const double from = f.figure.low == f.figure.high || !f.figure.low ? 0.0 : low;
    const double to = std::max(high, low);
    d.boxes.push_back(
        {{kBarNames + scale * from, top, std::max(1.5, scale * (to - from)), kBarHeight},
         ColourRole::frame,
         1.0,
         false,
         f.figure.name + ", published: " + published_text(f.figure)});
    d.boxes.push_back(
        {{kBarNames, top + kBarHeight + 1.0, std::max(1.0, scale * std::abs(f.ours)), kBarHeight},
         ColourRole::series1,
         f.verdict == Verdict::agrees ? 1.0 : 0.6,
         false,
         f.figure.name + ", eyeroof: " + ours_text(f)});
    d.texts.push_back({{kBarNames + scale * to + 6.0, top + kBarHeight - 2.0},
                       published_text(f.figure),
                       ColourRole::faint,
                       kSmallPx - 1.0});
    d.texts.push_back({{kBarNames + scale * std::abs(f.ours) + 6.0, top + 2.0 * kBarHeight - 1.0},
                       ours_text(f),
                       ColourRole::text,
                       kSmallPx - 1.0});
    d.figures.rows.push_back({f.figure.name, f.figure.low.value_or(0.0), high, f.ours});
}

// The published figures lie on the curves as dashed lines where they are of the curve's axis.
std::string curves(const ClaimFound& found) {
    Chart chart;
    chart.title = found.claim.name;
    chart.x_title = found.claim.plot.x_title;
    chart.y_title = found.claim.plot.y_title;
    for (const analysis::claims::LineFound& line : found.lines) {
        chart.lines.push_back({line.label, line.points, false, true, true});
    }
    return to_svg(draw_chart(chart, {kClaimWidth, 400.0}), SvgTheme::automatic);
}

std::string picture(const ClaimFound& found) {
    if (!found.picture.empty()) {
        return found.picture.substr(std::min(found.picture.find("<svg"), found.picture.size()));
    }
    if (!found.lines.empty()) {
        return curves(found);
    }
    return to_svg(claim_bars(found), SvgTheme::automatic);
}

// Nothing for statements alone.
std::string picture_html(const ClaimFound& found) {
    const bool statements = std::all_of(found.figures.begin(), found.figures.end(),
                                        [](const FigureFound& f) { return f.figure.statement; });
    return statements && found.picture.empty() && found.lines.empty()
               ? ""
               : "<figure>" + picture(found) + "</figure>\n";
}

std::string figures_html(const ClaimFound& found) {
    std::string text = "<table class=\"figures\"><tr><th>figure</th><th class=\"number\">published"
                       "</th><th class=\"number\">eyeroof</th><th class=\"number\">deviation</th>"
                       "<th></th></tr>\n";
    for (const FigureFound& f : found.figures) {
        text +=
            fmt::format("<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
                        "<td class=\"number\">{}</td><td class=\"verdict {}\">{}</td></tr>\n",
                        html_escaped(f.figure.name), html_escaped(published_text(f.figure)),
                        html_escaped(ours_text(f)), deviation_text(f), verdict_name(f.verdict),
                        verdict_name(f.verdict));
        for (const auto& reason : f.why) {
            text += fmt::format("<tr><td colspan=\"5\" class=\"why\">{}</td></tr>\n",
                                html_escaped(reason_text(f, reason)));
        }
    }
    return text + "</table>\n";
}

std::string one_html(const ClaimFound& found) {
    const formats::Claim& claim = found.claim;
    const std::string name = html_escaped(claim.name);
    std::string text = fmt::format("<h3 id=\"{0}\">{0}</h3>\n<p>{1}</p>\n<p>Source: {2}</p>\n<pre>",
                                   name, html_escaped(claim.claim), html_escaped(claim.source));
    for (const formats::ClaimRun& run : claim.runs) {
        text += "<code>" + html_escaped(command_line(claim, run.words)) + "</code>";
    }
    text += "</pre>\n";
    if (found.skipped) {
        return text + "<p>It measures the machine that it runs on.</p>\n";
    }
    text += figures_html(found) + picture_html(found);
    text += claim.agrees.empty() ? "" : "<p>Agrees: " + html_escaped(claim.agrees) + "</p>\n";
    return text +
           (claim.differs.empty() ? "" : "<p>Differs: " + html_escaped(claim.differs) + "</p>\n");
}

} // namespace

Drawing claim_bars(const ClaimFound& found) {
    Drawing d;
    std::size_t rows = 0;
    d.figures.columns = {"figure", "published_low", "published_high", "ours"};
    for (const FigureFound& f : found.figures) {
        if (!f.figure.statement) {
            add_pair(d, f, kBarsTop + kPair * static_cast<double>(rows));
            ++rows;
        }
    }
    d.canvas = {kClaimWidth,
                kBarsTop + kPair * static_cast<double>(std::max<std::size_t>(rows, 1)) + 6.0};
    add_heading(d, found.claim.name,
                rows == 0 ? "statements without a figure"
                          : "published (gray) and eyeroof, each pair to its own scale");
    return d;
}

std::string claims_html(const ClaimsFound& claims) {
    const std::string title = "The field's claims, checked";
    std::string text =
        page_head(html_escaped(title), kClaimsStyle) + "<h1>" + html_escaped(title) +
        "</h1>\n<p>Figures that articles repeat, asked again by one command each. A "
        "figure agrees within 10 %; a larger deviation is explained by a "
        "counterfactual, the figure with one parameter changed, which shows "
        "what the change would account for, not that it is the cause. "
        "<em>unsourced</em> marks published figures without a source at hand, which "
        "are not judged.</p>\n<p>" +
        html_escaped(claims_summary(claims)) +
        "</p>\n<table class=\"sort\"><tr><th>claim</th><th class=\"number\">agree</th>"
        "<th class=\"number\">worst</th><th>what is claimed</th></tr>\n";
    for (const ClaimFound& found : claims) {
        text += fmt::format("<tr><td><a href=\"#{0}\">{0}</a></td><td class=\"number\">{1}</td>"
                            "<td class=\"number\">{2}</td><td>{3}</td></tr>\n",
                            html_escaped(found.claim.name), agreement_text(found),
                            worst_text(found), html_escaped(found.claim.claim));
    }
    text += "</table>\n";
    std::string topic;
    for (const ClaimFound& found : claims) {
        if (found.claim.topic != topic) {
            topic = found.claim.topic;
            text += "<h2>" + html_escaped(topic) + "</h2>\n";
        }
        text += one_html(found);
    }
    return text + page_foot();
}

} // namespace eyeroof::report
