// Advice as text, Markdown, and as a member of the report's JSON.
// Called by cli.
// Advises nothing itself.
#pragma once

#include "study/upgrade/advice.hpp"

#include <string>
#include <vector>

namespace eyeroof::study {

std::string advice_text(const std::vector<Advice>& advice);
std::string advice_markdown(const std::vector<Advice>& advice);
// The report's JSON with a member "advice".
std::string with_advice(const std::string& report_json, const std::vector<Advice>& advice);

} // namespace eyeroof::study
