// The cost of one mapping in closed form: which combination of orders, and of each group the leaf.
#pragma once

#include "mapper/estimate.hpp"

namespace eyeroof::mapper {

class Evaluator {
  public:
    // The estimator must outlive it.
    explicit Evaluator(const Estimator& estimator);

    // Energy and cycles as Estimator's: exact for perfect factors under eyeroof's own counting.
    // {inf, inf} when the mapping does not fit. `factors`: leaves.
    Estimate evaluate(const Factors6& factors, std::size_t combination) const;
    // The same for neighbours that differ in one group: the product of the others, from
    // Products::multiply_others(), and that group's leaf.
    Estimate evaluate_beside(const double* others, const double* last,
                             std::size_t combination) const;

  private:
    static constexpr std::size_t kMaxBandwidths = 12 * kMaxLevels;
    enum class Words : std::uint8_t { sent, filled, read, back, edge };
    struct LinkCycles { // cycles that a link's words add to a bandwidth's
        Words words = Words::sent;
        std::uint32_t bandwidth = 0;
        std::uint32_t cost_factor = 0; // of Words::edge
        double cycles_per_word = 0.0;
    };
    struct Term { // energy of what crosses a network
        std::uint32_t cost_factor = 0;
        double pj = 0.0;
    };
    struct Flow { // a link: cost factors of its first variant, energies a word
        std::uint32_t received = 0;
        std::uint32_t sent = 0;
        std::uint32_t reduced = 0;
        std::uint32_t lanes = 0;
        bool produced = false;
        bool inner = false; // into a store, not to the MACs
        double volume = 1.0;
        std::optional<double> fixed_received; // cost factors that are the same for every mapping
        std::optional<double> fixed_sent;
        double sent_pj = 0.0;
        double received_pj = 0.0; // of sums: what returns
        double lane_pj = 0.0;     // of sums: a returned word in each further lane
        double started_pj = 0.0;  // of sums: a word that starts from zero above needs no read
        std::vector<Term> terms;
        std::vector<LinkCycles> link_cycles;
    };

    void add_flow(std::size_t link);
    void add_sums_energy();
    void add_link_cycles(Flow& flow, const Link& link);
    template <class Rows> Estimate cost(const Rows& rows, std::size_t combination) const;
    template <class Rows> bool fits(const Rows& rows) const;
    template <class Rows>
    std::size_t variant(const Rows& rows, const Flow& flow, std::size_t link,
                        std::size_t combination, double& sent, double& received) const;
    template <class Rows>
    double cycles(const Rows& rows, const std::array<double, kMaxBandwidths>& bandwidth_cycles,
                  double steps) const;

    const Estimator& e_;
    std::vector<Flow> flows_;         // as Space::links
    std::vector<std::size_t> groups_; // those that contribute anything
    std::vector<std::size_t> fanned_; // levels with a fan-out
    double base_pj_ = 0.0;
};

} // namespace eyeroof::mapper
