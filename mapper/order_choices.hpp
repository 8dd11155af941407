// Which orders of the blocks there are, which of them are meant, and which variants of each link's
// cost factors they can have.
#pragma once

#include "mapper/space.hpp"

namespace eyeroof::mapper {

inline constexpr std::size_t kMaxLinks = model::kOperands * kMaxLevels;
inline constexpr std::size_t kMaxVariants = 2 * 5 * kMaxLevels;

// Variants of a link, of which that with the fewest words applies.
struct Variants {
    std::array<std::uint8_t, kMaxVariants> at{};
    std::size_t count = 0;

    bool operator==(const Variants&) const = default;
};

class OrderChoices {
  public:
    explicit OrderChoices(const Space& space); // must outlive it; means all combinations

    // Every combination of orders of the blocks.
    const std::vector<std::vector<BlockOrder>>& combinations() const { return combinations_; }
    // Combinations (indices) in which the same operands rest, block by block: what is left open
    // is which window slides first.
    const std::vector<std::vector<std::size_t>>& families() const { return families_; }

    // From here on only these combinations are meant.
    void restrict_to(const std::vector<std::size_t>& combinations);
    const std::vector<std::size_t>& meant() const { return meant_; }

    // The variants of a link in these orders.
    Variants variants(const Link& link, const std::vector<BlockOrder>& orders) const;
    // Combinations that treat a link alike share a choice, by index.
    const std::vector<Variants>& choices(std::size_t link) const { return choices_[link]; }
    std::uint32_t choice(std::size_t combination, std::size_t link) const {
        return choice_of_[combination * space_->links.size() + link];
    }
    // Variants that some meant combination has.
    const Variants& active(std::size_t link) const { return active_[link]; }

    // Of the links into a level, the variants that meant combinations have.
    std::vector<std::uint8_t> variants_into(std::size_t level) const;
    // The cost factors that a fit of the level and the energy of the links into it read then.
    std::vector<bool> read_into(std::size_t level) const;

  private:
    void list_combinations();
    void list_families();
    void list_choices();
    std::size_t variant_at(const Link& link, std::size_t back,
                           const std::vector<BlockOrder>& orders) const;

    const Space* space_;
    std::size_t levels_;
    std::vector<std::vector<BlockOrder>> combinations_;
    std::vector<std::vector<std::size_t>> families_;
    std::vector<std::size_t> meant_;             // combinations
    std::vector<std::vector<Variants>> choices_; // of each link, one of each kind
    std::vector<std::uint32_t> choice_of_;       // by combination and link
    std::vector<Variants> active_;               // by link
};

} // namespace eyeroof::mapper
