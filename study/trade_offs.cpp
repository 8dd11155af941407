#include "study/trade_offs.hpp"

#include "model/base/suggest.hpp"

#include <fmt/format.h>

namespace eyeroof::study {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

constexpr double kExplainLimit_s = 5.0;

// All instances of a level together: what the level can hold of the layer at a time.
std::optional<Count> capacity_of(const Accelerator& accelerator, std::size_t level) {
    Count bytes = 0;
    for (const Store& store : accelerator.levels[level].stores) {
        if (!store.capacity_bytes) {
            return std::nullopt;
        }
        bytes += *store.capacity_bytes / store.buffers;
    }
    const auto all = checked_mul(bytes, instances_of(accelerator, level));
    return bytes > 0 ? all : std::nullopt;
}

Result<std::size_t> marked_level(const Accelerator& accelerator, const std::string& name) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < accelerator.levels.size(); ++i) {
        if (!capacity_of(accelerator, i)) {
            continue;
        }
        if (name.empty() || accelerator.levels[i].name == name) {
            return Result<std::size_t>(i);
        }
        names.push_back(accelerator.levels[i].name);
    }
    return Result<std::size_t>::failure(
        "unknown-level",
        name.empty() ? "the machine has no level of bounded capacity"
                     : fmt::format("the machine has no level '{}' of bounded capacity", name),
        names.empty() ? "" : suggestion(name, names));
}

} // namespace

Result<FrontReport> front_of(const Network& network, const Machine& machine,
                             const MapOptions& options, double tolerance, std::stop_token stop,
                             const ProgressCallback& progress) {
    auto task = first_task(network, machine, options);
    if (!task) {
        return Result<FrontReport>(task.diagnostics());
    }
    auto front = mapper::pareto_front(*task, {options.search, tolerance}, stop, progress);
    if (!front) {
        return Result<FrontReport>(
            explain_conflicts(*task, front.diagnostics(), options.places, kExplainLimit_s, stop));
    }
    return Result<FrontReport>(FrontReport{task->problem.name, machine.name,
                                           static_cast<double>(mac_units(task->machine)),
                                           *std::move(front)});
}

Result<CurveReport> curve_of(const Network& network, const Machine& machine,
                             const MapOptions& options, const std::string& level, double tolerance,
                             std::stop_token stop, const ProgressCallback& progress) {
    auto task = first_task(network, machine, options);
    if (!task) {
        return Result<CurveReport>(task.diagnostics());
    }
    const auto marked = marked_level(task->machine, level);
    if (!marked && !level.empty()) {
        return Result<CurveReport>(marked.diagnostics());
    }
    auto curve = mapper::capacity_curve(*task, {options.search, std::nullopt, tolerance},
                                        std::move(stop), progress);
    if (!curve) {
        return Result<CurveReport>(curve.diagnostics());
    }
    CurveReport report{task->problem.name, *std::move(curve), machine.name, "", 0, std::nullopt};
    if (marked) {
        report.level = task->machine.levels[*marked].name;
        report.capacity_bytes = *capacity_of(task->machine, *marked);
        for (const mapper::CapacityPoint& point : report.curve.points) {
            if (point.capacity_bytes <= report.capacity_bytes) {
                report.traffic_bytes = point.traffic_bytes;
            }
        }
    }
    return Result<CurveReport>(std::move(report));
}

} // namespace eyeroof::study
