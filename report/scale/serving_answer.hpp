// A decoder that serves requests as an answer.
#pragma once

#include "analysis/scale/serving.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

// The picture: tokens/s per device against tokens/s per user.
Answer serving_answer(const analysis::Serving& serving);

} // namespace eyeroof::report
