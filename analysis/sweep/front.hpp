// The Pareto front of a sweep, and its picture.
#pragma once

#include "analysis/sweep/rows.hpp"

#include <string>
#include <vector>

namespace eyeroof::analysis {

struct Aim {
    std::string column;
    bool most = false; // of utilization, more is better

    bool operator==(const Aim&) const = default;
};

// "time,energy": names of columns, without their unit where that is clear; "max:COLUMN" and
// "min:COLUMN" say which way. Errors: "unknown-field" with the nearest; "bad-sweep" for fewer than
// two.
Result<std::vector<Aim>> parse_aims(std::string_view text, const SweptTable& table);

// Rows that no other row beats, in all aims as good and in one better, in the order of the first
// aim; of equal rows the first. Rows without figures are passed over.
std::vector<std::size_t> front_of(const SweptTable& table, const std::vector<Aim>& aims);

} // namespace eyeroof::analysis
