// Claims beside the program's figures, as text, Markdown, one HTML page, and JSON.
#pragma once

#include "analysis/claims/claims.hpp"
#include "report/answer/answer.hpp"
#include "report/draw/drawing.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

using ClaimsFound = std::vector<analysis::claims::ClaimFound>;

// A line for each claim, cut to so many columns: agreement, worst deviation, what it says.
std::string claims_table(const ClaimsFound& claims, std::size_t columns);
// Every claim with its commands, figures, reasons.
std::string claims_text(const ClaimsFound& claims);
std::string claims_markdown(const ClaimsFound& claims);
std::string claims_html(const ClaimsFound& claims);
Answer claims_answer(const ClaimsFound& claims); // for JSON: eyeroof/claims/1

// The commands of a claim as they are typed, from the folder above examples/.
std::string command_line(const formats::Claim& claim, const std::vector<std::string>& words);

// Published figures and ours as bars, each pair as long as its larger one asks.
Drawing claim_bars(const analysis::claims::ClaimFound& claim);

// "31 claims: 161 figures agree within 10 %, …".
std::string claims_summary(const ClaimsFound& claims);
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
