// Runs a sweep: points in parallel, results in order.
#pragma once

#include "analysis/sweep/engine.hpp"
#include "base/progress.hpp"

#include <functional>
#include <stop_token>

namespace eyeroof::analysis {

struct PointRange {
    std::uint64_t from = 0;
    std::uint64_t to = 0; // the first one that is not in it

    bool operator==(const PointRange&) const = default;
};

// Part `index` (from 1) of `count` parts that follow each other and differ by one point at most.
PointRange shard_of(std::uint64_t points, std::uint64_t index, std::uint64_t count);

// Takes the text of the next points, in their order, whatever thread worked them out; false ends
// the sweep.
using SweepSink = std::function<bool(std::string_view rows, std::uint64_t points)>;
using RowText = std::function<std::string(std::uint64_t point, const PointFigures& figures)>;

// How many points were handed over, from range.from on: all unless the sink or `stop` ended it.
// `row` is called by all threads. Progress tells points a second and the time that is left.
std::uint64_t run_sweep(const SweepGrid& grid, PointRange range, int threads, const RowText& row,
                        const SweepSink& sink, const std::stop_token& stop,
                        const ProgressCallback& progress);

} // namespace eyeroof::analysis
