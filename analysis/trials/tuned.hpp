// Results of a search for kernels: of each layer, and of a whole network beside a library.
#pragma once

#include "analysis/trials/search_task.hpp"
#include "analysis/trials/workload.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace eyeroof::analysis::tune {

// The compiler of candidates and its flags, as logs name them.
struct Toolchain {
    std::string compiler; // the first line of --version
    std::string flags;

    bool operator==(const Toolchain&) const = default;
};

enum class NetKind { product, maximum, mean, point, softmax };

// A whole network with tuned kernels beside a library.
struct EndToEnd {
    struct Step {
        std::string name;
        NetKind kind = NetKind::point;
        double tuned_s = 0.0, library_s = 0.0; // medians, or the least
        double flops = 0.0;                    // of a product

        bool operator==(const Step&) const = default;
    };
    std::string library; // with its version
    std::vector<Step> steps;
    double tuned_s = 0.0, library_s = 0.0; // of the whole network
    double difference = 0.0;               // of the results, over the largest value
    int threads = 1;
    std::size_t runs = 0;
    bool least = false; // the least of all runs, in place of the median

    // The sum over the steps of &Step::tuned_s or &Step::library_s.
    double steps_s(double Step::*way) const;
    // Share of the tuned steps' time that products have, 0 to 1.
    double kernel_share() const;
};

// The best of one layer's search.
struct Tuned {
    Workload work;
    std::string template_name;
    Count space = 0;            // points
    std::optional<Count> valid; // that keep the rules
    std::vector<Trial> trials;
    std::size_t recalled = 0; // from the log
    std::optional<Trial> best;
    double again_s = 0.0; // least cost of the best when measured again beside the others
    Described what;       // the best is
    std::vector<std::pair<std::string, Count>> knobs; // of the best
    Described preferred;                              // the closed form's own first choice
    std::vector<std::pair<std::string, Count>> preferred_knobs;
    double seconds = 0.0; // the search took
    bool stopped = false, exhausted = false;
};

struct TuneResult {
    std::string machine;
    double clock_hz = 0.0; // of the bounds
    Toolchain toolchain;   // of what is compiled
    std::string target;
    std::string search; // strategy and its options, as in the log
    std::vector<Tuned> layers;
    std::optional<EndToEnd> network; // nothing where the search was stopped before
    bool stopped = false;
};

// Trials until a cost of at most best / share was seen; nothing: it was not.
std::optional<std::size_t> trials_to(const std::vector<Trial>& trials, double best, double share);

} // namespace eyeroof::analysis::tune
