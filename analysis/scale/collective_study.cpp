#include "analysis/scale/collective_study.hpp"

#include "analysis/scale/message.hpp"
#include "base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace eyeroof::analysis {

using model::Fabric;

namespace {

constexpr std::array<std::string_view, 6> kOperationNames = {
    "all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "send"};

Collective collective_of(Operation operation) {
    switch (operation) {
    case Operation::all_reduce:
        return Collective::all_reduce;
    case Operation::reduce_scatter:
        return Collective::reduce_scatter;
    case Operation::all_gather:
        return Collective::all_gather;
    case Operation::all_to_all:
        return Collective::all_to_all;
    default:
        return Collective::broadcast;
    }
}

// Measured over predicted, of rows that the fabrics' constants have not seen: docs/scale.md.
constexpr double kCollectiveLow = 0.80, kCollectiveHigh = 1.24;

Diagnostics check(const Fabric& fabric, const CollectiveQuestion& q) {
    Diagnostics found;
    if (const Count most = fabric.capacity(); most > 0 && q.devices > most) {
        found.error("too-many-devices",
                    fmt::format("{} joins {} devices at most, not {}", fabric.id, most, q.devices),
                    fmt::format("--devices {}", most));
    }
    std::set<std::string> software;
    for (const model::FabricLevel& level : fabric.levels) {
        for (const model::DirectReduce& d : level.direct) {
            software.insert(d.name);
        }
    }
    if (!q.options.direct.empty() && !software.contains(q.options.direct)) {
        const std::vector<std::string> names(software.begin(), software.end());
        found.error(
            "unknown-software",
            fmt::format("fabric {} has no all-reduce of \"{}\"", fabric.id, q.options.direct),
            names.empty() ? std::string("it names none; leave --software out")
                          : suggestion(q.options.direct, names));
    }
    return found;
}

} // namespace

std::optional<Operation> collective_from_name(std::string_view name) {
    const auto found = std::ranges::find(kOperationNames, name);
    return found == kOperationNames.end()
               ? std::nullopt
               : std::optional(static_cast<Operation>(found - kOperationNames.begin()));
}

std::string_view operation_name(Operation operation) {
    return kOperationNames[static_cast<std::size_t>(operation)];
}

std::vector<std::string> collective_names() {
    return {kOperationNames.begin(), kOperationNames.end()};
}

Result<CollectiveStudy> study_collective(const Fabric& fabric, const CollectiveQuestion& q) {
    if (auto found = check(fabric, q); found.has_errors()) {
        return found;
    }
    CollectiveStudy study;
    study.fabric = fabric.name;
    study.kind = q.kind;
    study.devices = q.devices;
    study.transport =
        q.transport.empty() && !fabric.transports.empty() ? fabric.transports[0].name : q.transport;
    for (const double bytes : q.sizes) {
        const auto wires = with_transport(fabric, q.transport, bytes);
        if (!wires) {
            return wires.diagnostics();
        }
        const Group group = place_group(*wires, q.devices, 1, q.devices);
        const Collective kind = collective_of(q.kind);
        CollectivePoint p;
        p.bytes = bytes;
        if (q.kind == Operation::send) {
            const auto transport =
                std::ranges::find(fabric.transports, study.transport, &model::Transport::name);
            const bool one_level = fabric.levels.size() == 1;
            p.time_s = transport != fabric.transports.end() && one_level
                           ? message_time(fabric.levels.front(), *transport, bytes)
                           : send_time(*wires, group, bytes).time_s();
            p.algorithm = "send";
            p.bus_bytes_per_s = algorithm_bytes_per_s(bytes, p.time_s);
        } else {
            const CollectiveTime time = collective_time(*wires, group, kind, bytes, q.options);
            if (q.options.algorithm && time.algorithm != *q.options.algorithm) {
                return Result<CollectiveStudy>::failure(
                    "not-served",
                    fmt::format("{} does not do {} on {}", algorithm_name(*q.options.algorithm),
                                operation_name(q.kind), fabric.id),
                    q.options.direct.empty()
                        ? "leave --algorithm out; one-shot and two-shot need --software"
                        : "leave --algorithm out");
            }
            p.time_s = time.time_s();
            p.algorithm = algorithm_name(time.algorithm);
            p.protocol = time.protocol;
            p.bus_bytes_per_s = bus_bytes_per_s(kind, q.devices, bytes, p.time_s);
        }
        p.algorithm_bytes_per_s = algorithm_bytes_per_s(bytes, p.time_s);
        p.low_s = p.time_s * kCollectiveLow;
        p.high_s = p.time_s * kCollectiveHigh;
        study.points.push_back(std::move(p));
    }
    return study;
}

void lay_measured(CollectiveStudy& study, const std::map<double, double>& measured) {
    for (CollectivePoint& point : study.points) {
        if (const auto found = measured.find(point.bytes); found != measured.end()) {
            point.measured_s = found->second;
        }
    }
}

} // namespace eyeroof::analysis
