// Products over the groups of a space, factor by factor: what a node of the trees, or a mapping, is
// valued by.
#pragma once

#include "mapper/space.hpp"

namespace eyeroof::mapper {

// What is decided of the factors that a product was made of: nothing; all trips in space; all.
enum class Known { little, space, all };

using Factors6 = std::array<const double*, kGroups>; // a row of cost factors of each group

// `product`: Space::cost_factors values, written in two parts: those that Fits reads, then the
// others.
class Products {
  public:
    explicit Products(const Space& space)
        : cost_factors_(space.cost_factors),
          tiles_(space.links.empty() ? space.cost_factors : space.links.front().received) {}

    void multiply_tiles(const Factors6& factors, double* product) const;
    void multiply_rest(const Factors6& factors, double* product) const;
    // All cost factors of all groups but one …
    void multiply_others(const Factors6& factors, std::size_t apart, double* product) const;
    // … and that one on top.
    void complete_tiles(const double* others, const double* last, double* product) const;
    void complete_rest(const double* others, const double* last, double* product) const;

  private:
    std::size_t cost_factors_;
    std::size_t tiles_; // cost factors of the first part
};

} // namespace eyeroof::mapper
