#include "report/draw/roofline_points.hpp"

#include "base/pattern.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace eyeroof::report {

namespace {

// Points by total time, heaviest first; the order of equals is that of the input.
PointIndices by_weight(const PlotInput& input, PointIndices indices) {
    std::stable_sort(indices.begin(), indices.end(), [&](std::size_t a, std::size_t b) {
        return input.points[a].total_s() > input.points[b].total_s();
    });
    return indices;
}

bool kind_visible(const PlotPoint& point, const ViewState& view) {
    return point.measured ? view.measured : view.predicted;
}

// No one hid it, alone or with its machine or by showing others alone.
bool not_hidden(const PlotPoint& point, const ViewState& view) {
    return !view.hidden.contains(point.id) && !view.hidden_machines.contains(point.machine) &&
           (view.only.empty() || view.only.contains(point.id));
}

// Points that the name filter and the kinds let through, heaviest first.
Result<PointIndices> matching(const PlotInput& input, const ViewState& view) {
    const auto given = Pattern::compile(view.filter);
    if (!given) {
        return Result<PointIndices>(given.diagnostics());
    }
    const auto any_case = Pattern::compile(view.filter.empty() ? "" : "(?i)" + view.filter);
    const auto& pattern = any_case ? any_case : given;
    PointIndices indices;
    for (std::size_t i = 0; i < input.points.size(); ++i) {
        const PlotPoint& point = input.points[i];
        if (kind_visible(point, view) && not_hidden(point, view) && pattern->found_in(point.name)) {
            indices.push_back(i);
        }
    }
    return by_weight(input, std::move(indices));
}

// The name heads of a heaviest-first list: both top-N and top-share count names, so that a
// prediction and its measurement, or the same layer on two machines, stay together.
PointIndices heaviest(const PlotInput& input, const PointIndices& indices, const ViewState& view) {
    if (!view.top && !view.top_share) {
        return indices;
    }
    std::map<std::string, double> weight;
    double total = 0.0;
    for (const std::size_t i : indices) {
        weight[input.points[i].name] += input.points[i].total_s();
        total += input.points[i].total_s();
    }
    std::vector<std::pair<double, std::string>> names;
    for (const auto& [name, seconds] : weight) {
        names.emplace_back(-seconds, name);
    }
    std::sort(names.begin(), names.end());
    std::set<std::string> kept;
    double sum = 0.0;
    for (const auto& [minus_seconds, name] : names) {
        const bool enough =
            (view.top && kept.size() >= static_cast<std::size_t>(std::max(0, *view.top))) ||
            (view.top_share && sum >= *view.top_share * total);
        if (enough) {
            break;
        }
        kept.insert(name);
        sum -= minus_seconds;
    }
    PointIndices result;
    std::copy_if(indices.begin(), indices.end(), std::back_inserter(result),
                 [&](std::size_t i) { return kept.contains(input.points[i].name); });
    return result;
}

} // namespace

Result<PointIndices> points_in_view(const PlotInput& input, const ViewState& view) {
    const auto found = matching(input, view);
    return found ? Result<PointIndices>(heaviest(input, *found, view)) : found;
}

} // namespace eyeroof::report
