// A collective over message sizes on one fabric, with the figures that nccl-tests prints.
#pragma once

#include "analysis/scale/collectives.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// `send`: one message from a device to the next.
enum class Operation { all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, send };
std::optional<Operation> collective_from_name(std::string_view name);
std::string_view operation_name(Operation operation);
std::vector<std::string> collective_names();

struct CollectiveQuestion {
    Operation kind = Operation::all_reduce;
    Count devices = 8;
    std::vector<double> sizes; // bytes
    CollectiveOptions options;
    std::string transport;
};

struct CollectivePoint {
    double bytes = 0.0, time_s = 0.0;
    double low_s = 0.0, high_s = 0.0; // eight measured collectives in ten lie between
    std::string algorithm, protocol;
    double algorithm_bytes_per_s = 0.0, bus_bytes_per_s = 0.0;
    std::optional<double> measured_s; // of this size, where a table was laid beside
    bool operator==(const CollectivePoint&) const = default;
};

struct CollectiveStudy {
    std::string fabric, transport;
    Operation kind = Operation::all_reduce;
    Count devices = 0;
    std::vector<CollectivePoint> points;
};

// Lays measured times beside the points of their sizes, bytes to seconds.
void lay_measured(CollectiveStudy& study, const std::map<double, double>& measured);

// Errors: "too-many-devices"; "unknown-software" and "unknown-transport" with the nearest name;
// "not-served" where the algorithm does not do the operation.
Result<CollectiveStudy> study_collective(const model::Fabric& fabric,
                                         const CollectiveQuestion& question);

} // namespace eyeroof::analysis
