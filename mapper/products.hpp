// Products over the groups of a space, column by column: what a node of the trees, or a mapping, is
// valued by. Called by every strategy, millions of times a second: nothing here allocates.
// Knows no machine: only columns.
#pragma once

#include "mapper/space.hpp"

namespace eyeroof::mapper {

// What is decided of the factors that a product was made of: nothing; all trips in space; all.
enum class Known { little, space, all };

using Factors6 = std::array<const double*, kGroups>; // a row of columns of each group

// `product`: Space::columns values, written in two parts: those that Fits reads, then the others.
class Products {
  public:
    explicit Products(const Space& space)
        : columns_(space.columns),
          tiles_(space.links.empty() ? space.columns : space.links.front().received) {}

    void multiply_tiles(const Factors6& factors, double* product) const;
    void multiply_rest(const Factors6& factors, double* product) const;
    // All columns of all groups but one …
    void multiply_others(const Factors6& factors, std::size_t apart, double* product) const;
    // … and that one on top.
    void complete_tiles(const double* others, const double* last, double* product) const;
    void complete_rest(const double* others, const double* last, double* product) const;

  private:
    std::size_t columns_;
    std::size_t tiles_; // columns of the first part
};

} // namespace eyeroof::mapper
