#include "report/bound/bound_answer.hpp"

#include "analysis/what_if/headline.hpp"
#include "base/figures.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace eyeroof::report {

namespace {

using namespace analysis::bound; // NOLINT(google-build-using-namespace): what is written here

// The time and how far it is above the speed of light, its largest part, and the best change.
std::vector<std::string> bound_sentences(const BoundReport& r) {
    const double time_s = r.time_s();
    const std::string predicted = time_text(r.predicted_s, r.low_s, r.high_s) + " predicted";
    std::vector<std::string> lines = {
        r.measured_s ? format_si(time_s, "s") + " measured, " + predicted : predicted};
    if (r.fused.time_s > 0.0) {
        const double ratio = time_s / r.fused.time_s;
        lines.push_back(
            (ratio < 1e3 ? fmt::format("{:.3g}", ratio) : fmt::format("{:.0f}", ratio)) +
            "x the fused bound of " + format_si(r.fused.time_s, "s"));
    }
    const auto most = std::ranges::max_element(r.gap, {}, &GapPart::seconds);
    if (most != r.gap.end() && time_s > 0.0) {
        lines.push_back(fmt::format("Largest part: {}, {} ({:.1f} %)", most->name,
                                    format_si(most->seconds, "s"), 100.0 * most->seconds / time_s));
    }
    if (r.measured_s && r.low_s && *r.measured_s < *r.low_s) {
        lines.push_back("The measured run is faster than the prediction's interval: another "
                        "resource may bind it");
        return lines;
    }
    if (r.headline) {
        for (std::string& line :
             std::array{analysis::bound_by_text(*r.headline),
                        analysis::largest_saving_text(*r.headline, r.predicted_s)}) {
            if (!line.empty()) {
                lines.push_back(std::move(line));
            }
        }
    }
    if (!r.changes.empty()) {
        const Change& best = r.changes.front();
        lines.push_back(fmt::format("Fastest other way to run it: {:.3g}x the speed with {}",
                                    r.predicted_s / best.time_s, best.name));
    }
    return lines;
}

// The columns of a bound that `of` finds in a row.
template <class Row, class Of>
void add_bound(std::vector<Column<Row>>& columns, const std::string& before, unsigned where,
               Of of) {
    const auto add = [&](const char* key, const char* title, Unit unit, auto member,
                         const char* meaning) {
        columns.emplace_back(
            before + key, title, unit, [of, member](const Row& row) { return of(row).*member; },
            where, meaning);
    };
    add("time_s", "time", Unit::seconds, &Bound::time_s, "");
    add("arithmetic_s", "arithmetic", Unit::seconds, &Bound::arithmetic_s,
        "multiplications that every algorithm does, at peak");
    add("memory_s", "memory", Unit::seconds, &Bound::memory_s, "");
    add("on_chip_s", "on-chip", Unit::seconds, &Bound::on_chip_s, "");
    add("start_s", "start", Unit::seconds, &Bound::start_s,
        "of one kernel, before its first result");
    add("bytes", "bytes", Unit::bytes, &Bound::bytes, "");
    columns.emplace_back(
        before + "wall", "bound by", Unit::none,
        [of](const Row& row) { return wall_text(of(row).wall); }, where,
        "arithmetic, memory, on-chip, or start");
}

struct NamedBound {
    std::string name;
    Bound bound;
    double share = 0.0; // of the time
};

std::vector<NamedBound> named_bounds(const BoundReport& r) {
    std::vector<NamedBound> bounds = {
        {"fused", r.fused}, {"cached", r.cached}, {"unfused", r.unfused}, {"roofline", r.roofline}};
    for (NamedBound& one : bounds) {
        one.share = r.time_s() > 0.0 ? one.bound.time_s / r.time_s() : 0.0;
    }
    return bounds;
}

// The four bounds for people; JSON has them by name.
AnswerTable bounds_of(const BoundReport& r) {
    std::vector<Column<NamedBound>> columns = {{"", "bound", Unit::none, &NamedBound::name}};
    add_bound(columns, "", kPeople, [](const NamedBound& one) { return one.bound; });
    columns.emplace_back("", "of time", Unit::share, &NamedBound::share, kPeople);
    return make_table("", "", named_bounds(r), columns);
}

void add_bounds(std::vector<Figure>& figures, const BoundReport& r) {
    constexpr std::array<const char*, 4> kMeanings = {
        "inputs, weights, and outputs once", "the same with a chip of this size",
        "every operator alone",
        "sums over the program with direct convolution and a cold cache: no bound"};
    std::size_t i = 0;
    for (const NamedBound& one : named_bounds(r)) {
        std::vector<Column<NamedBound>> columns;
        add_bound(columns, one.name + ".", kPrograms,
                  [](const NamedBound& bound) { return bound.bound; });
        columns.front().head.meaning = kMeanings[i++];
        add_figures(figures, one, columns);
    }
}

AnswerTable gap_of(const BoundReport& r) {
    const double time_s = r.time_s();
    const auto share = [time_s](const GapPart& part) {
        return time_s > 0.0 ? part.seconds / time_s : 0.0;
    };
    const auto drawn = [share](const GapPart& part) { return std::clamp(share(part), 0.0, 1.0); };
    return make_table<GapPart>(
        "gap", "Parts of the time", r.gap,
        {{"part", "part", Unit::none, &GapPart::name},
         limited<Column<GapPart>>({"seconds", "time", Unit::seconds, &GapPart::seconds, kAll,
                                   "negative: the measurement is below what is predicted"},
                                  kAnySign),
         {"", "share", Unit::share, share, kPeople},
         {"", "of the time", Unit::bar, drawn, kPages},
         {"reason", "meaning", Unit::sentence, &GapPart::reason}});
}

AnswerTable changes_of(const BoundReport& r) {
    const auto gain = [predicted = r.predicted_s](const Change& change) {
        return predicted / change.time_s;
    };
    return make_table<Change>("changes", "Changes", r.changes,
                              {{"change", "change", Unit::none, &Change::name},
                               {"time_s", "predicted", Unit::seconds, &Change::time_s},
                               {"gain", "gain", Unit::times, gain},
                               {"detail", "detail", Unit::sentence, &Change::detail, kAll,
                                "operators that became one kernel"}});
}

AnswerTable operators_of(const BoundReport& r) {
    std::vector<Column<OperatorBound>> columns = {
        {"name", "operator", Unit::none, &OperatorBound::name},
        {"", "above", Unit::seconds,
         [](const OperatorBound& o) {
             return static_cast<double>(o.runs) * (o.predicted_s - o.bound.time_s);
         },
         kPeople, "the bound, in all runs"},
        {"", "predicted", Unit::seconds,
         [](const OperatorBound& o) { return static_cast<double>(o.runs) * o.predicted_s; },
         kPeople, "all runs"},
        {"", "bound", Unit::seconds,
         [](const OperatorBound& o) { return static_cast<double>(o.runs) * o.bound.time_s; },
         kPeople, "of all runs"},
        {"runs", "runs", Unit::count, &OperatorBound::runs},
        {"", "bound by", Unit::none, [](const OperatorBound& o) { return wall_text(o.bound.wall); },
         kPeople},
        {"predicted_s", "", Unit::seconds, &OperatorBound::predicted_s, kPrograms, "of one run"}};
    add_bound(columns, "bound.", kPrograms, [](const OperatorBound& o) { return o.bound; });
    AnswerTable made = make_table("operators", "Operators", r.operators, columns);
    made.most_for_people = 12;
    return made;
}

} // namespace

Answer bound_answer(const BoundReport& r, const std::string& network, const std::string& machine) {
    Answer a;
    a.schema = "eyeroof/bound/1";
    a.title = fmt::format("Bounds of {} on {}", r.network, r.machine);
    a.question = r.words;
    a.sentences = bound_sentences(r);
    a.figures = {{"network", "", network},
                 {"machine", "", machine},
                 {"assumptions", "", r.assumptions, Unit::none, kPrograms,
                  "peaks, clock, and cache that the bounds hold at"},
                 {"predicted_s", "", r.predicted_s, Unit::seconds, kPrograms},
                 {"low_s", "", r.low_s, Unit::seconds, kPrograms},
                 {"high_s", "", r.high_s, Unit::seconds, kPrograms},
                 {"measured_s", "", r.measured_s, Unit::seconds, kPrograms}};
    add_bounds(a.figures, r);
    a.tables = {bounds_of(r), gap_of(r), changes_of(r), operators_of(r)};
    a.rows = "operators";
    a.notes = {"bounds: " + r.assumptions,
               "roofline: sums over the program, direct convolution, cold cache; not a bound"};
    return a;
}

} // namespace eyeroof::report
