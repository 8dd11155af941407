// Cycles that finite bandwidths ask for, from products of cost factors. All instances are taken to
// share the words evenly: exact for perfect factors, never too high otherwise.
#pragma once

#include "mapper/order_choices.hpp"
#include "mapper/products.hpp"
#include "mapper/stalls.hpp"

namespace eyeroof::mapper {

// A store's or a network's finite bandwidth, one direction or both.
struct Bandwidth {
    enum class Direction : std::uint8_t { read, write, down, up };
    struct Part {
        std::size_t level = 0; // as the bandwidth's, but for a store with parts at several levels
        Direction direction = Direction::read;
        std::uint8_t operand = 0;
        double cycles_per_word = 0.0; // of partial results, where the operand is produced …
        double cycles_saved = 0.0;    // … which the complete ones, once each, take less
    };
    std::size_t level = 0;
    std::array<Part, 2 * model::kOperands> parts{};
    std::size_t count = 0;
};

// By level, direction and operand: what moves, all instances together.
struct MovedWords {
    std::array<std::array<std::array<double, model::kOperands>, 4>, kMaxLevels> at;

    double& operator()(std::size_t level, Bandwidth::Direction direction, std::size_t operand) {
        return at[level][static_cast<std::size_t>(direction)][operand];
    }
    // What crosses the networks below level 0 and below `edge`; no rate.
    Crossing crossing(std::size_t edge) const;
};

class BandwidthCycles {
  public:
    explicit BandwidthCycles(const Space& space); // must outlive it

    bool unlimited() const { return bandwidths_.empty(); }
    const std::vector<Bandwidth>& bandwidths() const { return bandwidths_; }

    // The fewest words of each link over the active variants, as if all came together.
    MovedWords least_words(const OrderChoices& orders, const double* product, Known known) const;
    // The words of one variant of each link.
    MovedWords words(const std::array<std::size_t, kMaxLinks>& variants, const double* product,
                     Known known) const;
    double cycles(const MovedWords& words, const double* product, Known known) const;

    // Instances of a level that share its words: all there may be while little is known.
    double fanout(std::size_t level, const double* product, Known known) const {
        return known == Known::little ? fanout_[level] : product[space_->spatial[level]];
    }

  private:
    void list_bandwidths();
    void add_bandwidth(std::size_t level, const Bandwidth& bandwidth);
    template <class Words>
    MovedWords moved(const double* product, Known known, Words words_of) const;
    template <class Count>
    void add_words(const Link& link, std::size_t o, Count count, double& fresh, bool& bounded,
                   Known known, const double* product, MovedWords& words) const;

    const Space* space_;
    const Task* task_;
    std::size_t levels_;
    bool timeloop_;
    double made_words_; // of the produced operand
    std::array<double, kMaxLevels> fanout_{};
    std::vector<Bandwidth> bandwidths_;
};

} // namespace eyeroof::mapper
