// A network on a package of unequal cores: the placement of its layers, as a pipeline and for one
// image after the other. `eyeroof exam` on a package.
#pragma once

#include "analysis/cores/package.hpp"
#include "analysis/exam/run.hpp"
#include "model/cores/placement.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct HeterogeneousLayer {
    std::string name;
    double bytes_out = 0.0;
    // By kind, of one execution; infinite where a core does not run the layer.
    std::vector<double> seconds, energy_j;

    bool operator==(const HeterogeneousLayer&) const = default;
};

struct HeterogeneousReport {
    std::string network;
    CorePackage package;
    std::size_t parts = 1;                  // into which layers are divided at most
    std::vector<HeterogeneousLayer> layers; // as they run; repeated ones as often
    model::cores::PipelinedPlacement pipeline;
    model::cores::ParallelPlacement parallel;
    double pipeline_energy_j = 0.0; // of one image, with its layers where they were placed

    // Seconds of each core in an interval of the pipeline; cores are numbered kind by kind.
    std::vector<double> busy() const;
    std::size_t kind_of(std::size_t core) const;
    // What makes the interval: "eyeriss-v1 0", "step 6, the memory" or "step 6, the link".
    std::string bottleneck() const;
    bool operator==(const HeterogeneousReport&) const = default;
};

struct PlacementOptions {
    std::size_t parts = 4;
    std::uint64_t max_nodes = 2'000'000; // of the pipeline's search

    bool operator==(const PlacementOptions&) const = default;
};

// `parts`: so many equal pieces along output channels or columns, fewer where they do not divide;
// each number of them is examined on each kind, with mappings of its own. Errors: those of
// study::run on each kind of core; "too-many-layers".
Result<HeterogeneousReport> heterogeneous_report(const Question& question,
                                                 const CorePackage& package,
                                                 const PlacementOptions& mixed,
                                                 std::stop_token stop = {},
                                                 const ProgressCallback& progress = {});

// The first so many of `parts` pieces of a layer; nothing where it does not divide so.
std::optional<model::Layer> first_parts(const model::Layer& layer, Count some, Count parts);

} // namespace eyeroof::analysis
