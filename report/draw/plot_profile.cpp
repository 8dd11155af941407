#include "report/draw/plot_profile.hpp"

#include "base/ascii.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

namespace eyeroof::report {

namespace {

// The machine's spelling of a level, or the profile's where the machine has no such roof.
std::string level_name(const analysis::PlotMachine* machine, const std::string& level) {
    if (machine != nullptr) {
        for (const analysis::Roof& roof : machine->roofs) {
            if (roof.kind == analysis::RoofKind::memory && same_in_any_case(roof.key, level)) {
                return roof.key;
            }
        }
    }
    return level;
}

PlotPoint plot_point(const profiles::MeasuredPoint& from, const analysis::PlotMachine* machine,
                     const std::string& machine_id, std::size_t index) {
    PlotPoint point;
    point.id = fmt::format("{}/measured/{}/{}", machine_id, index, from.name);
    point.name = from.name;
    point.machine = machine_id;
    point.measured = true;
    point.count = std::max(1.0, static_cast<double>(from.calls));
    point.time_s = from.time_s / point.count;
    point.flops = from.flops() / point.count;
    for (const profiles::PointTraffic& traffic : from.traffic) {
        point.bytes.push_back({level_name(machine, traffic.level), traffic.bytes / point.count});
    }
    if (const profiles::PointWork* work = from.main_work()) {
        point.precision = work->precision;
        point.source = fmt::format("operations {}", profiles::evidence_name(work->evidence));
    }
    if (!from.traffic.empty()) {
        point.source += fmt::format("{}bytes {}", point.source.empty() ? "" : ", ",
                                    profiles::evidence_name(from.traffic.front().evidence));
    }
    point.source += from.under_replay ? ", time under replay" : "";
    return point;
}

} // namespace

Result<Done> add_profile(PlotInput& input, const std::string& machine,
                         const profiles::Profile& profile, const profiles::PointOptions& options,
                         const profiles::MetricFamily* family) {
    const auto points = profiles::points_of(profile, family, options);
    if (!points) {
        return Result<Done>(points.diagnostics());
    }
    Diagnostics found = points.diagnostics();
    const analysis::PlotMachine* roofs = find_machine(input, machine);
    std::size_t placeless = 0;
    for (std::size_t i = 0; i < points->size(); ++i) {
        PlotPoint point = plot_point((*points)[i], roofs, machine, i);
        placeless += point.has_place() ? 0 : 1;
        input.points.push_back(std::move(point));
    }
    if (placeless > 0) {
        found.warning("no-place",
                      fmt::format("{} of {} measured points have no operations or no bytes and are "
                                  "not on the plot",
                                  placeless, points->size()));
    }
    return Result<Done>(Done{}, std::move(found));
}

void add_ceilings(PlotInput& input, const std::string& machine, const profiles::Profile& profile) {
    const auto same_id = [&](const analysis::PlotMachine& m) { return m.id == machine; };
    auto found = std::find_if(input.machines.begin(), input.machines.end(), same_id);
    if (found == input.machines.end()) {
        input.machines.push_back({machine, profile.run.gpu, {}});
        found = std::prev(input.machines.end());
    }
    std::vector<analysis::Roof> roofs;
    for (const profiles::Ceiling& ceiling : profile.ceilings) {
        const bool memory = !ceiling.level.empty();
        if (!memory && ceiling.precision.empty()) {
            continue; // an overhead is no roof
        }
        analysis::Roof roof;
        roof.machine = machine;
        roof.kind = memory ? analysis::RoofKind::memory : analysis::RoofKind::compute;
        roof.key = memory ? level_name(&*found, ceiling.level) : ceiling.precision;
        roof.name = ceiling.name;
        roof.id =
            fmt::format("{}/measured/{}/{}", machine, memory ? "memory" : "compute", roof.key);
        roof.value = ceiling.value;
        roof.measured = true;
        roof.source = ceiling.how;
        const auto known =
            std::find_if(roofs.begin(), roofs.end(),
                         [&](const analysis::Roof& other) { return other.id == roof.id; });
        if (known == roofs.end()) {
            roofs.push_back(std::move(roof));
        } else if (known->value < roof.value) {
            *known = std::move(roof);
        }
    }
    // Outermost first, as roofs of a description are: the ceilings begin with the innermost cache.
    std::reverse(roofs.begin(), roofs.end());
    found->roofs.insert(found->roofs.end(), roofs.begin(), roofs.end());
}

} // namespace eyeroof::report
