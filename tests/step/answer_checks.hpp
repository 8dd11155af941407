// What holds of every answer, whatever runs on whatever machine: no prediction below its bound, no
// step below the one after it, no share above the whole, no part of a gap negative.
#pragma once

#include "analysis/bound/bound.hpp"
#include "analysis/exam/report.hpp"

namespace eyeroof::tests {

void check_layers(const analysis::Report& report);
void check_total(const analysis::Report& report);
void check_bound(const analysis::bound::BoundReport& bound);
// The named saving is what examining that change again gives, and no other change gains more.
void check_headline(const analysis::Question& question, const analysis::Report& report);

} // namespace eyeroof::tests
