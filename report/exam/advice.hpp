// Advice as text, Markdown, and as a member of the report's JSON.
// Called by cli.
// Advises nothing itself.
#pragma once

#include "analysis/upgrade/advice.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

std::string advice_text(const std::vector<analysis::Advice>& advice);
std::string advice_markdown(const std::vector<analysis::Advice>& advice);
// The report's JSON with a member "advice".
std::string with_advice(const std::string& report_json,
                        const std::vector<analysis::Advice>& advice);

} // namespace eyeroof::report
