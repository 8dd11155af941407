// Advice as text, Markdown, and as a member of the report's JSON. Only writes; analysis/advice
// computes.
#pragma once

#include "analysis/advice/what_helps.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

std::string advice_text(const analysis::WhatHelps& advice);
std::string advice_markdown(const analysis::WhatHelps& advice);
// The report's JSON with members "changes" and "advice".
std::string with_advice(const std::string& report_json, const analysis::WhatHelps& advice);

} // namespace eyeroof::report
