#include "report/bound/bound_write.hpp"

#include "analysis/scenario/fields.hpp"
#include "analysis/what_if/headline.hpp"
#include "base/figures.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "base/markup.hpp"
#include "base/units.hpp"
#include "report/page/page.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace eyeroof::report {

using namespace analysis::bound; // NOLINT(google-build-using-namespace): what is written here

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 12; // operators of the text
constexpr std::size_t kDetailIndent = 20;
constexpr std::size_t kReasonIndent = 36; // of what a part of the time is

std::string seconds(double s) {
    return format_si(s, "s");
}

std::string bound_row(const char* name, const Bound& b, double time_s) {
    return fmt::format("{:<8} {:>9} {:>10} {:>9} {:>9} {:>9} {:>9}  {:<10} {:>5.1f} %\n", name,
                       seconds(b.time_s), seconds(b.arithmetic_s), seconds(b.memory_s),
                       seconds(b.on_chip_s), seconds(b.start_s), format_si(b.bytes, "B"),
                       wall_text(b.wall), time_s > 0.0 ? 100.0 * b.time_s / time_s : 0.0);
}

Json bound_of(const Bound& b) {
    return {{"time_s", b.time_s},       {"arithmetic_s", b.arithmetic_s}, {"memory_s", b.memory_s},
            {"on_chip_s", b.on_chip_s}, {"start_s", b.start_s},           {"bytes", b.bytes},
            {"wall", wall_text(b.wall)}};
}

std::string operator_rows(const BoundReport& report) {
    std::string text;
    for (std::size_t i = 0; i < std::min(kShown, report.operators.size()); ++i) {
        const OperatorBound& o = report.operators[i];
        const double runs = static_cast<double>(o.runs);
        text += fmt::format(
            "{:>10} {:>10} {:>10} {:>6}  {:<10} {}\n",
            seconds(runs * (o.predicted_s - o.bound.time_s)), seconds(runs * o.predicted_s),
            seconds(runs * o.bound.time_s), o.runs, wall_text(o.bound.wall),
            left(masked_controls(o.name), std::min<std::size_t>(28, display_width(o.name))));
    }
    return text;
}

PageTable bounds_table(const BoundReport& report) {
    PageTable table{{{"bound", false},
                     {"time"},
                     {"arithmetic"},
                     {"memory"},
                     {"on-chip"},
                     {"start"},
                     {"bytes"},
                     {"bound by", false},
                     {"of the time"}},
                    {},
                    false};
    const auto add = [&](const char* name, const Bound& b) {
        table.rows.push_back(
            {name, seconds(b.time_s), seconds(b.arithmetic_s), seconds(b.memory_s),
             seconds(b.on_chip_s), seconds(b.start_s), format_si(b.bytes, "B"),
             std::string(wall_text(b.wall)),
             fmt::format("{:.1f} %",
                         report.time_s() > 0.0 ? 100.0 * b.time_s / report.time_s() : 0.0)});
    };
    add("fused", report.fused);
    add("cached", report.cached);
    add("unfused", report.unfused);
    add("roofline", report.roofline);
    return table;
}

PageTable changes_table(const BoundReport& report) {
    PageTable table{{{"change", false}, {"predicted"}, {"gain"}, {"", false}}, {}};
    for (const Change& change : report.changes) {
        table.rows.push_back({html_escaped(change.name), seconds(change.time_s),
                              fmt::format("{:.2f}x", report.predicted_s / change.time_s),
                              html_escaped(change.detail)});
    }
    return table;
}

PageTable operators_table(const BoundReport& report) {
    constexpr std::size_t most = 60;
    PageTable table{{{"operator", false},
                     {"above the bound"},
                     {"predicted"},
                     {"bound"},
                     {"runs"},
                     {"bound by", false}},
                    {}};
    for (std::size_t i = 0; i < std::min(most, report.operators.size()); ++i) {
        const OperatorBound& o = report.operators[i];
        const auto runs = static_cast<double>(o.runs);
        table.rows.push_back({html_escaped(o.name),
                              seconds(runs * (o.predicted_s - o.bound.time_s)),
                              seconds(runs * o.predicted_s), seconds(runs * o.bound.time_s),
                              fmt::to_string(o.runs), std::string(wall_text(o.bound.wall))});
    }
    return table;
}

// The parts of the time as one bar, each with its share; what is negative has no width.
std::string gap_bar(const BoundReport& report) {
    constexpr std::array<std::string_view, 8> kColors = {
        "#2e7d32", "#9ccc65", "#1565c0", "#42a5f5", "#7e57c2", "#ab47bc", "#ef6c00", "#b0bec5"};
    double all = 0.0;
    for (const GapPart& part : report.gap) {
        all += std::max(part.seconds, 0.0);
    }
    std::string bar = "<div class=\"parts\">";
    std::string list = "<ul>";
    for (std::size_t i = 0; i < report.gap.size(); ++i) {
        const GapPart& part = report.gap[i];
        const std::string_view color = kColors[i % kColors.size()];
        const std::string title =
            html_escaped(fmt::format("{}: {}", part.name, seconds(part.seconds)));
        bar += fmt::format("<div title=\"{}\" style=\"flex:{:.4f};background:{}\"></div>", title,
                           all > 0.0 ? std::max(part.seconds, 0.0) / all : 0.0, color);
        list += fmt::format("<li><span style=\"background:{}\"></span>{}, {}</li>", color, title,
                            html_escaped(part.reason));
    }
    return bar + "</div>" + list + "</ul>\n";
}

// The time and how far it is above the speed of light, its largest part, and the best change.
std::string answer_text(const BoundReport& report) {
    const double time_s = report.time_s();
    std::string text =
        wrapped(report.measured_s
                    ? fmt::format("{} measured, {} predicted", seconds(time_s),
                                  time_text(report.predicted_s, report.low_s, report.high_s))
                    : time_text(report.predicted_s, report.low_s, report.high_s) + " predicted",
                0, kTextColumns);
    if (report.fused.time_s > 0.0) {
        text += wrapped(fmt::format("{:.3g}x the fused bound of {}", time_s / report.fused.time_s,
                                    seconds(report.fused.time_s)),
                        0, kTextColumns);
    }
    const auto most =
        std::max_element(report.gap.begin(), report.gap.end(),
                         [](const GapPart& a, const GapPart& b) { return a.seconds < b.seconds; });
    if (most != report.gap.end() && time_s > 0.0) {
        text += wrapped(fmt::format("Largest part: {}, {} ({:.1f} %)", most->name,
                                    seconds(most->seconds), 100.0 * most->seconds / time_s),
                        0, kTextColumns);
    }
    if (report.headline) {
        for (const std::string& line :
             {analysis::bound_by_text(*report.headline),
              analysis::largest_saving_text(*report.headline, report.predicted_s)}) {
            text += line.empty() ? std::string() : wrapped(line, 0, kTextColumns);
        }
    }
    if (!report.changes.empty()) {
        const Change& best = report.changes.front();
        text += wrapped(fmt::format("Fastest other way to run it: {:.3g}x the speed with {}",
                                    report.predicted_s / best.time_s, best.name),
                        0, kTextColumns);
    }
    return text;
}

} // namespace

std::string bound_text(const BoundReport& report) {
    const double time_s = report.time_s();
    std::string text = wrapped(report.words, 0, kTextColumns) + answer_text(report) +
                       wrapped("bounds: " + report.assumptions, 0, kTextColumns) + "\n";
    text +=
        fmt::format("{:<8} {:>9} {:>10} {:>9} {:>9} {:>9} {:>9}  {:<10} {:>7}\n", "bound", "time",
                    "arithmetic", "memory", "on-chip", "start", "bytes", "bound by", "of time");
    text += bound_row("fused", report.fused, time_s) + bound_row("cached", report.cached, time_s) +
            bound_row("unfused", report.unfused, time_s) +
            bound_row("roofline", report.roofline, time_s);
    text += wrapped("roofline: sums over the program, direct convolution, cold cache; not a bound",
                    0, kTextColumns);
    text += fmt::format("\n{:>9} {:>7}  {:<16} {}\n", "time", "share", "part", "meaning");
    for (const GapPart& part : report.gap) {
        const std::string reason = wrapped(part.reason, kReasonIndent, kTextColumns);
        text += fmt::format("{:>9} {:>5.1f} %  {:<16} {}", seconds(part.seconds),
                            time_s > 0.0 ? 100.0 * part.seconds / time_s : 0.0, part.name,
                            reason.empty() ? "\n" : reason.substr(kReasonIndent));
    }
    text += report.changes.empty()
                ? ""
                : fmt::format("\n{:>10} {:>7}  {}\n", "predicted", "gain", "change");
    for (const Change& change : report.changes) {
        text += fmt::format("{:>10} {:>6.2f}x  {}\n", seconds(change.time_s),
                            report.predicted_s / change.time_s, change.name);
        text += change.detail.empty() ? "" : wrapped(change.detail, kDetailIndent, kTextColumns);
    }
    text += fmt::format("\n{:>10} {:>10} {:>10} {:>6}  {:<10} {}\n", "above", "predicted", "bound",
                        "runs", "bound by", "operator");
    text += operator_rows(report);
    if (report.operators.size() > kShown) {
        text += fmt::format("and {} more operators (--format json has them)\n",
                            report.operators.size() - kShown);
    }
    return text;
}

std::string bound_json(const BoundReport& report, const analysis::Question& question) {
    Json json = {{"schema", "eyeroof/bound/1"},
                 {"scenario", parse_json(analysis::scenario_json(question.scenario))},
                 {"network", question.network.id},
                 {"machine", question.machine.id},
                 {"assumptions", report.assumptions},
                 {"fused", bound_of(report.fused)},
                 {"cached", bound_of(report.cached)},
                 {"unfused", bound_of(report.unfused)},
                 {"roofline", bound_of(report.roofline)},
                 {"predicted_s", report.predicted_s},
                 {"low_s", report.low_s ? Json(*report.low_s) : Json()},
                 {"high_s", report.high_s ? Json(*report.high_s) : Json()},
                 {"measured_s", report.measured_s ? Json(*report.measured_s) : Json()},
                 {"gap", Json::array()},
                 {"changes", Json::array()},
                 {"operators", Json::array()}};
    for (const GapPart& part : report.gap) {
        json["gap"].push_back(
            {{"part", part.name}, {"seconds", part.seconds}, {"reason", part.reason}});
    }
    for (const Change& change : report.changes) {
        json["changes"].push_back({{"change", change.name},
                                   {"time_s", change.time_s},
                                   {"detail", change.detail},
                                   {"gain", report.predicted_s / change.time_s}});
    }
    for (const OperatorBound& o : report.operators) {
        json["operators"].push_back({{"name", o.name},
                                     {"runs", o.runs},
                                     {"predicted_s", o.predicted_s},
                                     {"bound", bound_of(o.bound)}});
    }
    return json_document(json);
}

std::string bound_html(const BoundReport& report) {
    constexpr std::string_view kStyle =
        ".parts{display:flex;height:2rem}.parts div{min-width:1px}"
        "li span{display:inline-block;width:1em;height:1em;margin-right:.5em}"
        "ul{list-style:none;padding:0}";
    const std::string title =
        html_escaped(fmt::format("Bounds of {} on {}", report.network, report.machine));
    std::string html = page_head(title, kStyle) + "<h1>" + title + "</h1>\n<p class=\"rest\">" +
                       html_escaped(report.words) + "</p>\n" + page_answer(answer_text(report)) +
                       gap_bar(report);
    html += page_table(bounds_table(report)) + "<p class=\"rest\">" +
            html_escaped(report.assumptions) + "</p>\n";
    if (!report.changes.empty()) {
        html += "<h2>Changes</h2>\n" + page_table(changes_table(report));
    }
    return html + "<h2>Operators</h2>\n" + page_table(operators_table(report)) + page_foot();
}

} // namespace eyeroof::report
