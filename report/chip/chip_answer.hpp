// Area and power of a chip as an answer.
#pragma once

#include "analysis/chip/chip.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

Answer chip_answer(const analysis::ChipReport& report);

} // namespace eyeroof::report
