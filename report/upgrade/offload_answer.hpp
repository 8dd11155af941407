// Whether a layer is worth sending from a host processor to a GPU, as an answer.
#pragma once

#include "analysis/upgrade/offload.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

Answer offload_answer(const analysis::Offload& result); // eyeroof/offload/1

} // namespace eyeroof::report
