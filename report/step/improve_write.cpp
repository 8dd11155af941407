#include "report/step/improve_write.hpp"

#include "analysis/scenario/fields.hpp"
#include "analysis/step/improve.hpp"
#include "base/csv.hpp"
#include "base/figures.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kFigures = 45; // columns of a row before its optimizations

std::string names_of(const analysis::step::Outcome& o) {
    const auto names = analysis::step::remedies_of(o.combination);
    return names.empty() ? "as it is" : fmt::format("{}", fmt::join(names, " + "));
}

std::string figures(const std::string& gain, const std::string& step, const std::string& interval,
                    const std::string& peak) {
    return fmt::format("{:>6} {:>8} {:>17} {:>9}  ", gain, step, interval, peak);
}

std::string head() {
    return figures("gain", "step", "80 % interval", "peak") + "change\n";
}

std::string row(const analysis::step::Outcome& o) {
    const std::string words =
        wrapped(names_of(o) + (o.fits ? "" : "; does not fit"), kFigures, kTextColumns);
    return figures(fmt::format("{:.2f}x", o.gain), format_si(o.time_s, "s"),
                   fmt::format("{} … {}", format_si(o.low_s, "s"), format_si(o.high_s, "s")),
                   format_si(static_cast<double>(o.peak), "B")) +
           words.substr(kFigures);
}

// The quickest that fits, and what changes it alone.
std::string answer_text(const analysis::step::Improvement& found, Count limit) {
    const std::string room = format_si(static_cast<double>(limit), "B");
    if (found.front.empty()) {
        return wrapped(fmt::format("No combination of {} fits {}; as it is: {}", found.tried, room,
                                   format_si(found.now.time_s, "s")),
                       0, kTextColumns);
    }
    const analysis::step::Outcome& best = found.front.front();
    if (best.gain <= 1.0) {
        return wrapped(fmt::format("None of {} combinations within {} is quicker than {}",
                                   found.tried, room, format_si(found.now.time_s, "s")),
                       0, kTextColumns);
    }
    return wrapped(fmt::format("{:.2f}x the throughput with {}", best.gain, names_of(best)), 0,
                   kTextColumns) +
           wrapped(fmt::format(
                       "{} per step with {} of memory ({} now); best of {} combinations within {}",
                       time_text(best.time_s, best.low_s, best.high_s),
                       format_si(static_cast<double>(best.peak), "B"),
                       format_si(found.now.time_s, "s"), found.tried, room),
                   0, kTextColumns);
}

Json outcome_json(const analysis::step::Outcome& o) {
    return {{"remedies", analysis::step::remedies_of(o.combination)},
            {"time_s", o.time_s},
            {"low_s", o.low_s},
            {"high_s", o.high_s},
            {"batch", o.combination.batch},
            {"item_s", o.item_s},
            {"gain", o.gain},
            {"peak_bytes", o.peak},
            {"fits", o.fits}};
}

} // namespace

std::string improve_text(const analysis::step::Improvement& found, const std::string& words,
                         Count limit) {
    std::string text = wrapped(words, 0, kTextColumns) + answer_text(found, limit);
    text += "\n" + head() + row(found.now) + "\nsingle changes\n" + head();
    for (const analysis::step::Outcome& o : found.alone) {
        text += row(o);
    }
    text += "\ncombinations, fastest first; each needs less memory than those above\n" + head();
    for (const analysis::step::Outcome& o : found.front) {
        text += row(o);
    }
    text += found.front.empty() ? "  nothing fits\n" : "";
    text += found.schedules.empty() ? "" : "\nschedules\n";
    for (const analysis::step::Excluded& e : found.schedules) {
        text += wrapped(fmt::format("{}: {}", e.what, e.why), 2, kTextColumns);
    }
    text += "\nnot considered\n";
    for (const analysis::step::Excluded& e : found.excluded) {
        text += wrapped(fmt::format("{}: {}", e.what, e.why), 2, kTextColumns);
    }
    return text;
}

std::string improve_csv(const analysis::step::Improvement& found) {
    std::string csv = "changes,alone,time_s,low_s,high_s,batch,gain,peak_bytes,fits\n";
    const auto add = [&](const analysis::step::Outcome& o, bool alone) {
        csv += fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_quoted(names_of(o)), alone, o.time_s,
                           o.low_s, o.high_s, o.combination.batch, o.gain, o.peak, o.fits);
    };
    add(found.now, true);
    for (const analysis::step::Outcome& o : found.alone) {
        add(o, true);
    }
    for (const analysis::step::Outcome& o : found.front) {
        add(o, false);
    }
    return csv;
}

std::string improve_json(const analysis::step::Improvement& found,
                         const analysis::Question& question, Count limit) {
    Json json = {{"schema", "eyeroof/improve/1"},
                 {"scenario", parse_json(analysis::scenario_json(question.scenario))},
                 {"network", question.network.id},
                 {"machine", question.machine.id},
                 {"limit_bytes", limit},
                 {"combinations", found.tried},
                 {"now", outcome_json(found.now)},
                 {"alone", Json::array()},
                 {"front", Json::array()},
                 {"schedules", Json::array()},
                 {"not_offered", Json::array()}};
    for (const analysis::step::Outcome& o : found.alone) {
        json["alone"].push_back(outcome_json(o));
    }
    for (const analysis::step::Outcome& o : found.front) {
        json["front"].push_back(outcome_json(o));
    }
    for (const analysis::step::Excluded& e : found.schedules) {
        json["schedules"].push_back({{"what", e.what}, {"schedule", e.why}});
    }
    for (const analysis::step::Excluded& e : found.excluded) {
        json["not_offered"].push_back({{"what", e.what}, {"why", e.why}});
    }
    return json_document(json);
}

} // namespace eyeroof::report
