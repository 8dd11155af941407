// The timeline for people and for programs.
#include "analysis/scenario/fields.hpp"
#include "analysis/what_if/headline.hpp"
#include "base/figures.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "base/markup.hpp"
#include "base/units.hpp"
#include "report/page/page.hpp"
#include "report/step/timeline_write.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;

std::string s(double seconds) {
    return format_si(seconds, "s");
}

double percent_of(double part, double whole) {
    return whole > 0.0 ? 100.0 * part / whole : 0.0;
}

std::string share(double part, double whole) {
    return fmt::format("{:.1f} %", percent_of(part, whole));
}

struct PathSums {
    double host_s = 0.0, kernel_s = 0.0, copy_s = 0.0;
    std::map<std::uint32_t, double> by_layer;
};

PathSums sums_of(const TimelineReport& r) {
    PathSums sums;
    for (const analysis::step::PathPart& part :
         analysis::step::critical_path(r.graph(), r.timeline())) {
        (part.kind == analysis::step::PathPart::Kind::host     ? sums.host_s
         : part.kind == analysis::step::PathPart::Kind::kernel ? sums.kernel_s
                                                               : sums.copy_s) += part.seconds;
        if (part.kind == analysis::step::PathPart::Kind::kernel) {
            sums.by_layer[r.graph().operators[part.op].layer] += part.seconds;
        }
    }
    return sums;
}

std::size_t host_bound_of(const std::vector<analysis::step::LayerTime>& rows) {
    std::size_t all = 0;
    for (const analysis::step::LayerTime& row : rows) {
        all += row.host_bound;
    }
    return all;
}

std::string head_text(const TimelineReport& r, const std::vector<analysis::step::LayerTime>& rows) {
    const std::size_t host_bound = host_bound_of(rows);
    const analysis::step::Timeline& t = r.timeline();
    const std::size_t operators = r.graph().operators.size();
    std::string text =
        wrapped(r.report.words + "; " + counted(operators, "operator"), 0, kTextColumns);
    text += wrapped(fmt::format("{} · kernels {} ({}) · CPU launches {}",
                                time_text(t.time_s, t.low_s, t.high_s), s(t.busy_s),
                                share(t.busy_s, t.time_s), s(t.host_s)),
                    0, kTextColumns);
    if (r.report.headline) {
        for (const std::string& line :
             {analysis::bound_by_text(*r.report.headline),
              analysis::largest_saving_text(*r.report.headline, t.time_s)}) {
            text += line.empty() ? std::string() : wrapped(line, 0, kTextColumns);
        }
    }
    text += wrapped(
        fmt::format("{} of {} operators start as soon as they are launched", host_bound, operators),
        0, kTextColumns);
    if (r.graph().chain) {
        text += wrapped("The network gives no graph: its layers are taken as a chain, each reading "
                        "the one before it.",
                        0, kTextColumns);
    }
    return text;
}

struct StepPart {
    const char* name;
    double seconds;
};

std::array<StepPart, 4> parts_of(const TimelineReport& r) {
    const analysis::step::Timeline& t = r.timeline();
    return {{{"kernels running", t.busy_s},
             {"waiting for the host", t.wait_host_s},
             {"waiting for copies", t.wait_copy_s},
             {"after the last kernel", t.end_s}}};
}

std::string parts_text(const TimelineReport& r, const PathSums& path) {
    std::string text = "\ntime of the step\n";
    for (const StepPart& part : parts_of(r)) {
        text += fmt::format("  {:<22}{:>10}  {:>7}\n", part.name, s(part.seconds),
                            share(part.seconds, r.timeline().time_s));
    }
    return text + wrapped(fmt::format("critical path: kernels {}, CPU launches {}, copies {}",
                                      s(path.kernel_s), s(path.host_s), s(path.copy_s)),
                          2, kTextColumns);
}

} // namespace

std::string timeline_text(const TimelineReport& r, std::size_t most_rows) {
    const std::vector<analysis::step::LayerTime> rows =
        analysis::step::by_layer(r.graph(), r.timeline());
    const PathSums path = sums_of(r);
    std::string text = head_text(r, rows) + parts_text(r, path);
    text += fmt::format("\n{:<26} {:>5} {:>9} {:>6} {:>9} {:>10} {:>9}\n", "layer", "runs",
                        "kernels", "share", "waits", "host-bound", "critical");
    for (std::size_t i = 0; i < std::min(rows.size(), most_rows); ++i) {
        const analysis::step::LayerTime& row = rows[i];
        const auto on_path = path.by_layer.find(row.layer);
        text += fmt::format("{} {:>5} {:>9} {:>5.1f}% {:>9} {:>10} {:>9}\n",
                            left(masked_controls(r.graph().layers[row.layer].name), 26), row.runs,
                            s(row.kernels_s), percent_of(row.kernels_s, r.timeline().time_s),
                            s(row.waits_s), row.host_bound,
                            s(on_path == path.by_layer.end() ? 0.0 : on_path->second));
    }
    if (rows.size() > most_rows) {
        text += fmt::format("and {} more; --format json has all\n", rows.size() - most_rows);
    }
    return text;
}

std::string timeline_html(const TimelineReport& r) {
    constexpr std::size_t most_rows = 60;
    const analysis::step::Timeline& t = r.timeline();
    const std::vector<analysis::step::LayerTime> rows = analysis::step::by_layer(r.graph(), t);
    const PathSums path = sums_of(r);
    PageTable parts{{{"part of the step", false}, {"time"}, {"share"}}, {}, false};
    for (const StepPart& part : parts_of(r)) {
        parts.rows.push_back({part.name, s(part.seconds), share(part.seconds, t.time_s)});
    }
    PageTable layers{{{"layer", false},
                      {"runs"},
                      {"kernels"},
                      {"share"},
                      {"waits"},
                      {"host-bound"},
                      {"critical path"}},
                     {}};
    for (std::size_t i = 0; i < std::min(rows.size(), most_rows); ++i) {
        const analysis::step::LayerTime& row = rows[i];
        const auto on_path = path.by_layer.find(row.layer);
        layers.rows.push_back({html_escaped(r.graph().layers[row.layer].name),
                               fmt::to_string(row.runs), s(row.kernels_s),
                               share(row.kernels_s, t.time_s), s(row.waits_s),
                               fmt::to_string(row.host_bound),
                               s(on_path == path.by_layer.end() ? 0.0 : on_path->second)});
    }
    const std::string title =
        html_escaped(r.graph().name) + " on " + html_escaped(r.report.machine.id);
    std::string html = page_head(title) + "<h1>" + title + "</h1>\n" +
                       page_answer(head_text(r, rows)) + "<figure>" + timeline_svg(r) +
                       "</figure>\n<h2>Time of the step</h2>\n" + page_table(parts) +
                       fmt::format("<p>Critical path: kernels {}, CPU launches {}, copies {}</p>\n"
                                   "<h2>Layers</h2>\n",
                                   s(path.kernel_s), s(path.host_s), s(path.copy_s)) +
                       page_table(layers);
    if (rows.size() > most_rows) {
        html += fmt::format("<p class=\"rest\">and {} more layers: --format json has all</p>\n",
                            rows.size() - most_rows);
    }
    return html + page_foot();
}

std::string timeline_json(const TimelineReport& r) {
    const analysis::step::Timeline& t = r.timeline();
    const PathSums path = sums_of(r);
    Json json = {
        {"schema", "eyeroof/timeline/1"},
        {"scenario", parse_json(analysis::scenario_json(r.report.scenario))},
        {"words", r.report.words},
        {"network", r.graph().id},
        {"machine", r.report.machine.id},
        {"host", r.report.host},
        {"phase", r.report.scenario.training ? "training" : "inference"},
        {"launch", model::launch_name(r.report.scenario.launch)},
        {"compiled", r.report.scenario.compiled},
        {"streams", r.report.scenario.streams},
        {"chain", r.graph().chain},
        {"time_s", t.time_s},
        {"low_s", t.low_s},
        {"high_s", t.high_s},
        {"busy_s", t.busy_s},
        {"kernels_s", t.kernels_s},
        {"wait_host_s", t.wait_host_s},
        {"wait_copy_s", t.wait_copy_s},
        {"after_last_s", t.end_s},
        {"host_s", t.host_s},
        {"critical_path",
         {{"kernels_s", path.kernel_s}, {"host_s", path.host_s}, {"copies_s", path.copy_s}}},
        {"layers", Json::array()},
        {"operators", Json::array()},
        {"copies", Json::array()}};
    for (const analysis::step::LayerTime& row : analysis::step::by_layer(r.graph(), r.timeline())) {
        json["layers"].push_back({{"name", r.graph().layers[row.layer].name},
                                  {"runs", row.runs},
                                  {"kernels_s", row.kernels_s},
                                  {"wait_host_s", row.waits_s},
                                  {"host_bound", row.host_bound}});
    }
    for (std::size_t i = 0; i < t.spans.size(); ++i) {
        const analysis::step::Span& span = t.spans[i];
        json["operators"].push_back({{"name", r.graph().name_of(r.graph().operators[i])},
                                     {"issue_s", span.issue_s},
                                     {"issued_s", span.issued_s},
                                     {"start_s", span.start_s},
                                     {"end_s", span.end_s},
                                     {"stream", span.stream},
                                     {"waited_for", analysis::step::waited_text(span.waited)}});
    }
    for (const analysis::step::CopySpan& copy : t.copies) {
        json["copies"].push_back({{"tensor", r.graph().name_of(r.graph().tensors[copy.tensor])},
                                  {"direction", copy.to_device ? "h2d" : "d2h"},
                                  {"bytes", r.graph().tensors[copy.tensor].bytes},
                                  {"start_s", copy.start_s},
                                  {"end_s", copy.end_s}});
    }
    return json_document(json);
}

} // namespace eyeroof::report
