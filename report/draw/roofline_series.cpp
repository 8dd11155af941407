#include "report/draw/roofline_series.hpp"

#include "model/eyexam/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

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

bool colour_by_machine(const PlotInput& input, const ViewState& view) {
    return view.colour_by == ColourBy::machine ||
           (view.colour_by == ColourBy::automatic && input.machines.size() > 1);
}

SeriesTable::SeriesTable(const PlotInput& input, const ViewState& view)
    : input_(input), by_level_(view.level == kAllLevels),
      by_machine_(colour_by_machine(input, view)), by_share_(view.colour_by == ColourBy::share) {
    const auto measured = [](const PlotPoint& point) { return point.measured; };
    both_ = view.measured && view.predicted &&
            std::any_of(input.points.begin(), input.points.end(), measured) &&
            !std::all_of(input.points.begin(), input.points.end(), measured);
    for (const PlotPoint& point : input.points) {
        if (std::find(runs_.begin(), runs_.end(), point.run) == runs_.end()) {
            runs_.push_back(point.run);
        }
        for (const LevelBytes& entry : point.bytes) {
            if (std::find(levels_.begin(), levels_.end(), entry.level) == levels_.end()) {
                levels_.push_back(entry.level);
            }
        }
    }
}

std::size_t SeriesTable::of(const PlotPoint& point, const std::string& level, double share) {
    const std::size_t key =
        (2 * group(point, level, share) + (point.measured ? 1 : 0)) * runs_.size() +
        run_index(point);
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

bool SeriesTable::by_step(const PlotPoint& point) const {
    return !by_level_ && !by_machine_ && !by_share_ && !point.measured && point.limiter_step > 0;
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

// Points may know different levels, each in its own order: the name decides.
std::size_t SeriesTable::group(const PlotPoint& point, const std::string& level,
                               double share) const {
    if (by_share_) {
        return share_class(share);
    }
    if (by_level_) {
        const auto found = std::find(levels_.begin(), levels_.end(), level);
        return static_cast<std::size_t>(found - levels_.begin());
    }
    if (by_machine_) {
        return machine_index(input_, point.machine);
    }
    return point.measured ? 100 : point.limiter_step;
}

SceneSeries SeriesTable::make(const PlotPoint& point, const std::string& level,
                              double share) const {
    const char* kind = point.measured ? "measured" : "predicted";
    SceneSeries series;
    std::size_t look = group(point, level, share);
    if (by_share_) {
        series.name = kShareClasses[look].name;
    } else if (by_level_) {
        series.name = level.empty() ? "outermost memory" : level;
    } else if (by_machine_) {
        const analysis::PlotMachine* machine = find_machine(input_, point.machine);
        series.name = machine == nullptr ? point.machine : machine->name;
    } else if (point.measured) {
        look = model::kSteps; // a look that no step has
        series.name = point.run.empty() ? kind : fmt::format("{}, {}", kind, point.run);
    } else if (point.limiter_step == 0) {
        series.name = kind;
    } else {
        look = point.limiter_step - 1;
        series.name = fmt::format("bound by step {}", point.limiter_step);
    }
    if ((by_level_ || by_machine_ || by_share_) && both_) {
        series.name += fmt::format(", {}", kind);
        series.hollow = !point.measured;
        series.name += point.run.empty() ? "" : ", " + point.run;
    }
    if (!point.run.empty()) { // a marker and a colour for each run
        look += run_index(point) * (by_machine_ ? input_.machines.size() : 1);
    }
    series.marker = series_marker(look);
    series.colour = by_share_        ? kShareClasses[share_class(share)].colour
                    : by_step(point) ? step_role(look + 1)
                                     : series_role(look);
    series.key = series.name;
    return series;
}

} // namespace eyeroof::report
