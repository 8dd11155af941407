#include "report/exam/html.hpp"

#include "analysis/exam/report_figures.hpp"
#include "analysis/exam/report_warnings.hpp"
#include "base/markup.hpp"
#include "base/units.hpp"
#include "report/draw/svg.hpp"
#include "report/draw/waterfall_scene.hpp"
#include "report/exam/answer.hpp"
#include "report/exam/chip_words.hpp"
#include "report/exam/words.hpp"
#include "report/measured/measured_text.hpp"
#include "report/measured/traced_page.hpp"
#include "report/page/page.hpp"
#include "report/search/proofs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

namespace eyeroof::report {

namespace {

using model::kSteps;

std::string bar_html(double done, double could) {
    return fmt::format("<div class=\"bar\"><i class=\"could\" style=\"width:{:.2f}%\"></i>"
                       "<i class=\"done\" style=\"width:{:.2f}%\"></i></div>",
                       100.0 * could, 100.0 * done);
}

std::vector<std::string> step_row(const analysis::Report& report,
                                  const analysis::LayerReport& layer, std::size_t step) {
    const double units = analysis::units_of(report.machine, layer);
    const model::StepBound& bound = layer.steps[step - 1];
    const double kept = analysis::kept_at(layer.steps, units, step);
    const bool loses = kept < 1.0 - 5e-4;
    return {fmt::format("<span title=\"{}\">{} {}</span>", html_escaped(bound.reason), step,
                        model::kStepNames[step - 1]),
            format_si(bound.macs_per_cycle, "", 4),
            format_si(layer.machine_steps[step - 1].macs_per_cycle, "", 4),
            bar_html(analysis::share_after(layer.steps, units, step),
                     analysis::share_after(layer.machine_steps, units, step)),
            loses ? "<span class=\"loss\">−" + percent(1.0 - kept) + "</span>" : "",
            loses ? html_escaped(bound.limit) : ""};
}

// Layers of one operator whose shown figures are equal, under the first one's name.
struct Equal {
    std::size_t first = 0; // index into Report::layers
    Count runs = 0;
    double time_s = 0.0;  // of all runs
    bool detailed = true; // are its seven steps on the page?
};

constexpr std::size_t kMostDetailed = 500; // rows whose seven steps a page has

// Leaves the seven steps to the rows that take most of the time.
void choose_detailed(std::vector<Equal>& rows) {
    if (rows.size() <= kMostDetailed) {
        return;
    }
    std::vector<double> times;
    for (const Equal& row : rows) {
        times.push_back(row.time_s);
    }
    std::nth_element(times.begin(), times.begin() + kMostDetailed, times.end(), std::greater<>());
    for (Equal& row : rows) {
        row.detailed = row.time_s > times[kMostDetailed];
    }
}

std::vector<Equal> equal_layers(const analysis::Report& report) {
    std::vector<Equal> rows;
    std::map<std::string, std::size_t> known;
    for (std::size_t i = 0; i < report.layers.size(); ++i) {
        const analysis::LayerReport& layer = report.layers[i];
        const analysis::WorkFigure work = analysis::work_of(layer);
        std::string key =
            fmt::format("{} {} {} {} {} {}", static_cast<int>(layer.layer.op),
                        format_si(work.amount, work.unit, 4), format_si(layer.time_s, "s", 4),
                        percent(layer.utilization), layer.limiter_step, layer.limiter);
        if (layer.measured) { // its own figures stand in its details
            key += fmt::format(" measured {}", i);
        }
        const auto [at, is_new] = known.emplace(std::move(key), rows.size());
        if (is_new) {
            rows.push_back({i});
        }
        rows[at->second].runs += layer.layer.count;
        rows[at->second].time_s += layer.time_s * static_cast<double>(layer.layer.count);
    }
    choose_detailed(rows);
    return rows;
}

std::string count_text(Count runs) {
    return runs > 1 ? fmt::format(" ×{}", runs) : "";
}

// Equal layers in a row, as they come; a click on a heading puts them in order.
std::string layers_html(const analysis::Report& report, const std::vector<Equal>& equal) {
    PageTable table{{{"layer", false},
                     {"operator", false},
                     {"work"},
                     {"time"},
                     {"share"},
                     {"utilization"},
                     {"bound by (step)", false}},
                    {}};
    const double all_s = layers_time(report);
    for (const Equal& row : equal) {
        const analysis::LayerReport& layer = report.layers[row.first];
        const analysis::WorkFigure work = analysis::work_of(layer);
        table.rows.push_back(
            {(row.detailed ? fmt::format("<a href=\"#l{}\">{}</a>", row.first,
                                         html_escaped(layer.layer.name))
                           : html_escaped(layer.layer.name)) +
                 count_text(row.runs),
             std::string(model::op_name(layer.layer.op)), format_si(work.amount, work.unit, 4),
             format_si(layer.time_s, "s", 4), percent(all_s > 0.0 ? row.time_s / all_s : 0.0),
             percent(layer.utilization),
             fmt::format("{} ({})", html_escaped(layer.limiter), layer.limiter_step)});
    }
    return "<h2>Layers</h2>\n<p class=\"rest\">Time of one run, share of the time of all layers; "
           "equal layers in one row.</p>\n" +
           page_table(table);
}

std::string layer_html(const analysis::Report& report, const Equal& row) {
    const analysis::LayerReport& layer = report.layers[row.first];
    const analysis::WorkFigure work = analysis::work_of(layer);
    std::string text = fmt::format(
        "<h2 id=\"l{}\">{}{}</h2>\n<p>{} · {} · {} · {} utilization · bound by step {}, {}</p>\n",
        row.first, html_escaped(layer.layer.name), count_text(row.runs),
        std::string(model::op_name(layer.layer.op)), format_si(work.amount, work.unit, 4),
        time_text(layer.time_s, layer.low_s, layer.high_s), percent(layer.utilization),
        layer.limiter_step, html_escaped(layer.limiter));
    PageTable table{{{"step", false},
                     {"mapping, MAC/cycle"},
                     {"machine, MAC/cycle"},
                     {"of the peak", false},
                     {"loss"},
                     {"to", false}},
                    {},
                    false};
    for (std::size_t step = 1; step <= kSteps; ++step) {
        table.rows.push_back(step_row(report, layer, step));
    }
    text += page_table(table);
    if (layer.measured) {
        text += "<ul>\n";
        for (const std::string& line : measured_lines(layer)) {
            text += "<li>" + html_escaped(line) + "</li>\n";
        }
        text += "</ul>\n";
    }
    return text;
}

// The ladders, open where there are few.
std::string ladders_html(const analysis::Report& report, const std::vector<Equal>& equal) {
    constexpr std::size_t few = 3;
    std::string text =
        equal.size() <= few ? ""
        : equal.size() <= kMostDetailed
            ? "<details><summary>The seven steps of every layer</summary>\n"
            : fmt::format("<details><summary>The seven steps of the {} layers that take most of "
                          "the time; --layers NAME has those of the others</summary>\n",
                          kMostDetailed);
    for (const Equal& row : equal) {
        text += row.detailed ? layer_html(report, row) : "";
    }
    return text + (equal.size() > few ? "</details>\n" : "");
}

std::string measured_html(const analysis::Report& report) {
    if (!report.measured) {
        return {};
    }
    const analysis::Measurement& all = *report.measured;
    PageTable table{{{"layer", false},
                     {"predicted"},
                     {"measured"},
                     {"unexplained"},
                     {"share"},
                     {"most telling counter", false}},
                    {}};
    const auto row = [&](std::string_view name, double predicted_s, double measured_s,
                         std::string_view why) {
        table.rows.push_back(
            {html_escaped(name), format_si(predicted_s, "s"), format_si(measured_s, "s"),
             "<span class=\"loss\">" + signed_time(measured_s - predicted_s) + "</span>",
             signed_share(measured_s - predicted_s, predicted_s), html_escaped(why)});
    };
    for (const analysis::LayerReport& layer : report.layers) {
        if (const auto& m = layer.measured) {
            row(layer.layer.name, m->predicted_s, m->time_s, "step " + main_disagreement(*m));
        }
    }
    row("total", all.predicted_s, all.measured_s, "");
    std::string text = "<h2>Measured, below step seven</h2>\n" + page_table(table) + "<ul>\n";
    for (const std::string& line : measurement_lines(all)) {
        text += "<li>" + html_escaped(line) + "</li>\n";
    }
    return text + "</ul>\n";
}

std::string ceilings_html(const analysis::Report& report) {
    PageTable table{{{"ceiling", false}, {"measured", false}}, {}, false};
    for (const analysis::CeilingRow& row : report.ceilings) {
        table.rows.push_back({fmt::format("<span title=\"{}\">{}</span>", html_escaped(row.how),
                                          html_escaped(row.name)),
                              html_escaped(ceiling_text(row))});
    }
    return table.rows.empty() ? std::string() : "<h2>Measured ceilings</h2>\n" + page_table(table);
}

std::string losses_html(const analysis::Report& report) {
    std::string text;
    for (const Saving& saving : savings_of(report)) {
        text += fmt::format("<li>{}<br><span class=\"rest\">{}</span></li>\n",
                            html_escaped(saving_text(report, saving)),
                            html_escaped(saving_reason(report, saving)));
    }
    return text.empty() ? text
                        : "<h2>Potential savings from removing one bottleneck</h2>\n<ol>\n" + text +
                              "</ol>\n";
}

std::string title_of(const analysis::Report& report) {
    return html_escaped(report.network_name) + " on " + html_escaped(report.machine.name);
}

std::string paragraph(const std::string& text, const char* kind = "rest") {
    return text.empty() ? std::string()
                        : fmt::format("<p class=\"{}\">{}</p>\n", kind, html_escaped(text));
}

// The scenario, the answer, and the network's seven steps.
std::string heading_html(const analysis::Report& report) {
    std::string text = "<h1>" + title_of(report) + "</h1>\n" + paragraph(report.words);
    std::string answer = fmt::format("{}", fmt::join(total_parts(report), ", ")) + ".";
    for (const std::string& line : answer_lines(report)) {
        answer += " " + line + ".";
    }
    text += paragraph(answer, "answer");
    if (!report.layers.empty()) {
        text += "<figure>" +
                to_svg(make_network_waterfall(report, {960.0, 400.0}), SvgTheme::automatic) +
                "</figure>\n";
    }
    return text;
}

// What else holds for the whole network.
std::string facts_html(const analysis::Report& report) {
    std::string text = paragraph(fmt::format("Machine: {} MAC/cycle, {}, {}.",
                                             format_si(report.machine.units, "", 4),
                                             format_si(report.machine.clock_hz, "Hz"),
                                             format_si(report.machine.peak_macs_per_s, "MAC/s")));
    if (const std::string sum = analysis::step_sum_text(report); !sum.empty()) {
        text += paragraph(sentence(sum));
    }
    if (const std::string proofs = proofs_text(report); !proofs.empty()) {
        text += paragraph("Searched: " + proofs);
    }
    if (report.fit) {
        text += paragraph(memory_fit_text(*report.fit));
    }
    return text + (report.chip ? paragraph(chip_text(*report.chip)) : "");
}

std::string sections_html(const analysis::Report& report) {
    const std::vector<Equal> equal = equal_layers(report);
    return losses_html(report) + layers_html(report, equal) + measured_html(report) +
           ceilings_html(report) + facts_html(report) + ladders_html(report, equal);
}

} // namespace

std::string to_html(const analysis::Report& report) {
    return page_head(title_of(report)) + heading_html(report) + sections_html(report) + page_foot();
}

std::string to_html(const analysis::Report& report, const analysis::Traced& traced) {
    const std::vector<PageScript> scripts = {page_script(), traced_script()};
    const std::string style = "body{max-width:90rem}" + std::string(traced_style());
    return page_head(title_of(report), style, scripts) + heading_html(report) +
           traced_html(traced) + sections_html(report) + page_foot(scripts);
}

} // namespace eyeroof::report
