// The timeline as an answer: where the time of the step goes, layers, operators, and copies.
#include "analysis/what_if/headline.hpp"
#include "base/figures.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/step/step_scenes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace eyeroof::report {

namespace {

namespace step = analysis::step;

struct PathSums {
    double host_s = 0.0, kernel_s = 0.0, copy_s = 0.0;
    std::map<std::uint32_t, double> by_layer;
};

PathSums path_sums(const TimelineReport& r) {
    PathSums sums;
    for (const step::PathPart& part : step::critical_path(r.graph(), r.timeline())) {
        (part.kind == step::PathPart::Kind::host     ? sums.host_s
         : part.kind == step::PathPart::Kind::kernel ? sums.kernel_s
                                                     : sums.copy_s) += part.seconds;
        if (part.kind == step::PathPart::Kind::kernel) {
            sums.by_layer[r.graph().operators[part.op].layer] += part.seconds;
        }
    }
    return sums;
}

std::vector<std::string> timeline_sentences(const TimelineReport& r,
                                            const std::vector<step::LayerTime>& rows,
                                            const PathSums& path) {
    const step::Timeline& t = r.timeline();
    std::vector<std::string> sentences = {
        fmt::format("{}: kernels {}, CPU launches {}", time_text(t.time_s, t.low_s, t.high_s),
                    format_si(t.busy_s, "s"), format_si(t.host_s, "s"))};
    if (r.report.headline) {
        for (const std::string& line :
             {analysis::bound_by_text(*r.report.headline),
              analysis::largest_saving_text(*r.report.headline, t.time_s)}) {
            if (!line.empty()) {
                sentences.push_back(line);
            }
        }
    }
    std::size_t host_bound = 0;
    for (const step::LayerTime& row : rows) {
        host_bound += row.host_bound;
    }
    sentences.push_back(fmt::format("{} of {} start as soon as they are launched", host_bound,
                                    counted(r.graph().operators.size(), "operator")));
    sentences.push_back(fmt::format("Critical path: kernels {}, CPU launches {}, copies {}",
                                    format_si(path.kernel_s, "s"), format_si(path.host_s, "s"),
                                    format_si(path.copy_s, "s")));
    return sentences;
}

std::vector<Figure> timeline_figures(const TimelineReport& r, const PathSums& path) {
    const step::Timeline& t = r.timeline();
    const analysis::Scenario& scenario = r.report.scenario;
    std::vector<Figure> figures = {{"network", "", r.graph().id},
                                   {"machine", "", r.report.machine.id},
                                   {"host", "", r.report.host, Unit::none, kPrograms,
                                    "what issues; empty: round values, or the machine itself"},
                                   {"phase", "", scenario.training ? "training" : "inference"},
                                   {"launch", "", model::launch_name(scenario.launch)},
                                   {"compiled", "", scenario.compiled, Unit::none, kPrograms,
                                    "pointwise operators and reductions are fused"},
                                   {"streams", "", scenario.streams},
                                   {"chain", "", r.graph().chain, Unit::none, kPrograms,
                                    "no graph was given: each layer reads the one before it"}};
    const auto seconds = [&](const char* key, double value, const char* meaning) {
        figures.emplace_back(key, "", value, Unit::seconds, kPrograms, meaning);
    };
    seconds("time_s", t.time_s, "of the step");
    figures.emplace_back("low_s", "", t.low_s, Unit::seconds);
    figures.emplace_back("high_s", "", t.high_s, Unit::seconds);
    seconds("busy_s", t.busy_s, "at least one kernel runs");
    seconds("kernels_s", t.kernels_s, "of all kernels");
    seconds("wait_host_s", t.wait_host_s, "");
    seconds("wait_copy_s", t.wait_copy_s, "");
    seconds("after_last_s", t.end_s, "");
    seconds("host_s", t.host_s, "of CPU launches");
    seconds("critical_path.kernels_s", path.kernel_s, "");
    seconds("critical_path.host_s", path.host_s, "");
    seconds("critical_path.copies_s", path.copy_s, "");
    return figures;
}

double share_of(double part, double whole) {
    return whole > 0.0 ? part / whole : 0.0;
}

// What people see of the step's time, that JSON has by name.
AnswerTable parts_of_step(const step::Timeline& t) {
    using Part = std::pair<const char*, double>;
    const std::vector<Part> parts = {{"kernels running", t.busy_s},
                                     {"waiting for the host", t.wait_host_s},
                                     {"waiting for copies", t.wait_copy_s},
                                     {"after the last kernel", t.end_s}};
    const auto share = [all = t.time_s](const Part& part) { return share_of(part.second, all); };
    return make_table<Part>("", "Time of the step", parts,
                            {{"", "part of the step", Unit::none, &Part::first, kPeople},
                             {"", "time", Unit::seconds, &Part::second, kPeople},
                             {"", "share", Unit::share, share, kPeople}});
}

AnswerTable layer_times(const TimelineReport& r, const std::vector<step::LayerTime>& rows,
                        const PathSums& path) {
    using Row = step::LayerTime;
    const auto critical = [&](const Row& row) {
        const auto found = path.by_layer.find(row.layer);
        return found == path.by_layer.end() ? 0.0 : found->second;
    };
    AnswerTable made = make_table<Row>(
        "layers", "Layers", rows,
        {{"name", "layer", Unit::none,
          [&](const Row& row) { return r.graph().layers[row.layer].name; }},
         {"runs", "runs", Unit::count, &Row::runs},
         {"kernels_s", "kernels", Unit::seconds, &Row::kernels_s},
         {"", "share", Unit::share,
          [&](const Row& row) { return share_of(row.kernels_s, r.timeline().time_s); }, kPeople},
         {"wait_host_s", "waits", Unit::seconds, &Row::waits_s, kAll, "for the host"},
         {"host_bound", "host-bound", Unit::count, &Row::host_bound, kAll,
          "operators that start as soon as they are launched"},
         {"critical_s", "critical", Unit::seconds, critical, kAll, "on the critical path"}});
    made.most_for_people = 15;
    return made;
}

AnswerTable operator_spans(const TimelineReport& r) {
    struct Row {
        std::string name;
        const step::Span* span = nullptr;
    };
    std::vector<Row> rows;
    for (std::size_t i = 0; i < r.timeline().spans.size(); ++i) {
        rows.push_back({r.graph().name_of(r.graph().operators[i]), &r.timeline().spans[i]});
    }
    const auto at = [](double step::Span::*member) {
        return [member](const Row& row) { return row.span->*member; };
    };
    return make_table<Row>(
        "operators", "", rows,
        {{"name", "", Unit::none, &Row::name},
         {"issue_s", "", Unit::seconds, at(&step::Span::issue_s)},
         {"issued_s", "", Unit::seconds, at(&step::Span::issued_s)},
         {"start_s", "", Unit::seconds, at(&step::Span::start_s)},
         {"end_s", "", Unit::seconds, at(&step::Span::end_s)},
         {"stream", "", Unit::count, [](const Row& row) { return row.span->stream; }},
         {"waited_for", "", Unit::none,
          [](const Row& row) { return step::waited_text(row.span->waited); }}});
}

AnswerTable copy_spans(const TimelineReport& r) {
    using Row = step::CopySpan;
    const auto tensor = [&](const Row& copy) -> const step::Tensor& {
        return r.graph().tensors[copy.tensor];
    };
    return make_table<Row>(
        "copies", "", r.timeline().copies,
        {{"tensor", "", Unit::none,
          [&](const Row& copy) { return r.graph().name_of(tensor(copy)); }},
         {"direction", "", Unit::none,
          [](const Row& copy) { return copy.to_device ? "h2d" : "d2h"; }},
         {"bytes", "", Unit::bytes, [&](const Row& copy) { return tensor(copy).bytes; }},
         {"start_s", "", Unit::seconds, &Row::start_s},
         {"end_s", "", Unit::seconds, &Row::end_s}});
}

} // namespace

Answer timeline_answer(const TimelineReport& r) {
    const std::vector<step::LayerTime> rows = step::by_layer(r.graph(), r.timeline());
    const PathSums path = path_sums(r);
    Answer a;
    a.schema = "eyeroof/timeline/1";
    a.title = r.graph().name + " on " + r.report.machine.id;
    a.question = r.report.words;
    a.sentences = timeline_sentences(r, rows, path);
    a.figures = timeline_figures(r, path);
    a.tables = {parts_of_step(r.timeline()), layer_times(r, rows, path), operator_spans(r),
                copy_spans(r)};
    a.rows = "layers";
    if (r.graph().chain) {
        a.notes = {"The network gives no graph: its layers are taken as a chain, each reading the "
                   "one before it."};
    }
    a.picture = [r](const Canvas&) {
        const int lanes = 1 + r.report.scenario.streams + (r.timeline().copies.empty() ? 0 : 2);
        return draw_timeline(r, {1200.0, 70.0 + 34.0 * lanes});
    };
    return a;
}

Answer copies_answer(const step::CopyWays& found) {
    using step::CopyWay;
    const bool beside = !found.ways.empty() && found.ways.front().alone;
    const auto name = [&](const CopyWay& way) {
        return way.alone ? found.against + " alone" : way.name;
    };
    const auto run = [steps = found.steps](const CopyWay& way) { return way.run_s(steps); };
    const auto gain = [&](const CopyWay& way) {
        return beside ? std::optional(run(found.ways.front()) / run(way)) : std::nullopt;
    };
    const std::string phase = found.training ? "training" : "inference";
    Answer a;
    a.schema = "eyeroof/copies/1";
    a.title =
        fmt::format("{} on {}, {}: ways to copy its data", found.network, found.machine, phase);
    if (const auto best = std::ranges::min_element(found.ways, {}, run); best != found.ways.end()) {
        a.sentences = {fmt::format(
            "Fastest: {}, {} for {}", name(*best), format_si(run(*best), "s"),
            found.steps > 1.0 ? fmt::format("{:.0f} steps", found.steps) : std::string("a step"))};
    }
    a.figures = {{"network", "", found.network},
                 {"machine", "", found.machine},
                 {"phase", "", phase},
                 {"steps", "", found.steps, Unit::count}};
    a.tables = {make_table<CopyWay>(
        "ways", "", found.ways,
        {{"step_s", "step", Unit::seconds, &CopyWay::step_s},
         {"low_s", "", Unit::seconds, &CopyWay::low_s},
         {"high_s", "", Unit::seconds, &CopyWay::high_s},
         {"first_s", "first", Unit::seconds, &CopyWay::first_s, kAll,
          "once, before the first step"},
         {"moved_bytes", "moved", Unit::bytes, &CopyWay::moved, kAll, "a step, both directions"},
         {"run_s", "all steps", Unit::seconds, run},
         {"host_alone", "", Unit::none, &CopyWay::alone},
         {"", beside ? "host / this" : "", Unit::times, gain, kPeople},
         {"way", "way", Unit::sentence, name}})};
    a.notes = {"All times exclude loading and decoding of the data."};
    return a;
}

Answer launches_answer(const step::LaunchWays& found) {
    using step::LaunchWay;
    const auto gain = [&](const LaunchWay& way) { return found.ways.front().step_s / way.step_s; };
    Answer a;
    a.schema = "eyeroof/launches/1";
    a.title = fmt::format("{} on {}: launch modes for {}", found.network, found.machine,
                          counted(found.operators, "operator"));
    if (const auto best = std::ranges::min_element(found.ways, {}, &LaunchWay::step_s);
        best != found.ways.end()) {
        a.sentences = {fmt::format("Fastest: {}, {} for {}", best->name,
                                   format_si(best->step_s, "s"),
                                   counted(found.operators, "operator"))};
        a.sentences.push_back(
            found.levels == 0
                ? std::string("Gradients have no persistent kernel")
                : fmt::format("Persistent kernel: {} levels, barriers {}, idle SMs {}, its tiles "
                              "alone {}",
                              found.levels, format_si(found.barriers_s, "s"),
                              format_si(found.idle_s, "s"), format_si(found.bound_s, "s")));
    }
    a.figures = {{"network", "", found.network},
                 {"machine", "", found.machine},
                 {"operators", "", found.operators, Unit::count},
                 {"levels", "", found.levels, Unit::count, kPrograms,
                  "of the persistent kernel, a barrier between two; 0 in training, which has none"},
                 {"barriers_s", "", found.barriers_s, Unit::seconds},
                 {"idle_s", "", found.idle_s, Unit::seconds, kPrograms,
                  "of SMs that wait for the fullest of a level, as time of the whole GPU"},
                 {"bound_s", "", found.bound_s, Unit::seconds, kPrograms,
                  "the persistent kernel's tiles spread evenly, without launch and barriers"}};
    a.tables = {make_table<LaunchWay>(
        "ways", "", found.ways,
        {{"way", "mode", Unit::none, &LaunchWay::name},
         {"step_s", "step", Unit::seconds, &LaunchWay::step_s},
         {"launches", "launches", Unit::count, &LaunchWay::launches, kAll, "calls of the host"},
         {"", "speedup", Unit::times, gain, kPeople}})};
    return a;
}

} // namespace eyeroof::report
