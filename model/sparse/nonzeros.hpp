// How many words of a tile are not zero: a distribution, because a machine waits for its fullest
// tile and not for the mean one.
//
// Source of the hypergeometric and structured models: Wu et al., "Sparseloop", MICRO 2022.
#pragma once

#include "base/checked.hpp"

#include <vector>

namespace eyeroof::model::sparse {

// P(k non-zeros) over whole numbers k. Values, never empty; the probabilities add up to 1. Of tiles
// so large that 24 deviations are more than 65,536 numbers only the mean is kept: their deviation
// is below 0.04 % of it.
class NonZeros {
  public:
    // Always k.
    static NonZeros exactly(Count k);
    // `tile` words, each non-zero with this probability, of its own. 0 <= density <= 1, tile >= 0.
    static NonZeros independent(Count tile, double density);
    // `tile` words drawn from a tensor of `tensor` words of which `nonzeros` are not zero:
    //   P(k) = C(Z, k) C(N - Z, t - k) / C(N, t)
    // 0 <= nonzeros, tile <= tensor.
    static NonZeros uniform(Count tensor, Count nonzeros, Count tile);
    // Exactly `kept` of every aligned group of `group` words (2:4 …). A tile of whole groups has no
    // spread; of what is left over any `rest` of the group's words may be seen.
    static NonZeros structured(Count group, Count kept, Count tile);
    // As counted: tiles_with[k] tiles have k non-zeros. At least one tile.
    static NonZeros counted(const std::vector<double>& tiles_with);

    double mean() const;
    double variance() const;
    double empty() const { return at(0); } // P(0)
    double at(Count k) const;
    Count least() const { return first_; }
    Count most() const { return first_ + static_cast<Count>(p_.size()) - 1; }
    // The least k that at least this share of tiles does not exceed; 0 < share <= 1.
    Count quantile(double share) const;

    // Of ceil(X / lanes): steps that `lanes` lanes take for a tile. lanes >= 1.
    NonZeros steps(Count lanes) const;
    // E[max] of so many tiles that are independent of each other; count >= 1.
    double slowest(Count count) const;
    // Of the sum of so many independent tiles: exact while that is cheap, else a normal
    // distribution of the same mean and variance over the whole numbers.
    NonZeros sum_of(Count count) const;

  private:
    NonZeros(Count first, std::vector<double> p);

    Count first_ = 0;
    std::vector<double> p_;
};

// E[max of `count` standard normal variables], by integration; 0 for one.
double slowest_of_normals(Count count);

} // namespace eyeroof::model::sparse
