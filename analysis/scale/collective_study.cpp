#include "analysis/scale/collective_study.hpp"

#include "analysis/scale/message.hpp"
#include "base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
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

// "0.5.10" as 0, 5, 10; what is no number, or not behind a dot, ends it.
std::vector<std::uint64_t> version_parts(std::string_view text) {
    std::vector<std::uint64_t> parts;
    while (!text.empty()) {
        std::uint64_t part = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), part);
        if (read.ec != std::errc()) {
            break;
        }
        parts.push_back(part);
        text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
        text.remove_prefix(text.starts_with('.') ? 1 : text.size());
    }
    return parts;
}

// A version that the fabric does not list takes the kernels of the next later one that it lists,
// else those of the framework's plain name, the newest: "sglang-0.5.9" is "sglang-0.5.10".
std::string listed_software(const std::set<std::string>& names, const std::string& asked) {
    const std::size_t dash = asked.find('-');
    const std::string plain = asked.substr(0, dash);
    if (names.contains(asked) || dash == std::string::npos || !names.contains(plain)) {
        return asked;
    }
    const auto wanted = version_parts(std::string_view(asked).substr(dash + 1));
    std::string best = plain;
    for (const std::string& name : names) {
        const bool versioned = name.starts_with(plain + "-");
        const auto listed = versioned ? version_parts(std::string_view(name).substr(dash + 1))
                                      : std::vector<std::uint64_t>{};
        const bool nearer =
            best == plain || listed < version_parts(std::string_view(best).substr(dash + 1));
        best = versioned && !wanted.empty() && listed >= wanted && nearer ? name : best;
    }
    return wanted.empty() ? asked : best;
}

std::set<std::string> software_of(const Fabric& fabric) {
    std::set<std::string> names;
    for (const model::FabricLevel& level : fabric.levels) {
        for (const model::DirectReduce& d : level.direct) {
            names.insert(d.name);
        }
    }
    return names;
}

Diagnostics check(const Fabric& fabric, const CollectiveQuestion& q) {
    Diagnostics found;
    if (const Count most = fabric.capacity(); most > 0 && q.devices > most) {
        found.error("too-many-devices",
                    fmt::format("{} joins {} devices at most, not {}", fabric.id, most, q.devices),
                    fmt::format("--devices {}", most));
    }
    const std::set<std::string> software = software_of(fabric);
    std::set<std::string> called;
    for (const model::FabricLevel& level : fabric.levels) {
        for (const model::DirectReduce& d : level.direct) {
            if (d.call_s > 0.0) {
                called.insert(d.name);
            }
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
    if (q.options.from_host && q.kind != Operation::all_reduce) {
        found.error("no-call-time", "calls from the host are timed of all-reduces alone",
                    "leave --launch out");
    } else if (!found.has_errors() && q.options.from_host && !called.contains(q.options.direct)) {
        found.error("no-call-time",
                    fmt::format("fabric {} has no time of a call from the host{}", fabric.id,
                                q.options.direct.empty() ? "" : " of " + q.options.direct),
                    called.empty() ? std::string("leave --launch out")
                                   : fmt::format("--software {}", fmt::join(called, ", or ")));
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

Result<CollectiveStudy> study_collective(const Fabric& fabric, const CollectiveQuestion& asked) {
    CollectiveQuestion q = asked;
    q.options.direct = listed_software(software_of(fabric), q.options.direct);
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
