// Asks every command of the table about a scenario, and compares the figures with the exam's.
#pragma once

#include "tests/agreement/rows.hpp"
#include "tests/cli/program.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace eyeroof::tests {

struct Compared {
    std::size_t scenarios = 0, answered = 0; // that an exam answers
    std::size_t answers = 0, figures = 0;    // of commands beside it
    std::size_t refused = 0;                 // by the exam and by the command
    std::size_t again = 0;                   // answers that were asked again
    std::set<std::string> commands;          // that answered
    std::string told() const;
};

// Checks that the commands answer where the exam does and refuse where it does, and that equal
// figures are equal; where `again`, that every answer asked again has the same bytes.
void compare(const analysis::Scenario& scenario, bool again, Compared& compared);

// Whether the environment wants all of it (EYEROOF_AGREEMENT=all).
bool all_of_it();
// Numbers of the random scenarios, without the last: `usual`; all 1,000; or FROM:TO of the
// environment, so that several processes may share them.
std::pair<std::uint64_t, std::uint64_t> random_range(std::uint64_t usual);

} // namespace eyeroof::tests
