// A collective over message sizes as an answer.
#pragma once

#include "analysis/scale/collective_study.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

Answer collective_answer(const analysis::CollectiveStudy& study);

} // namespace eyeroof::report
