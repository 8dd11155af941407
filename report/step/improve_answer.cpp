#include "report/step/improve_answer.hpp"

#include "base/figures.hpp"
#include "base/units.hpp"
#include "report/answer/write.hpp"
#include "report/draw/chart_scene.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace eyeroof::report {

namespace {

using analysis::step::Excluded;
using analysis::step::Improvement;
using analysis::step::Outcome;

std::string changes_text(const Outcome& o) {
    const auto names = analysis::step::remedies_of(o.combination);
    return names.empty() ? "as it is" : fmt::format("{}", fmt::join(names, " + "));
}

// The fastest that fits, and what changes it alone.
std::vector<std::string> improve_sentences(const Improvement& found, Count limit) {
    const std::string memory = format_si(static_cast<double>(limit), "B");
    const std::string now = format_si(found.now.time_s, "s");
    if (found.front.empty()) {
        return {
            fmt::format("No combination of {} fits {}; as it is: {}", found.tried, memory, now)};
    }
    const Outcome& best = found.front.front();
    if (best.gain <= 1.0) {
        return {fmt::format("None of {} combinations within {} is faster than {}", found.tried,
                            memory, now)};
    }
    return {fmt::format("{:.2f}x the throughput with {}", best.gain, changes_text(best)),
            fmt::format("{} per step with {} of memory ({} now); best of {} combinations within {}",
                        time_text(best.time_s, best.low_s, best.high_s),
                        format_si(static_cast<double>(best.peak), "B"), now, found.tried, memory)};
}

// An outcome, and where it stands: the step as it is and single changes, or the front of several.
struct Shown {
    Outcome outcome;
    bool alone = false;
};

// The figures of an outcome that `of` finds in a row.
template <class Row, class Of>
void add_outcome(std::vector<Column<Row>>& columns, const std::string& before, unsigned where,
                 Of of) {
    const auto add = [&](const char* key, const char* title, Unit unit, auto member,
                         const char* meaning, unsigned seen) {
        columns.emplace_back(
            before + key, title, unit, [of, member](const Row& row) { return of(row).*member; },
            seen, meaning);
    };
    add("time_s", "step", Unit::seconds, &Outcome::time_s, "of a step", where);
    add("low_s", "", Unit::seconds, &Outcome::low_s, "one measured step in ten is shorter", where);
    add("high_s", "", Unit::seconds, &Outcome::high_s, "one measured step in ten is longer", where);
    columns.emplace_back(
        before + "batch", "", Unit::count,
        [of](const Row& row) { return of(row).combination.batch; }, where,
        "times the network's own");
    add("item_s", "", Unit::seconds, &Outcome::item_s, "of one batch of the network's own size",
        where);
    add("gain", "gain", Unit::times, &Outcome::gain, "of items a second", where);
    add("peak_bytes", "peak", Unit::bytes, &Outcome::peak, "", where);
    add("fits", "fits", Unit::none, &Outcome::fits, "", where);
}

AnswerTable outcomes_of(const std::string& key, const std::vector<Outcome>& outcomes) {
    std::vector<Column<Outcome>> columns = {
        {"remedies", "", Unit::none,
         [](const Outcome& o) { return analysis::step::remedies_of(o.combination); }, kPrograms}};
    add_outcome(columns, "", kPrograms, [](const Outcome& o) { return o; });
    return make_table(key, "", outcomes, columns);
}

// What people read, and CSV: all of them in one table.
AnswerTable changes_of(const Improvement& found) {
    std::vector<Shown> shown = {{found.now, true}};
    for (const Outcome& o : found.alone) {
        shown.push_back({o, true});
    }
    for (const Outcome& o : found.front) {
        shown.push_back({o, false});
    }
    std::vector<Column<Shown>> columns = {
        {"changes", "", Unit::none, [](const Shown& s) { return changes_text(s.outcome); },
         kPrograms},
        {"alone", "alone", Unit::none, &Shown::alone, kAll,
         "yes: the step as it is, and single changes; no: combinations on the front of time and "
         "memory"},
        {"", "80 % interval", Unit::none,
         [](const Shown& s) {
             return range_text(s.outcome.low_s, s.outcome.high_s, Unit::seconds);
         },
         kPeople}};
    add_outcome(columns, "", kAll, [](const Shown& s) { return s.outcome; });
    columns.emplace_back(
        "", "change", Unit::sentence, [](const Shown& s) { return changes_text(s.outcome); },
        kPeople);
    return make_table("", "", shown, columns);
}

AnswerTable reasons_of(const std::string& key, const std::string& title, const std::string& why,
                       const std::vector<Excluded>& all) {
    return make_table<Excluded>(key, title, all,
                                {{"what", "change", Unit::none, &Excluded::what},
                                 {why, why, Unit::sentence, &Excluded::why}});
}

Chart front_of_memory(const Improvement& found, const std::string& title) {
    Chart chart;
    chart.title = title;
    chart.x_title = "peak memory, bytes";
    chart.y_title = "items a second, against now";
    chart.y_ticks = TickText::plain;
    ChartLine front{"fits, and no other is faster and smaller", {}, true, true};
    for (auto o = found.front.rbegin(); o != found.front.rend(); ++o) {
        front.points.emplace_back(static_cast<double>(o->peak), o->gain);
    }
    ChartLine alone{"single changes", {}, false, true, false};
    for (const Outcome& o : found.alone) {
        alone.points.emplace_back(static_cast<double>(o.peak), o.gain);
    }
    ChartLine now{"as it is", {{static_cast<double>(found.now.peak), 1.0}}, false, true, false};
    chart.lines = {std::move(now), std::move(alone), std::move(front)};
    std::erase_if(chart.lines, [](const ChartLine& line) { return line.points.empty(); });
    return chart;
}

} // namespace

Answer improve_answer(const Improvement& found, const std::string& network,
                      const std::string& machine, Count limit) {
    Answer a;
    a.schema = "eyeroof/improve/1";
    a.title = "What improves " + network;
    a.sentences = improve_sentences(found, limit);
    a.figures = {{"network", "", network},
                 {"machine", "", machine},
                 {"limit_bytes", "", limit, Unit::bytes, kPrograms},
                 {"combinations", "", found.tried, Unit::count, kPrograms},
                 {"now.remedies", "", analysis::step::remedies_of(found.now.combination),
                  Unit::none, kPrograms}};
    std::vector<Column<Outcome>> now;
    add_outcome(now, "now.", kPrograms, [](const Outcome& o) { return o; });
    add_figures(a.figures, found.now, now);
    a.tables = {changes_of(found), outcomes_of("alone", found.alone),
                outcomes_of("front", found.front),
                reasons_of("schedules", "Schedules", "schedule", found.schedules),
                reasons_of("not_offered", "Not considered", "why", found.excluded)};
    a.picture = [chart = front_of_memory(found, a.title)](const Canvas& canvas) {
        return draw_chart(chart, canvas);
    };
    return a;
}

} // namespace eyeroof::report
