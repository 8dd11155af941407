// The difference of two exams, and of two measured runs, as answers.
#pragma once

#include "analysis/diff/diff.hpp"
#include "analysis/diff/run_diff.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

Answer diff_answer(const analysis::ExamDiff& diff);
Answer run_diff_answer(const analysis::RunDiff& diff);

} // namespace eyeroof::report
