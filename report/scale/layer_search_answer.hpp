// A way of dividing each layer over devices, as an answer, eyeroof/layer-search/1.
#pragma once

#include "analysis/scale/search.hpp"
#include "report/answer/answer.hpp"

#include <string>

namespace eyeroof::report {

Answer layer_search_answer(const analysis::LayerSearch& search, const std::string& network);

} // namespace eyeroof::report
