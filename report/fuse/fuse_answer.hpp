// A fused network, and its least traffic over buffers, as answers.
#pragma once

#include "analysis/fuse/fuse.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

Answer fuse_answer(const analysis::FuseResult& result);
// The picture marks the machine's own buffer; sizes that some layer does not fit are not in it.
Answer fuse_curve_answer(const std::string& network, const analysis::Chip& chip,
                         const std::vector<analysis::FusePoint>& curve);

} // namespace eyeroof::report
