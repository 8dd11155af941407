// Figures of the points of a sweep, one after the other, by one thread. On accelerators whose
// mappings follow a dataflow's rules, what does not change between points is not worked out again:
// - a mapping's candidates and their counts depend on everything but bandwidths and the clock, so
//   they are kept, and a point asks only for their times;
// - of the sizes of an array, they depend on the loops in space that the rules choose. K filters on
//   1 to S columns take at most 2 sqrt(K) different numbers of passes, and one spread for each.
// Where mappings are searched, the points of a block are settled together: see searched_nest.hpp.
// Everything else goes through run().
// The figures are those of run(), digit for digit; of mappings that are equally good a search may
// take another one.
#pragma once

#include "analysis/exam/examine.hpp"
#include "analysis/sweep/figures.hpp"
#include "analysis/sweep/searched_nest.hpp"
#include "analysis/sweep/workloads.hpp"
#include "mapper/preset/stationary.hpp"

#include <deque>
#include <map>
#include <stop_token>
#include <unordered_map>

namespace eyeroof::analysis {

class SweepEngine {
  public:
    // Both must outlive it; the workloads are shared by all engines of a sweep.
    SweepEngine(const SweepGrid& grid, SweptWorkloads& workloads, std::stop_token stop);

    PointFigures at(std::uint64_t point);
    // Does at() look for the mappings of this point by searches that prepare() shares?
    bool searches(std::uint64_t point);
    // Searches the mappings of the points from `first` to before `last` together, nests in
    // parallel; at() then has them, until it is called again.
    void prepare(std::uint64_t first, std::uint64_t last, int threads);
    // How often the candidates of a nest were made so far.
    std::uint64_t mapped() const { return mapped_; }
    // How many searches prepare() took so far.
    std::uint64_t searches_made() const;

  private:
    struct Candidate : NestCandidate {
        bool allowed = true; // to a search, by the rules that it has
    };
    // Mappings of a nest that were counted, whatever the sizes of the stores.
    using Counted = std::vector<std::pair<model::Mapping, model::CountedMapping>>;
    // What a nest is asked for at a point.
    struct Asked {
        const model::Problem& problem;
        std::size_t number = 0;
        std::uint64_t structure = 0, spread = 0, counts = 0; // of the machine
    };
    // A nest as it lies on an array: its number, the array's edge, and the loops in space, or the
    // sizes of all axes where the rules use those.
    using Shape = std::vector<Count>;
    struct ShapeHash {
        std::size_t operator()(const Shape& shape) const;
    };
    // All that the dataflow's rules choose from.
    struct Choices {
        std::vector<Candidate> all;
        bool by_processing = false; // chosen by the time without the outermost memory
        std::string error;          // why there are none
    };
    struct Picked { // by the dataflow's rules
        NestFigures figures;
        bool allowed = true;
    };
    // A point of the block that is searched together.
    struct Prepared {
        model::Accelerator machine;
        std::map<std::size_t, SearchedPoint> nests; // by number
    };
    struct Machines { // of the last point
        std::uint64_t number = ~0ULL;
        std::optional<model::Machine> machine;
        std::string error;
    };

    void turn(const std::vector<std::size_t>& at);
    Result<AcceleratorContext> context_at(const std::vector<std::size_t>& at);
    Asked asked_at(const std::vector<std::size_t>& at, const SweptLayer& layer, std::size_t nest);
    SearchedNest& searched(const model::Problem& problem, std::size_t number, std::uint64_t options,
                           const AcceleratorContext& context);
    void prepare_point(std::uint64_t point,
                       std::map<SearchedNest*, std::vector<SearchedPoint*>>& work);
    // `prepared`: the searched mappings; nullptr: those of the dataflow's rules.
    PointFigures fast(const std::vector<std::size_t>& at, const AcceleratorContext& context,
                      const Prepared* prepared);
    PointFigures slow(const std::vector<std::size_t>& at) const;
    const Choices& choices(const Asked& asked, const AcceleratorContext& context);
    Choices made(const Asked& asked, const AcceleratorContext& context,
                 const mapper::Spread& spread, std::uint64_t shape);
    std::uint64_t shape_number(Shape shape);
    void forget();
    // nullptr, and why, for a mapping that is not legal here.
    static const model::CountedMapping* counted(const model::Problem& problem,
                                                const model::Accelerator& accelerator,
                                                const model::Mapping& mapping, Counted& known,
                                                std::string& why);
    static void add_candidate(const model::Problem& problem, const AcceleratorContext& context,
                              const mapper::Task* task, const model::Mapping& mapping,
                              Counted& known, Choices& choices);
    static Picked best_of(const Choices& choices, const model::Accelerator& accelerator,
                          double leaking);

    const SweepGrid& grid_;
    SweptWorkloads& workloads_;
    std::stop_token stop_;
    Machines last_;
    std::uint64_t last_options_ = ~0ULL;
    Question options_; // of the last point, without its network and machine
    model::SpatialFits fits_;
    std::size_t candidates_ = 0; // of all in known_
    std::uint64_t mapped_ = 0;
    std::unordered_map<Shape, std::uint64_t, ShapeHash> shapes_;     // numbered
    std::unordered_map<std::uint64_t, Choices> known_;               // by spread and shape
    std::unordered_map<std::uint64_t, const Choices*> of_structure_; // by structure and nest
    std::unordered_map<std::uint64_t, Counted> counted_;             // by counts and shape
    // Searched nests, by number, and by options and what sizes and rates leave of the machine.
    std::vector<std::pair<std::uint64_t, model::Accelerator>> kinds_;
    std::map<std::pair<std::size_t, std::size_t>, SearchedNest> searched_;
    std::map<std::uint64_t, Prepared> prepared_; // by point
};

} // namespace eyeroof::analysis
