// A trace as parts of a page: its timeline with zoom and search, the roofline below, the table of
// operators beside it, each selecting the others. Computes nothing.
#pragma once

#include "analysis/measured/traced.hpp"
#include "report/page/page.hpp"

#include <string>
#include <string_view>

namespace eyeroof::report {

const PageScript& traced_script();
std::string_view traced_style();
std::string traced_html(const analysis::Traced& traced);

} // namespace eyeroof::report
