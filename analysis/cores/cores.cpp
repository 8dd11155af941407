#include "analysis/cores/cores.hpp"

#include "analysis/cores/layer_bytes.hpp"
#include "analysis/exam/examine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

using model::Accelerator;
using model::cores::LayerTimes;

namespace {

// The outermost level that fans out, where what it fans out to is an array of its own: the PEs of
// one array are no cores.
std::optional<std::size_t> level_of_cores(const Accelerator& machine) {
    std::optional<std::size_t> outermost;
    for (std::size_t i = 0; i < machine.levels.size(); ++i) {
        const bool fans_out = std::ranges::any_of(
            machine.levels[i].fanout, [](const model::Axis& axis) { return axis.size > 1; });
        if (fans_out && outermost) {
            return outermost;
        }
        outermost = fans_out ? std::optional(i) : outermost;
    }
    return std::nullopt;
}

// 1, 2, 4 … and the whole axis.
std::vector<Count> halvings(Count size) {
    std::vector<Count> sizes;
    for (Count s = 1; s < size; s *= 2) {
        sizes.push_back(s);
    }
    sizes.push_back(size);
    return sizes;
}

struct Grid {
    Count x = 1, y = 1;

    bool operator==(const Grid&) const = default;
};

std::vector<Grid> grids_of(const model::Level& level) {
    const auto size = [&](std::size_t axis) {
        return axis < level.fanout.size() ? level.fanout[axis].size : 1;
    };
    const std::vector<Count> xs = halvings(size(0)), ys = halvings(size(1));
    std::vector<Grid> grids;
    for (std::size_t i = 0; i < std::max(xs.size(), ys.size()); ++i) {
        const Grid both{xs[std::min(i, xs.size() - 1)], ys[std::min(i, ys.size() - 1)]};
        const Grid ahead{xs[std::min(i + 1, xs.size() - 1)], both.y};
        for (const Grid& grid : {both, ahead}) {
            if (grids.empty() || !(grids.back() == grid)) {
                grids.push_back(grid);
            }
        }
    }
    std::sort(grids.begin(), grids.end(),
              [](const Grid& a, const Grid& b) { return a.x * a.y < b.x * b.y; });
    return grids;
}

Accelerator with_cores(Accelerator machine, std::size_t level, const Grid& grid) {
    std::vector<model::Axis>& axes = machine.levels[level].fanout;
    axes[0].size = grid.x;
    if (axes.size() > 1) {
        axes[1].size = grid.y;
    }
    return machine;
}

// Out from a corner to the last core, and back.
double hops_of(const Grid& grid, const PackageOptions& package) {
    return 2.0 * static_cast<double>(grid.x + grid.y - 2) * package.hop_s;
}

double memory_s(const LayerReport& layer, const PackageOptions& package) {
    return package.memory_bytes_per_s > 0.0 ? layer.outer_bytes / package.memory_bytes_per_s : 0.0;
}

double seconds_of(const LayerReport& layer, const Grid& grid, const PackageOptions& package) {
    return std::max(layer.time_s, memory_s(layer, package)) + hops_of(grid, package);
}

CoresPoint point_of(const Report& report, const Grid& grid, const PackageOptions& package) {
    CoresPoint point;
    point.cores = static_cast<std::size_t>(grid.x * grid.y);
    point.along_x = grid.x;
    point.along_y = grid.y;
    point.utilization = report.total.utilization;
    for (const LayerReport& layer : report.layers) {
        const auto count = static_cast<double>(layer.layer.count);
        point.time_s += count * seconds_of(layer, grid, package);
        point.hops_s += count * hops_of(grid, package);
        for (std::size_t i = 0; i < model::kSteps; ++i) {
            point.lost_s[i] += count * layer.limits.share[i];
        }
        // What the shared memory adds is step 6's, hops are step 7's.
        point.lost_s[5] += count * std::max(0.0, memory_s(layer, package) - layer.time_s);
        point.lost_s[6] += count * hops_of(grid, package);
    }
    point.utilization *= report.total.time_s / point.time_s;
    return point;
}

// Each run of a layer is one of its own.
std::vector<LayerTimes> times_of(const CoresReport& report, const std::vector<Report>& exams) {
    std::vector<LayerTimes> times;
    for (std::size_t i = 0; i < report.layers.size(); ++i) {
        const LayerReport& layer = exams.back().layers[i];
        const LayerTimes one{report.layers[i].seconds, bytes_out_of(layer.layer),
                             layer.outer_bytes};
        times.insert(times.end(), static_cast<std::size_t>(report.layers[i].count), one);
    }
    return times;
}

constexpr Count kMostRuns = 2000; // of layers, in a pipeline's schedule

void add_schedules(CoresReport& report, const std::vector<Report>& exams,
                   const PackageOptions& package) {
    model::cores::Package cores;
    for (const CoresPoint& point : report.points) {
        cores.counts.push_back(point.cores);
    }
    cores.cores = report.points.back().cores;
    cores.link_bytes_per_s = package.link_bytes_per_s;
    cores.link_s = package.hop_s;
    cores.outer_bytes_per_s = package.memory_bytes_per_s;
    Count runs = 0;
    for (const CoresLayer& layer : report.layers) {
        runs += layer.count;
    }
    const auto times = runs <= kMostRuns ? times_of(report, exams) : std::vector<LayerTimes>{};
    if (!times.empty()) {
        report.together = parallel(times, cores);
        report.pipeline = pipelined(times, cores);
    }
}

void set_losses(std::vector<CoresPoint>& points) {
    const CoresPoint one = points.front();
    for (CoresPoint& point : points) {
        for (std::size_t i = 0; i < model::kSteps; ++i) {
            point.lost_s[i] -= one.lost_s[i] / static_cast<double>(point.cores);
        }
    }
}

} // namespace

std::size_t CoresPoint::costliest_step() const {
    const auto most = std::max_element(lost_s.begin(), lost_s.end());
    return *most > 1e-9 * time_s ? static_cast<std::size_t>(most - lost_s.begin()) + 1 : 0;
}

Result<CoresReport> cores_report(const Question& question, const PackageOptions& package,
                                 std::stop_token stop, const ProgressCallback& progress) {
    const model::Machine& machine = question.machine;
    const auto* accelerator = std::get_if<Accelerator>(&machine.kind);
    const auto level = accelerator == nullptr ? std::nullopt : level_of_cores(*accelerator);
    if (!level) {
        return Result<CoresReport>::failure(
            accelerator == nullptr ? "not-an-accelerator" : "one-core",
            fmt::format("{} has no cores to divide work among{}", machine.name,
                        accelerator == nullptr ? "" : ": its PEs are one array"),
            "simba is a machine of 36; many GPUs: eyeroof scale");
    }
    CoresReport report;
    report.network = question.network.name.empty() ? question.network.id : question.network.name;
    report.machine = machine.name;
    report.level = accelerator->levels[*level].fanout.front().name;
    const auto grids = grids_of(accelerator->levels[*level]);
    std::vector<Report> exams;
    for (const Grid& grid : grids) {
        if (progress) {
            progress({static_cast<double>(exams.size()) / static_cast<double>(grids.size()),
                      fmt::format("{} x {} cores", grid.x, grid.y)});
        }
        Question some = question;
        some.machine.kind = with_cores(*accelerator, *level, grid);
        auto exam = run(some, stop);
        if (!exam) {
            return exam.diagnostics();
        }
        report.points.push_back(point_of(*exam, grid, package));
        exams.push_back(*std::move(exam));
    }
    for (std::size_t i = 0; i < exams.front().layers.size(); ++i) {
        CoresLayer layer{
            exams.front().layers[i].layer.name, exams.front().layers[i].layer.count, {}, 0};
        for (std::size_t p = 0; p < exams.size(); ++p) {
            layer.seconds.push_back(seconds_of(exams[p].layers[i], grids[p], package));
            layer.best = layer.seconds[p] < layer.seconds[layer.best] ? p : layer.best;
        }
        report.layers.push_back(std::move(layer));
    }
    set_losses(report.points);
    add_schedules(report, exams, package);
    return report;
}

} // namespace eyeroof::analysis
