// Which consecutive members of a chain go together: the cheapest partition, exactly.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace eyeroof::model::fuse {

struct Group { // members first … last, both included
    std::size_t first = 0, last = 0;

    bool operator==(const Group&) const = default;
};

// Cost of a group; nothing where it cannot be.
using CostOfGroup = std::function<std::optional<double>(Group)>;

// f(j) = min over i of f(i) + g(i + 1, j): the least sum over all partitions into groups of
// neighbours; of equal ones that with the fewest groups. Nothing where some member fits nowhere.
std::optional<std::vector<Group>> cheapest_partition(std::size_t members, const CostOfGroup& cost);

} // namespace eyeroof::model::fuse
