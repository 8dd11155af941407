#include "analysis/search/trade_offs.hpp"

#include "analysis/search/layer_queue.hpp"
#include "base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

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
    auto tasks = layer_tasks(network, machine, options);
    if (!tasks) {
        return Result<FrontReport>(tasks.diagnostics());
    }
    const auto units = static_cast<double>(mac_units(tasks->front().task.machine));
    FrontReport report{network.name, machine.name, units, {}, false};
    LayerQueue queue(*std::move(tasks), options.search.time_limit_s, stop, progress);
    Diagnostics found;
    while (const LayerTask* layer = queue.next()) {
        mapper::SearchOptions search = options.search;
        search.time_limit_s = queue.share_s();
        auto front = mapper::pareto_front(layer->task, {search, tolerance}, stop, queue.progress());
        if (front) {
            report.layers.push_back({layer->layer, layer->equals, *std::move(front)});
        } else if (!queue.cancelled()) {
            found.append(of_layer(layer->layer, explain_conflicts(layer->task, front.diagnostics(),
                                                                  options.places, stop)));
        }
    }
    report.cancelled = queue.cancelled();
    if (report.cancelled && report.layers.empty()) {
        return Result<FrontReport>::failure("cancelled", "the search was cancelled");
    }
    return found.has_errors() ? Result<FrontReport>(std::move(found))
                              : Result<FrontReport>(std::move(report));
}

namespace {

// nullopt: the layer has several nests, and this is one of them.
std::optional<double> compulsory_bytes(const Network& network, const LayerTask& task) {
    const auto layer =
        std::find_if(network.layers.begin(), network.layers.end(),
                     [&](const Layer& candidate) { return candidate.name == task.layer; });
    const auto work = layer == network.layers.end() ? std::nullopt : std::optional(work_of(*layer));
    if (!work || !*work || (*work)->tensors.size() > kOperands) {
        return std::nullopt;
    }
    double bits = 0.0;
    for (const TensorUse& tensor : (*work)->tensors) {
        const auto operand = std::find_if(kAllOperands.begin(), kAllOperands.end(), [&](Operand o) {
            return tensor.name.find(operand_name(o)) != std::string::npos;
        });
        if (operand == kAllOperands.end()) {
            return std::nullopt;
        }
        const bool second = tensor.name == "input2"; // of a batched product
        bits += static_cast<double>(tensor.elements) *
                bits_at(task.task.machine, 0, second ? Operand::weight : *operand);
    }
    return bits / 8.0;
}

} // namespace

Result<CurveReport> curve_of(const Network& network, const Machine& machine,
                             const MapOptions& options, const std::string& level, double tolerance,
                             std::stop_token stop, const ProgressCallback& progress) {
    auto tasks = layer_tasks(network, machine, options);
    if (!tasks) {
        return Result<CurveReport>(tasks.diagnostics());
    }
    const Accelerator accelerator = tasks->front().task.machine;
    const auto marked = marked_level(accelerator, level);
    if (!marked && !level.empty()) {
        return Result<CurveReport>(marked.diagnostics());
    }
    CurveReport report{network.name, machine.name, "", 0, {}, false};
    if (marked) {
        report.level = accelerator.levels[*marked].name;
        report.capacity_bytes = *capacity_of(accelerator, *marked);
    }
    LayerQueue queue(*std::move(tasks), options.search.time_limit_s, stop, progress);
    Diagnostics found;
    while (const LayerTask* layer = queue.next()) {
        mapper::SearchOptions search = options.search;
        search.time_limit_s = queue.share_s();
        auto curve = mapper::capacity_curve(layer->task, {search, std::nullopt, tolerance}, stop,
                                            queue.progress());
        if (!curve) {
            found.append(of_layer(layer->layer, curve.diagnostics()));
            continue;
        }
        const double once = compulsory_bytes(network, *layer).value_or(curve->compulsory_bytes);
        LayerCurve one{layer->layer, layer->equals, *std::move(curve), once, std::nullopt};
        for (const mapper::CapacityPoint& point : one.curve.points) {
            if (marked && point.capacity_bytes <= report.capacity_bytes) {
                one.traffic_bytes = point.traffic_bytes;
            }
        }
        report.layers.push_back(std::move(one));
    }
    report.cancelled = queue.cancelled();
    if (report.cancelled && report.layers.empty()) {
        return Result<CurveReport>::failure("cancelled", "the search was cancelled");
    }
    return found.has_errors() && !report.cancelled ? Result<CurveReport>(std::move(found))
                                                   : Result<CurveReport>(std::move(report));
}

} // namespace eyeroof::analysis
