// The mappings of a network, their trade-offs, and the bounds that they reach, as answers; how a
// layer's searches went as a picture. Nothing is searched.
#pragma once

#include "analysis/search/achievable_report.hpp"
#include "analysis/search/map_network.hpp"
#include "analysis/search/trade_offs.hpp"
#include "report/answer/answer.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

// `details`: people see loop nests, and what each search took, which depends on the threads and the
// moment: without, it is null for programs.
Answer map_answer(const analysis::MapReport& report, const model::Accelerator& accelerator,
                  bool details);
Answer front_answer(const analysis::FrontReport& report, const model::Accelerator& accelerator,
                    bool details);
Answer capacity_answer(const analysis::CurveReport& report);
Answer reach_answer(const analysis::AchievableReport& report);

// How one layer's value falls with time under each strategy, against the proven bound.
struct Convergence {
    std::string strategy;
    mapper::SearchResult result;
};
std::string convergence_svg(const std::string& layer, const std::vector<Convergence>& runs);

} // namespace eyeroof::report
