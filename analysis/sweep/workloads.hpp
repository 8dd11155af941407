// The networks of a sweep for its engine: every distinct layer and loop nest once, with numbers
// that are the same for equal nests of all networks.
// Shared by all threads of a sweep.
#pragma once

#include "analysis/sweep/grid.hpp"
#include "model/workload/layer_work.hpp"
#include "model/workload/problem.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace eyeroof::analysis {

struct SweptLayer {
    model::Layer layer;
    model::Work work;
    std::vector<model::Problem> nests; // empty where the array does not run it
    std::vector<std::size_t> numbers;  // of the nests
};

struct SweptNetwork {
    std::vector<SweptLayer> layers;                    // different ones
    std::vector<std::pair<std::size_t, double>> order; // as they run: which one, and how often
    std::string error;                                 // why it cannot be examined
};

class SweptWorkloads {
  public:
    // Of a point on an accelerator, whose options leave no mapping to a search.
    std::shared_ptr<const SweptNetwork> at(const SweepGrid& grid, const model::Machine& machine,
                                           const std::vector<std::size_t>& position);

  private:
    std::size_t number_of(const model::Problem& problem);
    SweptNetwork made(const Question& question);

    std::mutex mutex_;
    std::map<std::uint64_t, std::shared_ptr<const SweptNetwork>> known_;
    std::vector<model::Problem> problems_;
};

// "code: message" of the first error, empty without one.
std::string first_error(const Diagnostics& diagnostics);

} // namespace eyeroof::analysis
