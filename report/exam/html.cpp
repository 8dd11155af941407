#include "report/exam/html.hpp"

#include "analysis/exam/report_figures.hpp"
#include "analysis/exam/report_warnings.hpp"
#include "base/markup.hpp"
#include "base/units.hpp"
#include "report/exam/chip_words.hpp"
#include "report/exam/words.hpp"
#include "report/measured/measured_text.hpp"
#include "report/measured/traced_page.hpp"
#include "report/page/page.hpp"
#include "report/search/proofs.hpp"

#include <fmt/format.h>

namespace eyeroof::report {

namespace {

using model::kSteps;

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1b1f24; --faint: #667; --paper: #fff; --line: #d8dce2;
        --done: #2c7fb8; --could: #b9d7ea; --loss: #b3440e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --faint: #9aa3ad; --paper: #15181c; --line: #363c44; --done: #4aa3df;
          --could: #24506d; --loss: #ff9a5c; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; } h2 { font-size: 1.05rem; margin: 1.8rem 0 .2rem; }
p { margin: .2rem 0 .6rem; color: var(--faint); } .loss { color: var(--loss); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
td, th { text-align: right; padding: .15rem .6rem .15rem 0; border-bottom: 1px solid var(--line);
         font-weight: normal; } th { color: var(--faint); }
td:first-child, th:first-child, td.t, th.t { text-align: left; }
.bar { position: relative; width: 12rem; height: .8rem; border: 1px solid var(--line); }
.bar i { position: absolute; inset: 0 auto 0 0; } .could { background: var(--could); }
.done { background: var(--done); }
)";

std::string bar_html(double done, double could) {
    return fmt::format("<div class=\"bar\"><i class=\"could\" style=\"width:{:.2f}%\"></i>"
                       "<i class=\"done\" style=\"width:{:.2f}%\"></i></div>",
                       100.0 * could, 100.0 * done);
}

std::string step_row(const analysis::Report& report, const analysis::LayerReport& layer,
                     std::size_t step) {
    const double units = analysis::units_of(report.machine, layer);
    const model::StepBound& bound = layer.steps[step - 1];
    const double kept = analysis::kept_at(layer.steps, units, step);
    const bool loses = kept < 1.0 - 5e-4;
    return fmt::format("<tr title=\"{}\"><td>{} {}</td><td>{}</td><td>{}</td><td>{}</td>"
                       "<td class=\"loss\">{}</td><td class=\"t\">{}</td></tr>\n",
                       html_escaped(bound.reason), step, model::kStepNames[step - 1],
                       format_si(bound.macs_per_cycle, "", 4),
                       format_si(layer.machine_steps[step - 1].macs_per_cycle, "", 4),
                       bar_html(analysis::share_after(layer.steps, units, step),
                                analysis::share_after(layer.machine_steps, units, step)),
                       loses ? "−" + percent(1.0 - kept) : "",
                       loses ? html_escaped(bound.limit) : "");
}

std::string count_text(const analysis::LayerReport& layer) {
    return layer.layer.count > 1 ? fmt::format(" ×{}", layer.layer.count) : "";
}

// Every layer in a row, as they come; a click on a heading puts them in order.
std::string layers_html(const analysis::Report& report) {
    std::string text = "<h2>Layers</h2>\n<table class=\"sort\"><tr><th>layer</th><th class=\"t\">"
                       "operator</th><th>work</th><th>time</th><th>share</th><th>utilization</th>"
                       "<th class=\"t\">bound by</th></tr>\n";
    for (std::size_t i = 0; i < report.layers.size(); ++i) {
        const analysis::LayerReport& layer = report.layers[i];
        const analysis::WorkFigure work = analysis::work_of(layer);
        const double all_s = layer.time_s * static_cast<double>(layer.layer.count);
        text += fmt::format(
            "<tr><td><a href=\"#l{}\">{}</a>{}</td><td class=\"t\">{}</td><td>{}"
            "</td><td>{}</td><td>{}</td><td>{}</td><td class=\"t\">{} {}</td></tr>\n",
            i, html_escaped(layer.layer.name), count_text(layer), model::op_name(layer.layer.op),
            format_si(work.amount, work.unit, 4), format_si(layer.time_s, "s", 4),
            percent(report.total.time_s > 0.0 ? all_s / report.total.time_s : 0.0),
            percent(layer.utilization), layer.limiter_step, html_escaped(layer.limiter));
    }
    return text + "</table>\n";
}

std::string layer_html(const analysis::Report& report, std::size_t index) {
    const analysis::LayerReport& layer = report.layers[index];
    const analysis::WorkFigure work = analysis::work_of(layer);
    std::string text = fmt::format(
        "<h2 id=\"l{}\">{}{}</h2>\n<p>{} · {} · {} · {} utilization · bound by step {}, {}</p>\n",
        index, html_escaped(layer.layer.name), count_text(layer), model::op_name(layer.layer.op),
        format_si(work.amount, work.unit, 4), time_text(layer.time_s, layer.low_s, layer.high_s),
        percent(layer.utilization), layer.limiter_step, html_escaped(layer.limiter));
    text += "<table><tr><th>step</th><th>mapping, MAC/cycle</th><th>machine</th><th class=\"t\">of "
            "the units</th><th>loss</th><th class=\"t\">to</th></tr>\n";
    for (std::size_t step = 1; step <= kSteps; ++step) {
        text += step_row(report, layer, step);
    }
    text += "</table>\n";
    if (layer.measured) {
        text += "<ul>\n";
        for (const std::string& line : measured_lines(layer)) {
            text += "<li>" + html_escaped(line) + "</li>\n";
        }
        text += "</ul>\n";
    }
    return text;
}

std::string measured_html(const analysis::Report& report) {
    if (!report.measured) {
        return {};
    }
    const analysis::Measurement& all = *report.measured;
    std::string text =
        "<h2>Measured, below step seven</h2>\n<table class=\"sort\"><tr><th>layer</th>"
        "<th>predicted</th><th>measured</th><th>unexplained</th><th></th>"
        "<th class=\"t\">most telling counter</th></tr>\n";
    const auto row = [&](std::string_view name, double predicted_s, double measured_s,
                         std::string_view why) {
        text += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"loss\">{}</td>"
                            "<td>{}</td><td class=\"t\">{}</td></tr>\n",
                            html_escaped(name), format_si(predicted_s, "s"),
                            format_si(measured_s, "s"), signed_time(measured_s - predicted_s),
                            signed_share(measured_s - predicted_s, predicted_s), html_escaped(why));
    };
    for (const analysis::LayerReport& layer : report.layers) {
        if (const auto& m = layer.measured) {
            row(layer.layer.name, m->predicted_s, m->time_s, "step " + main_disagreement(*m));
        }
    }
    row("total", all.predicted_s, all.measured_s, "");
    text += "</table>\n<ul>\n";
    for (const std::string& line : measurement_lines(all)) {
        text += "<li>" + html_escaped(line) + "</li>\n";
    }
    return text + "</ul>\n";
}

std::string ceilings_html(const analysis::Report& report) {
    std::string text;
    for (const analysis::CeilingRow& row : report.ceilings) {
        text += fmt::format("<tr title=\"{}\"><td>{}</td><td class=\"t\">{}</td></tr>\n",
                            html_escaped(row.how), html_escaped(row.name),
                            html_escaped(ceiling_text(row)));
    }
    return text.empty() ? text : "<h2>Measured ceilings</h2>\n<table>\n" + text + "</table>\n";
}

std::string losses_html(const analysis::Report& report) {
    std::string text;
    for (const analysis::Loss& loss : report.worst) {
        const analysis::LayerReport& layer = report.layers[loss.layer];
        const model::StepBound& bound = layer.steps[loss.step - 1];
        text += fmt::format(
            "<li>{}, step {} ({}): <span class=\"loss\">{}</span> less without {}. {}</li>\n",
            html_escaped(layer.layer.name), loss.step, model::kStepNames[loss.step - 1],
            format_si(loss.lost_s, "s"), html_escaped(bound.limit), html_escaped(bound.reason));
    }
    return text.empty() ? text
                        : "<h2>Potential savings from removing one bottleneck</h2>\n<ol>\n" + text +
                              "</ol>\n";
}

std::string title_of(const analysis::Report& report) {
    return html_escaped(report.network_name) + " on " + html_escaped(report.machine.name);
}

std::string heading_html(const analysis::Report& report) {
    std::string text =
        fmt::format("<h1>{}</h1>\n<p>{} MAC/cycle · {} · {} · total {} · {} utilization</p>\n",
                    title_of(report), format_si(report.machine.units, "", 4),
                    format_si(report.machine.clock_hz, "Hz"),
                    format_si(report.machine.peak_macs_per_s, "MAC/s"),
                    time_text(report.total.time_s, report.total.low_s, report.total.high_s),
                    percent(report.total.utilization));
    text += "<p>" + html_escaped(report.words) + "</p>\n";
    for (const std::string& line :
         {analysis::uncosted_share_text(report), analysis::step_sum_text(report)}) {
        text += line.empty() ? std::string() : "<p>" + html_escaped(sentence(line)) + "</p>\n";
    }
    if (const std::string proofs = proofs_text(report); !proofs.empty()) {
        text += "<p>Searched: " + html_escaped(proofs) + "</p>\n";
    }
    if (report.fit) {
        text += "<p>" + memory_fit_text(*report.fit) + "</p>\n";
    }
    if (report.chip) {
        text += "<p>" + html_escaped(chip_text(*report.chip)) + "</p>\n";
    }
    return text;
}

std::string sections_html(const analysis::Report& report) {
    std::string text =
        losses_html(report) + layers_html(report) + measured_html(report) + ceilings_html(report);
    for (std::size_t i = 0; i < report.layers.size(); ++i) {
        text += layer_html(report, i);
    }
    return text;
}

} // namespace

std::string to_html(const analysis::Report& report) {
    return page_head(title_of(report), kStyle) + heading_html(report) + sections_html(report) +
           page_foot();
}

std::string to_html(const analysis::Report& report, const analysis::Traced& traced) {
    const std::vector<PageScript> scripts = {page_script(), traced_script()};
    const std::string style =
        std::string(kStyle) + "body{max-width:90rem}" + std::string(traced_style());
    return page_head(title_of(report), style, scripts) + heading_html(report) +
           traced_html(traced) + sections_html(report) + page_foot(scripts);
}

} // namespace eyeroof::report
