#include "report/draw/roofline_series.hpp"

#include "model/eyexam/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

namespace eyeroof::report {

namespace {

// Classes of the share of the time, from warm to faint.
struct ShareClass {
    double least;
    const char* name;
    ColourRole colour;
};
constexpr std::array<ShareClass, 4> kShareClasses = {
    {{0.10, "10 % of the time or more", ColourRole::series6},
     {0.03, "3 to 10 % of the time", ColourRole::series2},
     {0.01, "1 to 3 % of the time", ColourRole::series1},
     {0.0, "less than 1 % of the time", ColourRole::faint}}};

std::size_t share_class(double share) {
    std::size_t index = 0;
    while (index + 1 < kShareClasses.size() && share < kShareClasses[index].least) {
        ++index;
    }
    return index;
}

} // namespace

std::size_t machine_index(const PlotInput& input, const std::string& id) {
    const analysis::PlotMachine* machine = find_machine(input, id);
    return machine == nullptr ? 0 : static_cast<std::size_t>(machine - input.machines.data());
}

Coloured coloured(const PlotInput& input, const ViewState& view) {
    switch (view.colour_by) {
    case ColourBy::limiter:
        return Coloured::by_step;
    case ColourBy::machine:
        return Coloured::by_machine;
    case ColourBy::share:
        return Coloured::by_share;
    case ColourBy::type:
        return Coloured::by_type;
    case ColourBy::module:
        return Coloured::by_module;
    case ColourBy::automatic:
        break;
    }
    return input.machines.size() > 1  ? Coloured::by_machine
           : view.level == kAllLevels ? Coloured::by_level
                                      : Coloured::by_step;
}

namespace {

constexpr std::size_t kMostModules = 8; // as many as there are colors
constexpr std::size_t kDeepest = 16;

// Up to the separator of that depth, 1 for the first; whole where it has fewer. 0: up to the first
// without the number at its end, "CONV" of "CONV12".
std::string up_to(const std::string& name, std::size_t depth) {
    std::size_t at = name.find_first_of("./_", 1);
    for (; depth > 1 && at != std::string::npos; --depth) {
        at = name.find_first_of("./_", at + 1);
    }
    const std::string part = name.substr(0, at);
    const auto last = depth > 0 ? std::string::npos : part.find_last_not_of("0123456789");
    return last == std::string::npos ? part : part.substr(0, last + 1);
}

std::size_t place_in(std::vector<std::string>& all, const std::string& one) {
    const auto found = std::find(all.begin(), all.end(), one);
    const auto place = static_cast<std::size_t>(found - all.begin());
    if (found == all.end()) {
        all.push_back(one);
    }
    return place;
}

} // namespace

std::map<std::string, std::string> modules_of(const std::vector<std::string>& names,
                                              std::size_t most) {
    std::map<std::string, std::string> modules;
    for (std::size_t depth = 0; depth <= kDeepest; ++depth) {
        std::map<std::string, std::string> deeper;
        std::set<std::string> different;
        for (const std::string& name : names) {
            different.insert(deeper[name] = up_to(name, depth));
        }
        if (depth > 0 && different.size() > most) {
            break;
        }
        modules = std::move(deeper);
    }
    return modules;
}

SeriesTable::SeriesTable(const PlotInput& input, const ViewState& view)
    : input_(input), coloured_(coloured(input, view)), every_level_(view.level == kAllLevels) {
    const auto measured = [](const PlotPoint& point) { return point.measured; };
    both_ = view.measured && view.predicted &&
            std::any_of(input.points.begin(), input.points.end(), measured) &&
            !std::all_of(input.points.begin(), input.points.end(), measured);
    std::vector<std::string> names;
    for (const PlotPoint& point : input.points) {
        place_in(runs_, point.run);
        place_in(types_, point.precision);
        names.push_back(point.name);
        for (const LevelBytes& entry : point.bytes) {
            place_in(levels_, entry.level);
        }
    }
    if (coloured_ == Coloured::by_module) {
        modules_ = modules_of(names, kMostModules);
        for (const std::string& name : names) {
            place_in(module_names_, modules_[name]);
        }
    }
}

std::size_t SeriesTable::of(const PlotPoint& point, const std::string& level, double share) {
    const bool levels = every_level_ && coloured_ != Coloured::by_level;
    const std::size_t kind = 2 * group(point, level, share) + (point.measured ? 1 : 0);
    const std::size_t key = (kind * runs_.size() + run_index(point)) * (levels_.size() + 1) +
                            (levels ? level_index(level) : 0);
    const auto [entry, fresh] = index_.try_emplace(key, series_.size());
    if (fresh) {
        series_.push_back(make(point, level, share));
        keys_.push_back(key);
    }
    const std::size_t series = entry->second;
    ++series_[series].count;
    if (by_step(point) && !point.limiter.empty()) {
        auto& known = limiters_[series];
        const auto same = std::find_if(known.begin(), known.end(), [&](const auto& limiter) {
            return limiter.first == point.limiter;
        });
        if (same == known.end()) {
            known.emplace_back(point.limiter, 1);
        } else {
            ++same->second;
        }
    }
    return series;
}

std::size_t SeriesTable::run_index(const PlotPoint& point) const {
    return static_cast<std::size_t>(std::find(runs_.begin(), runs_.end(), point.run) -
                                    runs_.begin());
}

// Points may know different levels, each in its own order: the name decides.
std::size_t SeriesTable::level_index(const std::string& level) const {
    return static_cast<std::size_t>(std::find(levels_.begin(), levels_.end(), level) -
                                    levels_.begin());
}

bool SeriesTable::by_step(const PlotPoint& point) const {
    return coloured_ == Coloured::by_step && !point.measured && point.limiter_step > 0;
}

// In the words of the table and the card, the most frequent first: "bound by step 7: ramp
// and latency".
std::string SeriesTable::step_name(std::size_t series) const {
    constexpr std::size_t kMost = 2; // a legend has no room for more
    auto limiters = limiters_.at(series);
    std::sort(limiters.begin(), limiters.end(), [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    std::string names;
    for (std::size_t i = 0; i < std::min(kMost, limiters.size()); ++i) {
        names += (i == 0 ? "" : ", ") + limiters[i].first;
    }
    return series_[series].name + ": " + names + (limiters.size() > kMost ? " …" : "");
}

std::pair<std::vector<SceneSeries>, std::vector<std::size_t>> SeriesTable::sorted() const {
    std::vector<std::size_t> order(series_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return keys_[a] < keys_[b]; });
    std::vector<SceneSeries> result;
    std::vector<std::size_t> place(series_.size());
    for (const std::size_t old : order) {
        place[old] = result.size();
        result.push_back(series_[old]);
        if (limiters_.contains(old)) {
            result.back().name = step_name(old);
        }
    }
    return {result, place};
}

std::size_t SeriesTable::group(const PlotPoint& point, const std::string& level,
                               double share) const {
    const auto place = [](const std::vector<std::string>& all, const std::string& one) {
        return static_cast<std::size_t>(std::find(all.begin(), all.end(), one) - all.begin());
    };
    switch (coloured_) {
    case Coloured::by_share:
        return share_class(share);
    case Coloured::by_level:
        return level_index(level);
    case Coloured::by_machine:
        return machine_index(input_, point.machine);
    case Coloured::by_type:
        return place(types_, point.precision);
    case Coloured::by_module:
        return place(module_names_, modules_.at(point.name));
    case Coloured::by_step:
        break;
    }
    return point.measured ? 100 : point.limiter_step;
}

SceneSeries SeriesTable::make(const PlotPoint& point, const std::string& level,
                              double share) const {
    const char* kind = point.measured ? "measured" : "predicted";
    SceneSeries series;
    std::size_t look = group(point, level, share);
    if (coloured_ == Coloured::by_share) {
        series.name = kShareClasses[look].name;
    } else if (coloured_ == Coloured::by_level) {
        series.name = level.empty() ? "outermost memory" : level;
    } else if (coloured_ == Coloured::by_machine) {
        const analysis::PlotMachine* machine = find_machine(input_, point.machine);
        series.name = machine == nullptr ? point.machine : machine->name;
    } else if (coloured_ == Coloured::by_type) {
        series.name = point.precision.empty() ? "unknown type" : point.precision;
    } else if (coloured_ == Coloured::by_module) {
        series.name = modules_.at(point.name);
    } else if (point.measured) {
        look = model::kSteps; // a look that no step has
        series.name = point.run.empty() ? kind : fmt::format("{}, {}", kind, point.run);
    } else if (point.limiter_step == 0) {
        series.name = kind;
    } else {
        look = point.limiter_step - 1;
        series.name = fmt::format("bound by step {}", point.limiter_step);
    }
    if (coloured_ != Coloured::by_step && both_) {
        series.name += fmt::format(", {}", kind);
        series.hollow = !point.measured;
        series.name += point.run.empty() ? "" : ", " + point.run;
    }
    if (!point.run.empty()) { // a marker and a colour for each run
        look += run_index(point) * (coloured_ == Coloured::by_machine ? input_.machines.size() : 1);
    }
    series.marker = series_marker(look);
    series.colour = coloured_ == Coloured::by_share ? kShareClasses[share_class(share)].colour
                    : by_step(point)                ? step_role(look + 1)
                                                    : series_role(look);
    if (every_level_ && coloured_ != Coloured::by_level) {
        series.marker = series_marker(level_index(level));
        series.name = (level.empty() ? "outermost memory" : level) + ", " + series.name;
    }
    series.key = series.name;
    return series;
}

} // namespace eyeroof::report
