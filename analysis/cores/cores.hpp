// A network on one, some, and all cores of a machine: its scaling, the step that limits it, and
// whether cores should share each layer or run different layers. `eyeroof exam --cores`.
#pragma once

#include "analysis/exam/run.hpp"
#include "model/cores/pipeline.hpp"
#include "model/machine/machine.hpp"

#include <array>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// What the description of a machine does not say of its package.
struct PackageOptions {
    double hop_s = 0.0;              // between neighbouring cores, for the first byte
    double link_bytes_per_s = 0.0;   // between groups of cores; 0: no limit
    double memory_bytes_per_s = 0.0; // that all cores share; 0: as the machine says

    bool operator==(const PackageOptions&) const = default;
};

struct CoresPoint {
    std::size_t cores = 1;
    Count along_x = 1, along_y = 1;
    double time_s = 0.0; // all layers, one after the other
    double hops_s = 0.0; // of it: inputs out to the last core and results back, once a layer
    double utilization = 0.0;
    // Seconds by which each step makes the time longer than one core's divided by the cores; all
    // steps add up to that difference. Steps are model/eyexam/limits.hpp's shares.
    std::array<double, model::kSteps> lost_s{};

    std::size_t costliest_step() const; // 1 … 7; 0 where nothing is lost
    bool operator==(const CoresPoint&) const = default;
};

struct CoresLayer {
    std::string name;
    Count count = 1;
    std::vector<double> seconds; // by point
    std::size_t best = 0;        // the point that is quickest; of equal ones that with fewest cores

    bool operator==(const CoresLayer&) const = default;
};

struct CoresReport {
    std::string network, machine, level; // the level whose instances are the cores
    std::vector<CoresPoint> points;      // ascending in cores
    std::vector<CoresLayer> layers;      // as they run; repeated ones once
    model::cores::Schedule together;     // every layer on as many cores as are best for it
    std::optional<model::cores::Schedule> pipeline; // nothing where that is not asked for

    bool operator==(const CoresReport&) const = default;
};

// Cores are the instances below the outermost level that fans out. Points are squares of them: both
// axes at 1, 2, 4 … and whole, and with one axis a step ahead. Every point is an examination of its
// own: its mappings are searched for so many cores. Errors: those of study::run; "one-core";
// "not-an-accelerator".
Result<CoresReport> cores_report(const Question& question, const PackageOptions& package,
                                 std::stop_token stop = {}, const ProgressCallback& progress = {});

} // namespace eyeroof::analysis
