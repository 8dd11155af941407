// Whether what a product of cost factors stands for is allowed: fan-outs, capacities, and the least
// utilization that is asked for.
#pragma once

#include "mapper/space.hpp"

#include <cmath>

namespace eyeroof::mapper {

// A store of finite capacity and the tiles in it.
struct StoreFit {
    struct Tile {
        std::size_t cost_factor = 0;
        double bytes = 0.0; // of a word
    };
    std::array<Tile, model::kOperands> tiles{};
    std::size_t count = 0;
    bool whole = true; // no tile takes a part of a byte or of a bank
    double bank = 1.0; // bytes
    double buffers = 1.0;
    double capacity = 0.0; // bytes

    // Whole banks, once per buffer, as in the validation of mappings. words(cost factor)
    template <class Words> bool holds(Words words) const {
        double need = 0.0;
        for (std::size_t n = 0; n < count; ++n) {
            const double bytes = words(tiles[n].cost_factor) * tiles[n].bytes;
            if (bytes > capacity) {
                return false;
            }
            need += whole ? bytes : std::ceil(std::ceil(bytes) / bank) * bank;
        }
        return need * buffers <= capacity;
    }
};

class Fits {
  public:
    explicit Fits(const Space& space); // must outlive it

    // Why nothing below a node can be a mapping.
    enum class Misfit { none, fanout, capacity, utilization };
    Misfit misfit(const double* product) const;
    bool operator()(const double* product) const { return misfit(product) == Misfit::none; }
    bool at_level(const double* product, std::size_t level) const;

    double fanout(std::size_t level) const { return fanout_[level]; } // instances below one
    const std::vector<StoreFit>& stores(std::size_t level) const { return stores_[level]; }
    // Stores with parts at several levels, all parts together.
    const std::vector<StoreFit>& in_parts() const { return in_parts_; }
    // Do so many trips in time reach the least utilization?
    bool used_enough(double steps) const { return steps <= most_steps_; }

  private:
    const Space* space_;
    std::size_t levels_;
    double most_steps_ = kNone; // trips in time
    std::array<double, kMaxLevels> fanout_{};
    std::array<std::vector<StoreFit>, kMaxLevels> stores_; // of parts, each alone
    std::vector<StoreFit> in_parts_;
};

} // namespace eyeroof::mapper
