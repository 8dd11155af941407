// Claims beside the program's figures, as an answer.
#pragma once

#include "analysis/claims/claims.hpp"
#include "report/answer/answer.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

using ClaimsFound = std::vector<analysis::claims::ClaimFound>;

// eyeroof/claims/1: a row for each claim with its agreement and worst deviation, then a part for
// each with its commands, figures, reasons, and picture. `listed`: none was asked.
Answer claims_answer(const ClaimsFound& claims, bool listed = false);

// The commands of a claim as they are typed, from the folder above examples/.
std::string command_line(const formats::Claim& claim, const std::vector<std::string>& words);

// "3/4, 1 unsourced", and the largest deviation of a figure.
std::string agreement_text(const analysis::claims::ClaimFound& found);
std::string worst_text(const analysis::claims::ClaimFound& found);
// A number with its unit: three or four digits, whole numbers whole.
std::string figure_number(double value, const std::string& unit);
std::string published_text(const formats::ClaimFigure& figure);
std::string ours_text(const analysis::claims::FigureFound& found);
std::string deviation_text(const analysis::claims::FigureFound& found);
// "what it is: 5.28x", and of a counterfactual the deviation that it leaves.
std::string reason_text(const analysis::claims::FigureFound& found,
                        const analysis::claims::ReasonFound& reason);

} // namespace eyeroof::report
