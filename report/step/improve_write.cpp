#include "report/step/improve_write.hpp"

#include "analysis/scenario/fields.hpp"
#include "analysis/step/improve.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;

std::string row(const analysis::step::Outcome& o) {
    const auto names = analysis::step::remedies_of(o.combination);
    return fmt::format("{:>9} {:>10} {:>19} {:>10}  {:<5} {}\n", fmt::format("{:.2f}x", o.gain),
                       format_si(o.time_s, "s"),
                       fmt::format("{} .. {}", format_si(o.low_s, "s"), format_si(o.high_s, "s")),
                       format_si(static_cast<double>(o.peak), "B"), o.fits ? "yes" : "no",
                       names.empty() ? "as it is" : fmt::format("{}", fmt::join(names, " + ")));
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
    const std::string head = fmt::format("{:>9} {:>10} {:>19} {:>10}  {:<5} {}\n", "gain", "step",
                                         "interval", "peak", "fits", "optimizations");
    std::string text = fmt::format(
        "{}\n{} combinations within {}; gain is of items a second, the interval of the "
        "step's time\n\n{}{}\nalone\n{}",
        words, found.tried, format_si(static_cast<double>(limit), "B"), head, row(found.now), head);
    for (const analysis::step::Outcome& o : found.alone) {
        text += row(o);
    }
    text += "\ntogether: quickest first, each smaller than those above\n" + head;
    for (const analysis::step::Outcome& o : found.front) {
        text += row(o);
    }
    text += found.front.empty() ? "  nothing fits\n" : "";
    text += found.schedules.empty() ? "" : "\nbefore it runs\n";
    for (const analysis::step::Excluded& e : found.schedules) {
        text += fmt::format("  {}: {}\n", e.what, e.why);
    }
    text += "\nnot offered\n";
    for (const analysis::step::Excluded& e : found.excluded) {
        text += fmt::format("  {}: {}\n", e.what, e.why);
    }
    return text;
}

std::string improve_json(const analysis::step::Improvement& found,
                         const analysis::Question& question, Count limit) {
    Json json = {{"schema", "eyeroof/improve/1"},
                 {"scenario", Json::parse(analysis::scenario_json(question.scenario))},
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
    return json.dump(2) + "\n";
}

} // namespace eyeroof::report
