// Layers that run one after the other on several equal cores: all cores together on each layer, or
// the cores divided among neighbouring layers that work on different images at once.
//
// A pipeline's images leave one every interval: the slowest stage, or the slowest link or memory
// that stages share. One image takes the sum of all stages and of the transfers between them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace eyeroof::model::cores {

struct LayerTimes {
    std::vector<double> seconds; // on CoreChoice::counts[i] cores; infinite: not on so few
    double bytes_out = 0.0;      // that the next layer reads
    double outer_bytes = 0.0;    // to and from the memory that all cores share, on any number

    bool operator==(const LayerTimes&) const = default;
};

struct Package {
    std::vector<std::size_t> counts; // numbers of cores that a layer may run on, ascending
    std::size_t cores = 1;           // that there are
    double link_bytes_per_s = 0.0;   // into a core's neighbourhood; 0: no limit
    double link_s = 0.0;             // before the first byte is there
    double outer_bytes_per_s = 0.0;  // of the shared memory; 0: no limit

    bool operator==(const Package&) const = default;
};

struct Stage { // layers first … last, both included, on their own cores
    std::size_t first = 0, last = 0;
    std::size_t cores = 1;
    double seconds = 0.0;    // its layers one after the other
    double transfer_s = 0.0; // of what it hands on

    bool operator==(const Stage&) const = default;
};

struct Schedule {
    std::vector<Stage> stages;
    double interval_s = 0.0; // between two images
    double latency_s = 0.0;  // of one image
    double shared_s = 0.0;   // of the shared memory, a part of the interval's bound

    bool operator==(const Schedule&) const = default;
};

// All cores on each layer, one image after the other: a single stage. The number of cores is the
// best for each layer: not all are used where fewer are quicker.
Schedule parallel(const std::vector<LayerTimes>& layers, const Package& package);

// The least interval over all divisions of the layers into neighbours and of the cores among them;
// of equal ones the least latency. Exact: f(j, c) = min over i, n of max(f(i, c - n), stage(i + 1 …
// j, n)), then the least sum of stages that keeps that interval. Nothing where a layer runs on no
// number of cores.
std::optional<Schedule> pipelined(const std::vector<LayerTimes>& layers, const Package& package);

} // namespace eyeroof::model::cores
