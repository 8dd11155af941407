// A scaling study as text, JSON, CSV, Markdown and SVG.
#include "analysis/scale/scale.hpp"
#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/draw/svg.hpp"
#include "report/page/page.hpp"
#include "report/scale/scale_chart.hpp"
#include "report/scale/scale_write.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;

std::string in_si(double value, const char* unit) {
    for (const auto& [factor, prefix] :
         {std::pair{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}) {
        if (value >= factor) {
            return fmt::format("{:.4g} {}{}", value / factor, prefix, unit);
        }
    }
    return fmt::format("{:.4g} {}", value, unit);
}

// "21.35 k samples/s"
std::string rate_text(double per_s, const analysis::ScaleResult& result) {
    const std::string value = in_si(per_s, "");
    return value + (value.ends_with(' ') ? "" : " ") + result.unit + "/s";
}

// "sequence" of "sequences"
std::string_view unit_of(const analysis::ScaleResult& result) {
    const std::string_view unit = result.unit;
    return unit.ends_with('s') ? unit.substr(0, unit.size() - 1) : unit;
}

std::string duration(double s) {
    return s >= 1.0    ? fmt::format("{:.4g} s", s)
           : s >= 1e-3 ? fmt::format("{:.4g} ms", s * 1e3)
                       : fmt::format("{:.4g} us", s * 1e6);
}

std::string interval(const analysis::ScalePoint& p) {
    return p.low_s && p.high_s
               ? fmt::format("{} … {}", format_si(*p.low_s, "s"), format_si(*p.high_s, "s"))
               : std::string("-");
}

double hours(const analysis::ScaleResult& result, const analysis::ScalePoint& point) {
    return result.samples / point.samples_per_s / 3600.0;
}

std::string part_text(const char* name, double seconds, const analysis::ScalePoint& point) {
    return std::abs(seconds) / point.step_s < 0.005
               ? std::string()
               : fmt::format("{} {:.0f} %", name, 100.0 * seconds / point.step_s);
}

std::string parts_text(const analysis::ScalePoint& p) {
    std::string text;
    for (const std::string& one :
         {part_text("compute", p.parts.compute_s, p),
          part_text("small batch", p.parts.small_batch_s, p),
          part_text("recompute", p.parts.recompute_s, p), part_text("idle", p.parts.idle_s, p),
          part_text("communication", p.parts.exposed_s, p),
          part_text("waiting", p.parts.waiting_s, p)}) {
        text += one.empty() ? "" : (text.empty() ? "" : ", ") + one;
    }
    return text;
}

std::string point_details(const analysis::ScaleResult& result, const analysis::ScalePoint& p) {
    std::string text = fmt::format("\n{}: {}, {} a step\n", counted(p.devices, "device"),
                                   p.strategy, counted(p.batch, unit_of(result)));
    if (p.low_s) {
        text +=
            fmt::format("  a step takes {} (80 % interval {})\n", duration(p.step_s), interval(p));
    }
    for (const analysis::ScaleStep& step : p.steps) {
        text += fmt::format("  step {:>2}: {} {} {}  {}\n", step.number, left(step.name, 17),
                            right(in_si(step.samples_per_s, "/s"), 11),
                            step.lost > 0.0005
                                ? fmt::format("{:>6}", fmt::format("-{:.1f}%", 100 * step.lost))
                                : std::string("      "),
                            masked_controls(step.reason));
    }
    text +=
        wrapped(fmt::format("memory {} of {} per device: weights {}, gradients {}, optimizer {}, "
                            "activations {}, buffers {}",
                            in_si(p.memory.total(), "B"), in_si(p.memory.capacity, "B"),
                            in_si(p.memory.weights, "B"), in_si(p.memory.gradients, "B"),
                            in_si(p.memory.optimizer, "B"), in_si(p.memory.activations, "B"),
                            in_si(p.memory.buffers, "B")),
                2, kTextColumns);
    for (const analysis::ScaleVolume& v : p.volumes) {
        text += fmt::format("  {}: {} in {:.4g} messages a step\n", masked_controls(v.level),
                            in_si(v.bytes, "B"), v.messages);
    }
    if (result.samples > 0.0) {
        text += fmt::format(
            "  {} {}: {:.4g} h, at most {:.4g} kWh{}\n", in_si(result.samples, ""), result.unit,
            hours(result, p), hours(result, p) * p.watts / 1e3,
            p.usd_per_hour ? fmt::format(", from {:.4g} USD", hours(result, p) * *p.usd_per_hour)
                           : std::string());
    }
    for (const std::string& note : p.notes) {
        text += wrapped("note: " + masked_controls(note), 2, kTextColumns);
    }
    return text;
}

Json json_of(const analysis::ScaleResult& result, const analysis::ScalePoint& p) {
    Json steps = Json::array();
    for (const analysis::ScaleStep& s : p.steps) {
        steps.push_back({{"step", s.number},
                         {"name", s.name},
                         {"samples_per_s", s.samples_per_s},
                         {"lost", s.lost},
                         {"reason", s.reason}});
    }
    Json volumes = Json::array();
    for (const analysis::ScaleVolume& v : p.volumes) {
        volumes.push_back({{"level", v.level}, {"bytes", v.bytes}, {"messages", v.messages}});
    }
    Json json = {{"devices", p.devices},
                 {"strategy", p.strategy},
                 {"batch", p.batch},
                 {"batch_per_device", p.batch_per_device},
                 {"step_s", p.step_s},
                 {"samples_per_s", p.samples_per_s},
                 {"speedup", p.speedup},
                 {"efficiency", p.efficiency},
                 {"mfu", p.mfu},
                 {"collective", p.collective},
                 {"staleness", p.staleness}};
    json["parts_s"] = {{"compute", p.parts.compute_s},
                       {"small_batch", p.parts.small_batch_s},
                       {"idle", p.parts.idle_s},
                       {"recompute", p.parts.recompute_s},
                       {"communication", p.parts.exposed_s},
                       {"waiting", p.parts.waiting_s}};
    json["memory_bytes"] = {
        {"weights", p.memory.weights},     {"gradients", p.memory.gradients},
        {"optimizer", p.memory.optimizer}, {"activations", p.memory.activations},
        {"buffers", p.memory.buffers},     {"total", p.memory.total()},
        {"capacity", p.memory.capacity},   {"fits", p.memory.fits()}};
    if (p.low_s && p.high_s) {
        json["step_low_s"] = *p.low_s;
        json["step_high_s"] = *p.high_s;
    }
    json["volumes"] = volumes;
    json["steps"] = steps;
    json["watts_at_most"] = p.watts;
    if (p.usd_per_hour) {
        json["usd_per_hour"] = *p.usd_per_hour;
    }
    if (result.samples > 0.0) {
        json["run"] = {{"hours", hours(result, p)},
                       {"kwh_at_most", hours(result, p) * p.watts / 1e3}};
        if (p.usd_per_hour) {
            json["run"]["usd"] = hours(result, p) * *p.usd_per_hour;
        }
    }
    json["notes"] = p.notes;
    return json;
}

std::string fits_text(const analysis::ScalePoint& p) {
    return fmt::format("{}{}", in_si(p.memory.total(), "B"), p.memory.fits() ? "" : " (!)");
}

} // namespace

namespace {

// Of the largest number of devices asked for that fits; the first where none does.
std::string answer_text(const analysis::ScaleResult& result) {
    const auto last = std::find_if(result.points.rbegin(), result.points.rend(),
                                   [](const auto& point) { return point.memory.fits(); });
    const analysis::ScalePoint& p = last == result.points.rend() ? result.points.front() : *last;
    std::string text = wrapped(
        fmt::format("{}: {} per step ({}), {}, {:.3g}x one device", counted(p.devices, "device"),
                    duration(p.step_s), interval(p), rate_text(p.samples_per_s, result), p.speedup),
        0, kTextColumns);
    text += wrapped_parts({fmt::format("{:.0f} % efficiency", 100 * p.efficiency),
                           fmt::format("MFU {:.1f} %", 100 * p.mfu),
                           fits_text(p) + " of memory per device", parts_text(p)},
                          0, kTextColumns);
    text +=
        result.pays_to
            ? fmt::format("At least 80 % efficiency up to {}\n", counted(*result.pays_to, "device"))
            : wrapped("None of the requested device counts fits and reaches 80 % efficiency", 0,
                      kTextColumns);
    return text;
}

} // namespace

std::string scale_text(const analysis::ScaleResult& result, bool details) {
    std::string text = wrapped(masked_controls(result.baseline), 0, kTextColumns);
    text += result.points.empty() ? std::string() : answer_text(result);
    text += wrapped(fmt::format("{} on {}; one device alone: {}", masked_controls(result.gpu),
                                masked_controls(result.fabric),
                                rate_text(result.baseline_samples_per_s, result)),
                    0, kTextColumns);
    text += fmt::format("\n{} {} {} {} {} {} {} {} {}\n", right("devices", 7), right("batch", 5),
                        right("step", 9), right("80 % interval", 18), right(result.unit + "/s", 9),
                        right("speed-up", 8), right("eff.", 5), right("MFU", 6), right("GB", 5));
    for (const analysis::ScalePoint& p : result.points) {
        text += fmt::format(
            "{:>7} {:>5} {} {} {} {:>8.4g} {} {} {}\n", p.devices, p.batch,
            right(duration(p.step_s), 9), right(interval(p), 18),
            right(in_si(p.samples_per_s, ""), 9), p.speedup,
            right(fmt::format("{:.0f} %", 100 * p.efficiency), 5),
            right(fmt::format("{:.1f} %", 100 * p.mfu), 6),
            right(fmt::format("{:.3g}{}", p.memory.total() / 1e9, p.memory.fits() ? "" : "!"), 5));
        text += wrapped(parts_text(p), 8, kTextColumns);
    }
    const bool unfit = std::any_of(result.points.begin(), result.points.end(),
                                   [](const auto& point) { return !point.memory.fits(); });
    text += unfit ? "! more than a device has\n" : "";
    if (details || result.points.size() == 1) {
        for (const analysis::ScalePoint& p : result.points) {
            text += point_details(result, p);
        }
    }
    for (const std::string& note : result.notes) {
        text += wrapped("note: " + masked_controls(note), 0, kTextColumns);
    }
    return text;
}

std::string scale_json(const analysis::ScaleResult& result) {
    Json points = Json::array();
    for (const analysis::ScalePoint& p : result.points) {
        points.push_back(json_of(result, p));
    }
    Json json = {{"schema", "eyeroof/scale/1"},
                 {"network", result.network},
                 {"machine", result.gpu},
                 {"fabric", result.fabric},
                 {"unit", result.unit},
                 {"baseline",
                  {{"samples_per_s", result.baseline_samples_per_s},
                   {"batch", result.baseline_batch},
                   {"what", result.baseline}}}};
    json["samples"] = result.samples;
    json["pays_to"] = result.pays_to ? Json(*result.pays_to) : Json();
    json["points"] = points;
    json["notes"] = result.notes;
    return json_document(json);
}

std::string scale_csv(const analysis::ScaleResult& result) {
    std::string text =
        "devices,strategy,batch,step_s,samples_per_s,speedup,efficiency,mfu,compute_s,"
        "small_batch_s,idle_s,recompute_s,communication_s,waiting_s,memory_bytes,fits\n";
    for (const analysis::ScalePoint& p : result.points) {
        text +=
            fmt::format("{},{},{},{:.6g},{:.6g},{:.6g},{:.4f},{:.4f},{:.6g},{:.6g},{:.6g},{:.6g},"
                        "{:.6g},{:.6g},{:.6g},{}\n",
                        p.devices, csv_quoted(p.strategy), p.batch, p.step_s, p.samples_per_s,
                        p.speedup, p.efficiency, p.mfu, p.parts.compute_s, p.parts.small_batch_s,
                        p.parts.idle_s, p.parts.recompute_s, p.parts.exposed_s, p.parts.waiting_s,
                        p.memory.total(), p.memory.fits() ? 1 : 0);
    }
    return text;
}

std::string scale_markdown(const analysis::ScaleResult& result) {
    std::string text =
        fmt::format("# {} on {}, {}\n\nBaseline: {}, {}.\n\n| devices | strategy | batch | "
                    "step | {}/s | speed-up | efficiency | MFU | memory | where the time goes |\n"
                    "|---|---|---|---|---|---|---|---|---|---|\n",
                    result.network, result.gpu, result.fabric, result.baseline,
                    rate_text(result.baseline_samples_per_s, result), result.unit);
    for (const analysis::ScalePoint& p : result.points) {
        text += fmt::format("| {} | {} | {} | {} | {} | {:.4g} | {:.0f} % | {:.1f} % | {} | {} |\n",
                            p.devices, p.strategy, p.batch, duration(p.step_s),
                            in_si(p.samples_per_s, ""), p.speedup, 100 * p.efficiency, 100 * p.mfu,
                            fits_text(p), parts_text(p));
    }
    return text;
}

Chart scale_chart(const analysis::ScaleResult& result) {
    Chart chart;
    chart.title = fmt::format("{} on {}, {}", result.network, result.gpu, result.fabric);
    chart.x_title = "devices";
    chart.x_ticks = TickText::whole;
    chart.y_title = result.unit + "/s";
    std::vector<std::pair<int, std::string>> bounds;
    for (const analysis::ScalePoint& p : result.points) {
        for (const analysis::ScaleStep& s : p.steps) {
            const std::pair bound(s.number, s.name);
            if (std::find(bounds.begin(), bounds.end(), bound) == bounds.end()) {
                bounds.push_back(bound);
            }
        }
    }
    for (const auto& [number, name] : bounds) {
        ChartLine line;
        line.label = fmt::format("step {}: {}", number, name);
        for (const analysis::ScalePoint& p : result.points) {
            for (const analysis::ScaleStep& s : p.steps) {
                if (s.number == number) {
                    line.points.emplace_back(static_cast<double>(p.devices), s.samples_per_s);
                }
            }
        }
        chart.lines.push_back(line);
    }
    ChartLine step{"the step", {}, false, true};
    for (const analysis::ScalePoint& p : result.points) {
        step.points.emplace_back(static_cast<double>(p.devices), p.samples_per_s);
    }
    chart.lines.push_back(step);
    if (result.pays_to) {
        chart.marks.push_back({static_cast<double>(*result.pays_to), "80 % efficiency", true});
    }
    return chart;
}

std::string scale_svg(const analysis::ScaleResult& result) {
    return chart_svg(scale_chart(result));
}

namespace {

std::string html_steps(const analysis::ScaleResult& result, const analysis::ScalePoint& p) {
    PageTable table{{{"step", false},
                     {"bound, " + svg_escape(result.unit) + "/s"},
                     {"lost"},
                     {"", false},
                     {"why", false}},
                    {},
                    false};
    const double most = p.steps.empty() ? 1.0 : p.steps.front().samples_per_s;
    for (const analysis::ScaleStep& s : p.steps) {
        table.rows.push_back(
            {fmt::format("{} {}", s.number, s.name), fmt::format("{:.4g}", s.samples_per_s),
             fmt::format("{:.1f} %", 100.0 * s.lost),
             fmt::format("<div class=\"bar\"><i class=\"done\" style=\"width:{:.1f}%\"></i></div>",
                         100.0 * s.samples_per_s / most),
             svg_escape(s.reason)});
    }
    std::string text =
        fmt::format("<h2>{}: {}</h2>\n", counted(p.devices, "device"), svg_escape(p.strategy)) +
        page_table(table);
    for (const std::string& note : p.notes) {
        text += "<p>" + svg_escape(note) + "</p>\n";
    }
    return text;
}

} // namespace

std::string scale_html(const analysis::ScaleResult& result) {
    const std::string title =
        svg_escape(fmt::format("{} on {}, {}", result.network, result.gpu, result.fabric));
    std::string text = page_head(title) + "<h1>" + title + "</h1>\n<p class=\"rest\">" +
                       svg_escape(result.baseline) + "</p>\n";
    if (!result.points.empty()) {
        text += page_answer(answer_text(result));
    }
    if (result.points.size() > 1) { // one alone has no curve
        text += "<figure>" + scale_svg(result) + "</figure>\n";
    }
    PageTable table{{{"devices"},
                     {"strategy", false},
                     {"batch"},
                     {"step"},
                     {svg_escape(result.unit) + "/s"},
                     {"speed-up"},
                     {"efficiency"},
                     {"MFU"},
                     {"memory"},
                     {"where the time goes", false}},
                    {}};
    for (const analysis::ScalePoint& p : result.points) {
        table.rows.push_back(
            {fmt::to_string(p.devices), svg_escape(p.strategy), fmt::to_string(p.batch),
             duration(p.step_s), in_si(p.samples_per_s, ""), fmt::format("{:.4g}", p.speedup),
             fmt::format("{:.0f} %", 100 * p.efficiency), fmt::format("{:.1f} %", 100 * p.mfu),
             fits_text(p), svg_escape(parts_text(p))});
    }
    text += page_table(table);
    if (!result.points.empty()) {
        text += html_steps(result, result.points.back());
    }
    if (result.points.size() > 1) {
        text += "<details><summary>The steps of fewer devices</summary>\n";
        for (std::size_t i = 0; i + 1 < result.points.size(); ++i) {
            text += html_steps(result, result.points[i]);
        }
        text += "</details>\n";
    }
    for (const std::string& note : result.notes) {
        text += "<p>" + svg_escape(note) + "</p>\n";
    }
    return text + page_foot();
}

} // namespace eyeroof::report
