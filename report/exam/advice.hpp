// Advice as text, Markdown, and as members of the report's JSON. Only writes; analysis/advice
// computes.
#pragma once

#include "analysis/advice/what_helps.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace eyeroof::report {

std::string advice_text(const analysis::WhatHelps& advice);
std::string advice_markdown(const analysis::WhatHelps& advice);
// Members "changes" and "advice".
nlohmann::ordered_json advice_json(const analysis::WhatHelps& advice);

} // namespace eyeroof::report
